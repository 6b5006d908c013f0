use super::{Job, JobId, Kind, Lane, Millis, Next, Scheduler};
use crate::config::TelegramLimits;
use crate::domain::{ChatId, MessageId};

const DM: ChatId = ChatId(7);
const GROUP: ChatId = ChatId(-7);

struct Bench {
    scheduler: Scheduler,
    next: JobId,
}

impl Bench {
    fn new() -> Self {
        Self {
            scheduler: Scheduler::new(TelegramLimits::default(), false),
            next: 1,
        }
    }

    fn push(&mut self, chat: ChatId, lane: Lane, kind: Kind, now: Millis) -> (JobId, Vec<JobId>) {
        let id = self.next;
        self.next += 1;
        (
            id,
            self.scheduler.push(
                Job {
                    id,
                    chat,
                    lane,
                    kind,
                },
                now,
            ),
        )
    }

    /// Runs everything until idle; each call takes no time.
    fn drain(&mut self, mut now: Millis) -> Vec<(JobId, Millis)> {
        let mut done = Vec::new();
        loop {
            match self.scheduler.next(now) {
                Next::Run(job) => {
                    done.push((job.id, now));
                    self.scheduler.done(job.chat);
                }
                Next::Wait(at) => now = at,
                Next::Idle => return done,
            }
        }
    }
}

#[test]
fn a_final_goes_before_edits_and_takes_the_sends_before_it_along() {
    let mut bench = Bench::new();
    let (edit, _) = bench.push(DM, Lane::Content, Kind::EditText(MessageId(1)), 0);
    let (opening, _) = bench.push(DM, Lane::Content, Kind::Send, 0);
    let (answer, _) = bench.push(DM, Lane::Final, Kind::Send, 0);
    let order: Vec<_> = bench.drain(0).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, [opening, answer, edit]);
}

#[test]
fn only_the_newest_edit_of_a_message_waits_and_it_inherits_the_better_lane() {
    let mut bench = Bench::new();
    let (first, _) = bench.push(DM, Lane::Keyboard, Kind::EditText(MessageId(1)), 0);
    let (other, _) = bench.push(DM, Lane::Content, Kind::EditText(MessageId(2)), 0);
    let (newest, superseded) = bench.push(DM, Lane::Clock, Kind::EditText(MessageId(1)), 0);
    assert_eq!(superseded, [first]);
    let order: Vec<_> = bench.drain(0).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, [newest, other]);
}

#[test]
fn buttons_alone_never_go_before_a_waiting_text_of_the_message() {
    let mut bench = Bench::new();
    let (text, _) = bench.push(DM, Lane::Content, Kind::EditText(MessageId(1)), 0);
    let (markup, _) = bench.push(DM, Lane::Keyboard, Kind::EditMarkup(MessageId(1)), 0);
    let order: Vec<_> = bench.drain(0).into_iter().map(|(id, _)| id).collect();
    assert_eq!(order, [text, markup]);
}

#[test]
fn a_private_chat_bursts_by_three_and_then_takes_one_a_second() {
    let mut bench = Bench::new();
    for _ in 0..5 {
        bench.push(DM, Lane::Final, Kind::Send, 9_000);
    }
    let times: Vec<_> = bench.drain(9_000).into_iter().map(|(_, at)| at).collect();
    assert_eq!(times, [9_000, 9_000, 9_000, 10_000, 11_000]);
}

#[test]
fn a_group_never_sees_more_than_eighteen_calls_in_any_minute() {
    let mut bench = Bench::new();
    for _ in 0..40 {
        bench.push(GROUP, Lane::Final, Kind::Send, 0);
    }
    let times: Vec<_> = bench.drain(0).into_iter().map(|(_, at)| at).collect();
    for window in times.windows(19) {
        assert!(window[18] - window[0] >= 60_000, "{window:?}");
    }
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= 1_000, "{pair:?}");
    }
}

