//! Messages that belong together become one input: albums, pastes that the client split, forward bursts.
//!
//! A pure machine over (event, now). A message that starts nothing passes at once.

use std::collections::BTreeMap;

use crate::domain::{ChatKey, Origin, Quote, UserId, UserMessage};

/// An album is complete when nothing more of it came for this long, in milliseconds.
const ALBUM_QUIET: i64 = 700;
/// A long piece waits this long for the next one, in milliseconds.
const PASTE_QUIET: i64 = 1500;
/// A burst of forwards is over when nothing more came for this long, in milliseconds.
const FORWARD_QUIET: i64 = 1000;
/// Nothing is held longer than this, in milliseconds.
const HOLD_LIMIT: i64 = 6000;
/// Pieces from this many characters on may have been split by the client.
const PASTE_CHARS: usize = 3500;
/// Where clients cut hard, in the middle of a word if need be.
const HARD_CUT: usize = 4096;
/// Most messages that become one input.
const PARTS_LIMIT: usize = 30;
/// Most bytes of text in one input.
const TEXT_LIMIT: usize = 128 * 1024;
/// Pieces were sent at most this many seconds apart by the server's clock.
const SENT_APART: i64 = 3;

/// Identity of what is held: one run for each person in each conversation.
type Who = (ChatKey, UserId);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Run {
    Album(String),
    Paste,
    Forwards,
}

#[derive(Debug)]
struct Held {
    run: Run,
    parts: Vec<UserMessage>,
    since: i64,
    due: i64,
}

/// The machine.
#[derive(Debug, Default)]
pub struct Merge {
    held: BTreeMap<Who, Held>,
}

impl Merge {
    /// A machine that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a message and gives the inputs that are complete, in order. `album` is its
    /// `media_group_id`; `now` is in milliseconds of any steady clock.
    pub fn message(
        &mut self,
        message: UserMessage,
        album: Option<String>,
        now: i64,
    ) -> Vec<UserMessage> {
        let who = (message.key, message.sender.id);
        if let Some(held) = self.held.get_mut(&who)
            && held.accepts(&message, album.as_deref())
        {
            let over = held.push(message, now);
            return if over {
                self.flush(who.0, Some(who.1))
            } else {
                Vec::new()
            };
        }
        let mut ready = self.flush(who.0, Some(who.1));
        let run = match album {
            Some(album) => Run::Album(album),
            None if message.observed => {
                ready.push(message);
                return ready;
            }
            None if message.origin.is_some() => Run::Forwards,
            None if is_long(&message) && message.attachments.is_empty() => Run::Paste,
            None => {
                ready.push(message);
                return ready;
            }
        };
        let due = now + run.quiet();
        self.held.insert(
            who,
            Held {
                run,
                parts: vec![message],
                since: now,
                due,
            },
        );
        ready
    }

    /// Gives what is held in a conversation, of one person or of everybody, because a command or a tap
    /// must not overtake it.
    pub fn flush(&mut self, key: ChatKey, who: Option<UserId>) -> Vec<UserMessage> {
        let keys: Vec<Who> = self
            .held
            .keys()
            .filter(|(held, person)| *held == key && who.is_none_or(|who| who == *person))
            .copied()
            .collect();
        keys.iter()
            .filter_map(|who| self.held.remove(who))
            .filter_map(Held::join)
            .collect()
    }

    /// Gives what waited long enough at `now`, oldest first.
    pub fn due(&mut self, now: i64) -> Vec<UserMessage> {
        let mut keys: Vec<(i64, Who)> = self
            .held
            .iter()
            .filter(|(_, held)| held.due <= now)
            .map(|(who, held)| (held.since, *who))
            .collect();
        keys.sort_unstable();
        keys.iter()
            .filter_map(|(_, who)| self.held.remove(who))
            .filter_map(Held::join)
            .collect()
    }

    /// When [`Self::due`] has something to give, if anything is held.
    #[must_use]
    pub fn deadline(&self) -> Option<i64> {
        self.held.values().map(|held| held.due).min()
    }
}

impl Run {
    const fn quiet(&self) -> i64 {
        match self {
            Self::Album(_) => ALBUM_QUIET,
            Self::Paste => PASTE_QUIET,
            Self::Forwards => FORWARD_QUIET,
        }
    }
}

