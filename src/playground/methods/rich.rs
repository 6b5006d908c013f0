//! Rich messages (Bot API 10.1): the limits, and a plain view of them for the page.

use serde_json::Value;

use super::send;
use super::target::Body;
use crate::playground::markup::{Span, units};
use crate::playground::params::Params;
use crate::playground::refusal::Refusal;
use crate::playground::state::State;

const TEXT_LIMIT: usize = 32768;
const BLOCK_LIMIT: usize = 500;
const DEPTH_LIMIT: usize = 16;
const TAGS: &str = " b strong i em u ins s strike del code mark sub sup tg-spoiler a h1 h2 h3 h4 h5 h6 p pre footer hr ul ol li blockquote cite aside table caption tr th td details summary br input ";
const BLOCKS: &str =
    " p h1 h2 h3 h4 h5 h6 pre footer hr ul ol li blockquote aside table tr details summary br ";
const EMPTY: &str = " br hr input ";

pub(super) fn send(state: &mut State, params: &Params) -> Result<Value, Refusal> {
    let rich = params
        .json("rich_message", "rich message")?
        .ok_or_else(|| Refusal::bad("rich message is not specified"))?;
    let body = body(&rich)?;
    let mut post = send::frame(state, params)?;
    post.text = body.text;
    post.entities = body.entities;
    post.explicit = body.explicit;
    post.rich = Some(rich);
    Ok(send::deliver(state, post))
}

/// The visible text of a rich message.
pub(super) fn body(rich: &Value) -> Result<Body, Refusal> {
    let html = rich.get("html").and_then(Value::as_str);
    let markdown = rich.get("markdown").and_then(Value::as_str);
    let source = match (html, markdown) {
        (Some(html), None) => html,
        (None, Some(markdown)) => markdown,
        _ => {
            return Err(Refusal::bad(
                "exactly one of html, markdown and blocks must be specified",
            ));
        }
    };
    if source.chars().count() > TEXT_LIMIT {
        return Err(Refusal::bad("rich message is too long"));
    }
    let (text, explicit) = if html.is_some() {
        parse(source)?
    } else {
        (source.to_owned(), Vec::new())
    };
    if text.trim().is_empty() {
        return Err(Refusal::bad("rich message must be non-empty"));
    }
    Ok(Body {
        text,
        entities: explicit.clone(),
        explicit,
    })
}

fn has(list: &str, tag: &str) -> bool {
    list.contains(&format!(" {tag} "))
}

fn parse(source: &str) -> Result<(String, Vec<Span>), Refusal> {
    let wrong = |what: String| Refusal::bad(format!("can't parse rich message: {what}"));
    let mut text = String::new();
    let mut spans = Vec::new();
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut blocks = 0;
    let mut rest = source;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(&unescape(before));
        let (tag, next) = after
            .split_once('>')
            .ok_or_else(|| wrong("unclosed start tag".to_owned()))?;
        rest = next;
        let closing = tag.starts_with('/');
        let name = tag
            .trim_matches('/')
            .split([' ', '/'])
            .next()
            .unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if !has(TAGS, &name) {
            return Err(wrong(format!("unsupported tag \"{name}\"")));
        }
        if has(BLOCKS, &name) && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if closing {
            match open.pop() {
                Some((begun, at)) if begun == name => spans.extend(span(&name, at, &text)),
                _ => return Err(wrong(format!("unmatched end tag \"{name}\""))),
            }
        } else if !has(EMPTY, &name) {
            blocks += usize::from(has(BLOCKS, &name));
            open.push((name, units(&text)));
        }
        if blocks > BLOCK_LIMIT || open.len() > DEPTH_LIMIT {
            return Err(wrong("too many blocks or levels".to_owned()));
        }
    }
    text.push_str(&unescape(rest));
    if let Some((name, _)) = open.last() {
        return Err(wrong(format!("can't find end tag of \"{name}\"")));
    }
    let kept = text.trim_end().to_owned();
    let end = units(&kept);
    spans.retain(|span: &Span| span.offset < end);
    for span in &mut spans {
        span.length = span.length.min(end - span.offset);
    }
    Ok((kept, spans))
}

fn span(tag: &str, at: usize, text: &str) -> Option<Span> {
    let kind = match tag {
        "b" | "strong" | "summary" | "th" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "bold",
        "i" | "em" => "italic",
        "u" | "ins" => "underline",
        "s" | "strike" | "del" => "strikethrough",
        "tg-spoiler" => "spoiler",
        "code" => "code",
        "pre" => "pre",
        "details" => "expandable_blockquote",
        "blockquote" => "blockquote",
        _ => return None,
    };
    let length = units(text).checked_sub(at).filter(|length| *length > 0)?;
    Some(Span::new(kind, at, length))
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&nbsp;", " ")
        .replace("&amp;", "&")
}
