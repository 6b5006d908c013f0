//! HTML to readable text: no layout, no scripts, links kept.

/// Elements whose content is never read.
const SKIPPED: [&str; 7] = [
    "script", "style", "noscript", "template", "svg", "head", "iframe",
];
/// Elements that begin a new line.
const BLOCKS: [&str; 26] = [
    "p",
    "div",
    "br",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "nav",
    "aside",
    "blockquote",
    "pre",
    "hr",
    "dl",
    "dt",
    "dd",
    "form",
    "figure",
    "h1",
    "h2",
    "h3",
];

/// The text of a page in simple Markdown. Input may be broken; output is no longer than the input
/// with a few marks.
pub(super) fn to_text(html: &str) -> String {
    let mut out = String::new();
    let mut links: Vec<Option<String>> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tail) = rest.split_at(at);
        push_text(&mut out, text);
        let Some((tag, after)) = split_tag(tail) else {
            // A lone `<` is text.
            push_text(&mut out, "<");
            rest = tail.get(1..).unwrap_or_default();
            continue;
        };
        rest = after;
        let closing = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        if !closing && SKIPPED.contains(&name.as_str()) && !tag.ends_with('/') {
            rest = after_close(rest, &name);
            continue;
        }
        mark(&mut out, &mut links, &name, closing, tag);
    }
    push_text(&mut out, rest);
    tidy(&out)
}

/// What stands between `<` and `>` (comments whole), and what follows.
fn split_tag(text: &str) -> Option<(&str, &str)> {
    if let Some(comment) = text.strip_prefix("<!--") {
        let end = comment.find("-->")?;
        return Some(("", comment.get(end + 3..)?));
    }
    let inside = text.get(1..)?;
    let first = inside.chars().next()?;
    if !(first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?')) {
        return None;
    }
    let mut quote = None;
    for (at, c) in inside.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '>' => return Some((inside.get(..at)?, inside.get(at + 1..)?)),
            None => {}
        }
    }
    None
}

fn after_close<'a>(text: &'a str, name: &str) -> &'a str {
    let close = format!("</{name}");
    let lower = text.to_ascii_lowercase();
    let Some(at) = lower.find(&close) else {
        return "";
    };
    let tail = text.get(at..).unwrap_or_default();
    tail.find('>')
        .and_then(|end| tail.get(end + 1..))
        .unwrap_or_default()
}

fn mark(out: &mut String, links: &mut Vec<Option<String>>, name: &str, closing: bool, tag: &str) {
    if BLOCKS.contains(&name) {
        out.push('\n');
    }
    match (name, closing) {
        ("p" | "h1" | "h2" | "h3" | "table", _) => out.push('\n'),
        ("li", false) => out.push_str("- "),
        ("td" | "th", true) => out.push_str(" | "),
        ("a", false) => {
            let href = attribute(tag, "href").filter(|href| href.starts_with("http"));
            if href.is_some() {
                out.push('[');
            }
            links.push(href);
        }
        ("a", true) => {
            if let Some(Some(href)) = links.pop() {
                out.push_str(&format!("]({href})"));
            }
        }
        _ => {}
    }
    let level = match name {
        "h1" => "# ",
        "h2" => "## ",
        "h3" => "### ",
        _ => "",
    };
    if !closing {
        out.push_str(level);
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}="))? + name.len() + 2;
    let value = tag.get(at..)?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    Some(decode(value))
}

fn push_text(out: &mut String, text: &str) {
    let text = decode(text);
    let mut space = text.starts_with(char::is_whitespace);
    for word in text.split_whitespace() {
        if space && !out.ends_with(['\n', ' ', '[']) {
            out.push(' ');
        }
        out.push_str(word);
        space = true;
    }
    if text.ends_with(char::is_whitespace) && !out.ends_with(['\n', ' ']) {
        out.push(' ');
    }
}

fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let end = tail
            .char_indices()
            .take(12)
            .find(|(_, c)| *c == ';')
            .map(|(end, _)| end);
        let entity = end.and_then(|end| tail.get(1..end));
        match (entity.and_then(character), end) {
            (Some(c), Some(end)) => {
                out.push(c);
                rest = tail.get(end + 1..).unwrap_or_default();
            }
            (Some(_) | None, _) => {
                out.push('&');
                rest = tail.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "copy" => '©',
        _ => return None,
    })
}

/// Drops blank ends of lines and more than one empty line in a row.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 1;
    for line in text.lines().map(str::trim) {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_readable_text() {
        let page = "<html><head><title>x</title></head><body><h1>Top</h1><script>if (a<b) {}</script>\
            <p>One &amp; <b>two</b> <a href=\"https://e.org/?a=1&amp;b=2\">link</a>.</p>\
            <ul><li>first<li>second</ul><!-- <p>no</p> --><p>1 < 2 &#x41;</p></body></html>";
        assert_eq!(
            to_text(page),
            "# Top\n\nOne & two [link](https://e.org/?a=1&b=2).\n\n- first\n- second\n\n1 < 2 A"
        );
    }

    #[test]
    fn broken_pages_do_no_harm() {
        for page in [
            "<",
            "<a",
            "<!--",
            "<script>never closed",
            "&#xffffffff;",
            "</",
            "<p \"",
            "&&&;",
        ] {
            assert!(to_text(page).len() <= page.len() + 8, "{page}");
        }
    }
}
