//! Rendering and splitting, judged by what Telegram accepts and shows.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of a test fails it by panicking"
)]

use greenlight::domain::{Entity, EntityKind, Formatted};
use greenlight::text::{entities, inbound, markdown, split, units};
use proptest::prelude::*;
use serde::Deserialize;

/// What was sent and what Telegram's own library made of it.
#[derive(Deserialize)]
struct Stored {
    sent: Formatted,
    stored: Formatted,
}

#[test]
fn entities_are_stored_as_telegram_stores_them() {
    let mut cases = 0;
    for line in include_str!("data/stored-entities.jsonl").lines() {
        let case: Stored = serde_json::from_str(line).expect("a case");
        assert_eq!(entities::normalise(&case.sent), case.stored, "{line}");
        cases += 1;
    }
    assert!(cases > 20, "only {cases} cases");
}

/// Slices `text` by an entity and fails when that is impossible.
fn covered<'a>(text: &'a str, entity: &Entity) -> &'a str {
    let start = units::byte_at_utf16(text, entity.offset).expect("starts between characters");
    let end =
        units::byte_at_utf16(text, entity.offset + entity.length).expect("ends between characters");
    &text[start..end]
}

/// Fails for anything that Telegram would refuse, change or drop.
fn assert_valid(part: &Formatted) {
    assert!(!units::is_blank(&part.text));
    assert!(units::utf16_len(&part.text) <= split::MAX_UNITS);
    assert!(part.entities.len() <= split::MAX_ENTITIES);
    assert!(part.text.len() <= split::MAX_BYTES);
    for entity in &part.entities {
        assert!(!covered(&part.text, entity).trim().is_empty());
    }
    let code: Vec<&Entity> = part
        .entities
        .iter()
        .filter(|entity| matches!(entity.kind, EntityKind::Code | EntityKind::Pre { .. }))
        .collect();
    for one in &code {
        for other in &part.entities {
            let quote = matches!(other.kind, EntityKind::Blockquote);
            let apart = other.offset + other.length <= one.offset
                || one.offset + one.length <= other.offset;
            assert!(
                std::ptr::eq(*one, other) || quote || apart,
                "{one:?} {other:?}"
            );
        }
    }
    assert_eq!(&entities::normalise(part), part, "Telegram would change it");
}

/// Fails unless the parts follow each other in `whole` with nothing but white space between.
fn assert_lossless(parts: &[Formatted], whole: &str) {
    let mut rest = whole;
    for part in parts {
        let at = rest.find(&part.text).unwrap_or_else(|| {
            panic!("part {:?} is not in {:?}", part.text, rest);
        });
        assert!(rest[..at].trim().is_empty(), "lost: {:?}", &rest[..at]);
        rest = &rest[at + part.text.len()..];
    }
    assert!(units::is_blank(rest), "lost at the end: {rest:?}");
}

#[test]
fn a_long_answer_is_split_between_paragraphs() {
    let paragraph = format!("{}\n\n", "word ".repeat(300));
    let text = paragraph.repeat(6);
    let parts = split::answer(&text);
    assert_eq!(parts.len(), 3);
    for part in &parts {
        assert_valid(part);
        assert!(part.text.ends_with("word"));
    }
    assert_lossless(&parts, &markdown::to_formatted(&text).text);
}

#[test]
fn a_fence_is_reopened_with_its_language_and_cut_between_lines() {
    let line = "    let value = compute();\n";
    let text = format!("Before\n\n```rust\n{}```\nAfter", line.repeat(400));
    let parts = split::answer(&text);
    assert!(parts.len() >= 3);
    for part in &parts {
        assert_valid(part);
        let fence = &part.entities[0];
        assert_eq!(
            fence.kind,
            EntityKind::Pre {
                language: Some("rust".into())
            }
        );
        for shown in covered(&part.text, fence).lines() {
            assert_eq!(shown, line.trim_end());
        }
    }
    assert_lossless(&parts, &markdown::to_formatted(&text).text);
}

#[test]
fn one_endless_paragraph_is_cut_at_sentences_and_words() {
    let text = "This is one sentence of many. ".repeat(500);
    let parts = split::answer(&text);
    for part in &parts {
        assert_valid(part);
        assert!(part.text.ends_with('.'));
    }
    assert_lossless(&parts, text.trim());

    let word = "x".repeat(10_000);
    let parts = split::answer(&word);
    assert_eq!(parts.len(), 3);
    assert_lossless(&parts, &word);

    let families = "👨‍👩‍👧".repeat(1500);
    for part in &split::answer(&families) {
        assert_valid(part);
        assert!(part.text.starts_with('👨') && part.text.ends_with('👧'));
    }
}

#[test]
fn a_heading_stays_with_what_it_heads() {
    let text = format!("{}\n\n## Next\n\n{}", "a ".repeat(1900), "b ".repeat(1500));
    let parts = split::answer(&text);
    assert_eq!(parts.len(), 2);
    assert!(parts[1].text.starts_with("Next\n\nb"));
}