#[test]
fn edits_leave_a_part_of_a_groups_budget_to_finals() {
    let mut bench = Bench::new();
    let mut now = 0;
    let mut edits = 0;
    for n in 0..40 {
        bench.push(GROUP, Lane::Clock, Kind::EditText(MessageId(n)), now);
        if let Next::Run(job) = bench.scheduler.next(now) {
            edits += 1;
            bench.scheduler.done(job.chat);
        }
        now += 1_100;
    }
    assert_eq!(edits, 9);
    let (answer, _) = bench.push(GROUP, Lane::Final, Kind::Send, now);
    assert!(matches!(bench.scheduler.next(now), Next::Run(job) if job.id == answer));
}

#[test]
fn nothing_of_a_chat_goes_out_inside_its_gate() {
    let mut bench = Bench::new();
    let (first, _) = bench.push(DM, Lane::Final, Kind::Send, 0);
    let Next::Run(job) = bench.scheduler.next(0) else {
        panic!("a job")
    };
    assert_eq!(job.id, first);
    let until = bench.scheduler.refused(DM, 3, false, 100);
    assert!(bench.scheduler.again(job, until, 100));
    bench.push(DM, Lane::Keyboard, Kind::EditText(MessageId(4)), 200);
    let (_, dropped) = bench.push(DM, Lane::Typing, Kind::Typing, 300);
    assert_eq!(dropped.len(), 1);
    assert_eq!(bench.scheduler.next(300), Next::Wait(4_100));
    bench.push(ChatId(8), Lane::Content, Kind::Send, 300);
    assert!(matches!(bench.scheduler.next(300), Next::Run(job) if job.chat == ChatId(8)));
    assert!(matches!(bench.scheduler.next(4_100), Next::Run(job) if job.id == first));
}

#[test]
fn two_chats_refused_together_close_the_bot() {
    let mut bench = Bench::new();
    bench.scheduler.refused(DM, 5, false, 0);
    bench.scheduler.refused(GROUP, 9, false, 800);
    bench.push(ChatId(9), Lane::Final, Kind::Send, 900);
    assert_eq!(bench.scheduler.next(900), Next::Wait(10_800));
}

#[test]
fn an_edit_that_comes_back_yields_to_a_newer_one() {
    let mut bench = Bench::new();
    bench.push(DM, Lane::Content, Kind::EditText(MessageId(1)), 0);
    let Next::Run(job) = bench.scheduler.next(0) else {
        panic!("a job")
    };
    bench.push(DM, Lane::Content, Kind::EditText(MessageId(1)), 10);
    assert!(!bench.scheduler.again(job, 500, 20));
}

#[test]
fn typing_goes_at_most_once_in_four_seconds() {
    let mut bench = Bench::new();
    assert!(
        bench
            .push(DM, Lane::Typing, Kind::Typing, 9_000)
            .1
            .is_empty()
    );
    bench.drain(9_000);
    assert_eq!(
        bench.push(DM, Lane::Typing, Kind::Typing, 12_900).1.len(),
        1
    );
    assert!(
        bench
            .push(DM, Lane::Typing, Kind::Typing, 13_000)
            .1
            .is_empty()
    );
}

#[test]
fn a_thousand_busy_chats_do_not_hold_finals_back() {
    let mut bench = Bench::new();
    for chat in 1..=1_000 {
        bench.push(ChatId(chat), Lane::Content, Kind::EditText(MessageId(1)), 0);
    }
    let finals: Vec<JobId> = (1..=100)
        .map(|chat| bench.push(ChatId(chat), Lane::Final, Kind::Send, 0).0)
        .collect();
    let done = bench.drain(0);
    let last = done
        .iter()
        .filter(|(id, _)| finals.contains(id))
        .map(|(_, at)| *at)
        .max();
    assert!(last <= Some(4_000), "{last:?}");
    let mut second: Vec<Millis> = done.iter().map(|(_, at)| *at).collect();
    second.sort_unstable();
    for window in second.windows(26) {
        assert!(window[25] - window[0] >= 1_000);
    }
}

#[test]
fn a_migrated_group_keeps_its_queue() {
    let mut bench = Bench::new();
    let (waiting, _) = bench.push(GROUP, Lane::Final, Kind::Send, 0);
    bench.scheduler.migrate(GROUP, ChatId(-100), 0);
    assert!(
        matches!(bench.scheduler.next(0), Next::Run(job) if job.id == waiting && job.chat == ChatId(-100))
    );
}