impl Held {
    /// Whether `message` continues the run.
    fn accepts(&self, message: &UserMessage, album: Option<&str>) -> bool {
        let Some(last) = self.parts.last() else {
            return false;
        };
        let together = (message.sent_at - last.sent_at).abs() <= SENT_APART
            && message.observed == last.observed;
        together
            && match &self.run {
                Run::Album(id) => album == Some(id.as_str()),
                // The quote belongs to the first piece; a piece with one of its own starts anew.
                Run::Paste => {
                    album.is_none()
                        && message.origin.is_none()
                        && message.quote.is_none()
                        && message.attachments.is_empty()
                        && is_long(last)
                }
                Run::Forwards => album.is_none() || message.origin.is_some(),
            }
    }

    /// Adds a part; true when the run is over with it.
    fn push(&mut self, message: UserMessage, now: i64) -> bool {
        let own = message.origin.is_none();
        let short = !is_long(&message);
        self.parts.push(message);
        self.due = (now + self.run.quiet()).min(self.since + HOLD_LIMIT);
        let bytes: usize = self.parts.iter().map(|part| part.text.len()).sum();
        let complete = match self.run {
            Run::Album(_) => false,
            Run::Paste => short,
            // A comment closes a burst: clients send it before or after, not between.
            Run::Forwards => own,
        };
        complete || self.parts.len() >= PARTS_LIMIT || bytes >= TEXT_LIMIT
    }

    fn join(self) -> Option<UserMessage> {
        let mixed = matches!(self.run, Run::Forwards) && self.parts.len() > 1;
        let hard = matches!(self.run, Run::Paste);
        if mixed {
            return join_forwards(self.parts);
        }
        let mut parts = self.parts.into_iter();
        let mut whole = parts.next()?;
        let mut last = whole.text.chars().count();
        for part in parts {
            let chars = part.text.chars().count();
            if !part.text.is_empty() {
                let separator = match (whole.text.is_empty(), hard && last >= HARD_CUT) {
                    (true, _) | (false, true) => "",
                    (false, false) => "\n",
                };
                whole.text.push_str(separator);
                whole.text.push_str(&part.text);
            }
            last = chars;
            absorb(&mut whole, part.updates, part.attachments);
            whole.quote = whole.quote.or(part.quote);
        }
        Some(whole)
    }
}

/// Forwarded parts keep their origins. With a comment of the sender the comment is the text and the
/// forwards stand beside it as a quote, so that foreign words never pass for the sender's.
fn join_forwards(parts: Vec<UserMessage>) -> Option<UserMessage> {
    let mut names: Vec<String> = Vec::new();
    let mut foreign: Vec<String> = Vec::new();
    let mut own: Vec<String> = Vec::new();
    for part in &parts {
        match &part.origin {
            Some(origin) => {
                if !names.contains(&origin.name) {
                    names.push(origin.name.clone());
                }
                foreign.push(format!("Forwarded from {}:\n{}", origin.name, part.text));
            }
            None => own.push(part.text.clone()),
        }
    }
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    let first = whole.message;
    for part in parts {
        absorb(&mut whole, part.updates, part.attachments);
        whole.quote = whole.quote.or(part.quote);
    }
    let foreign = foreign.join("\n\n");
    let author = names.join(", ");
    if own.is_empty() {
        whole.text = foreign;
        whole.origin = Some(Origin { name: author });
    } else {
        whole.text = own.join("\n");
        whole.origin = None;
        whole.quote = Some(match whole.quote.take() {
            Some(quote) => Quote {
                text: format!("{}\n\n{foreign}", quote.text),
                ..quote
            },
            None => Quote {
                message: first,
                from_bot: false,
                author,
                text: foreign,
            },
        });
    }
    Some(whole)
}

fn absorb(
    whole: &mut UserMessage,
    updates: Vec<crate::domain::UpdateId>,
    attachments: Vec<crate::domain::Attachment>,
) {
    whole.updates.extend(updates);
    whole.updates.sort_unstable();
    whole.attachments.extend(attachments);
}

fn is_long(message: &UserMessage) -> bool {
    message.text.chars().count() >= PASTE_CHARS
}

#[cfg(test)]
mod tests;