#[test]
fn a_list_goes_on_with_its_numbers_and_a_quote_stays_a_quote() {
    let mut text = String::new();
    for number in 1..=200 {
        text.push_str(&format!("{number}. {}\n", "item ".repeat(10)));
    }
    let parts = split::answer(&text);
    assert!(parts.len() >= 3);
    let second = parts[1].text.split('.').next().expect("a number");
    let last = parts[0].text.lines().last().expect("a line");
    let last: u32 = last
        .split('.')
        .next()
        .expect("a number")
        .parse()
        .expect("a number");
    assert_eq!(second, (last + 1).to_string());

    let parts = split::answer(&format!("> {}", "quoted words ".repeat(800)));
    assert!(parts.len() >= 3);
    for part in &parts {
        assert_valid(part);
        assert_eq!(part.entities.len(), 1);
        assert_eq!(part.entities[0].kind, EntityKind::Blockquote);
        assert_eq!(covered(&part.text, &part.entities[0]), part.text);
    }
}

#[test]
fn more_than_a_hundred_entities_make_more_messages() {
    let text = "**a** `b` ".repeat(120);
    let parts = split::answer(&text);
    assert!(parts.len() >= 3);
    for part in &parts {
        assert_valid(part);
    }
    let links = "[x](https://example.org/".to_owned() + &"p".repeat(1500) + ") ";
    for part in &split::answer(&links.repeat(30)) {
        assert_valid(part);
        let bytes: usize = part
            .entities
            .iter()
            .map(|entity| {
                let EntityKind::TextLink { url } = &entity.kind else {
                    panic!("unexpected {entity:?}");
                };
                url.len()
            })
            .sum();
        assert!(bytes <= split::MAX_BYTES);
    }
}

#[test]
fn a_huge_answer_is_split_whole() {
    let text = "some **bold** words, `code` and [l](https://e.com). ".repeat(6000);
    let parts = split::answer(&text);
    assert!(parts.len() > 50);
    for part in &parts {
        assert_valid(part);
    }
    assert_lossless(&parts, &markdown::to_formatted(&text).text);
}

#[test]
fn nothing_visible_gives_no_message() {
    for empty in ["", "\n\n", "\u{200b}\u{feff}", "```\n```", "<!-- -->"] {
        for part in split::answer(empty) {
            assert_valid(&part);
        }
    }
    assert!(split::answer("\u{200b} \n").is_empty());
}

/// Markdown made of pieces that are hard together.
fn markdown_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("**".to_owned()),
        Just("*".to_owned()),
        Just("_".to_owned()),
        Just("~~".to_owned()),
        Just("`".to_owned()),
        Just("\n```rust\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n  - ".to_owned()),
        Just("\n7. ".to_owned()),
        Just("\n> ".to_owned()),
        Just("\n# ".to_owned()),
        Just("\n\n|a|b|\n|-|-|\n|1|**2**|\n\n".to_owned()),
        Just("[x](https://e.com)".to_owned()),
        Just("[y](javascript:z)".to_owned()),
        Just("<b>".to_owned()),
        Just("👩‍👩‍👧😀".to_owned()),
        Just("e\u{301}\u{302}".to_owned()),
        Just("שלום مرحبا".to_owned()),
        Just("\u{202e}\u{200b}\r\t\u{1}".to_owned()),
        Just("  ".to_owned()),
        "[a-z]{1,9}[.!] ?",
        "[a-z ]{100,900}",
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_part_is_valid_and_the_parts_make_the_whole(text in markdown_text()) {
        let parts = split::answer(&text);
        for part in &parts {
            assert_valid(part);
        }
        assert_lossless(&parts, &markdown::to_formatted(&text).text);
    }

    #[test]
    fn plain_text_is_never_lost(text in "[a-z .\n😀é\u{301}]{0,9000}") {
        let parts = split::plain(&text);
        for part in &parts {
            assert_valid(part);
        }
        assert_lossless(&parts, &text);
    }

    #[test]
    fn what_a_person_formats_reads_back_the_same(
        words in prop::collection::vec(("[a-zé😀]{1,8}", 0..5_usize), 1..12)
    ) {
        let mut text = String::new();
        let mut entities = Vec::new();
        for (word, style) in &words {
            if !text.is_empty() {
                text.push_str(" * ");
            }
            let kind = match style {
                1 => Some(EntityKind::Bold),
                2 => Some(EntityKind::Italic),
                3 => Some(EntityKind::Code),
                4 => Some(EntityKind::TextLink { url: "https://e.com/".into() }),
                _ => None,
            };
            if let Some(kind) = kind {
                entities.push(Entity {
                    kind,
                    offset: units::utf16_len(&text),
                    length: units::utf16_len(word),
                });
            }
            text.push_str(word);
        }
        let read = markdown::to_formatted(&inbound::to_markdown(&text, &entities));
        prop_assert_eq!(read, Formatted { text, entities });
    }

    #[test]
    fn any_entities_are_read_without_failing(
        text in "[a-z😀*`\n ]{0,30}",
        spans in prop::collection::vec((0..40_usize, 0..40_usize, 0..4_u8), 0..6),
    ) {
        let entities: Vec<Entity> = spans
            .into_iter()
            .map(|(offset, length, kind)| Entity {
                kind: match kind {
                    0 => EntityKind::Bold,
                    1 => EntityKind::Pre { language: None },
                    2 => EntityKind::Blockquote,
                    _ => EntityKind::Italic,
                },
                offset,
                length,
            })
            .collect();
        let markdown = inbound::to_markdown(&text, &entities);
        for word in text.split(|c: char| !c.is_ascii_lowercase()) {
            prop_assert!(markdown.contains(word.get(..1).unwrap_or_default()));
        }
        let stored = entities::normalise(&Formatted { text, entities });
        for entity in &stored.entities {
            covered(&stored.text, entity);
        }
        prop_assert_eq!(entities::normalise(&stored), stored);
    }
}
