use super::*;
use crate::domain::Entity;

fn entity(kind: EntityKind, offset: usize, length: usize) -> Entity {
    Entity {
        kind,
        offset,
        length,
    }
}

fn shown(markdown: &str) -> String {
    to_formatted(markdown).text
}

#[test]
fn styles_become_entities_in_utf16_units() {
    assert_eq!(
        to_formatted("Hi 😀 **bold 😀** and *it* ~~no~~ `a*b`"),
        Formatted {
            text: "Hi 😀 bold 😀 and it no a*b".into(),
            entities: vec![
                entity(EntityKind::Bold, 6, 7),
                entity(EntityKind::Italic, 18, 2),
                entity(EntityKind::Strikethrough, 21, 2),
                entity(EntityKind::Code, 24, 3),
            ],
        }
    );
}

#[test]
fn code_is_not_combined_with_other_styles() {
    assert_eq!(
        to_formatted("**a `b` c** [`d`](https://e.com)").entities,
        vec![
            entity(EntityKind::Bold, 0, 2),
            entity(EntityKind::Code, 2, 1),
            entity(EntityKind::Bold, 3, 2),
            entity(EntityKind::Code, 6, 1),
        ]
    );
}

#[test]
fn a_heading_is_bold_and_stands_apart() {
    assert_eq!(
        to_formatted("# One\ntext\n## Two *x*"),
        Formatted {
            text: "One\n\ntext\n\nTwo x".into(),
            entities: vec![
                entity(EntityKind::Bold, 0, 3),
                entity(EntityKind::Bold, 11, 4),
                entity(EntityKind::Bold, 15, 1),
                entity(EntityKind::Italic, 15, 1),
            ],
        }
    );
}

#[test]
fn lists_keep_their_numbers_and_nest() {
    assert_eq!(
        shown("Do:\n\n3. three\n4. four\n   - in\n     more\n   - out\n5. five\n\nEnd"),
        "Do:\n\n3. three\n4. four\n  • in\n    more\n  • out\n5. five\n\nEnd"
    );
    assert_eq!(shown("- [x] done\n- [ ] open"), "☑ done\n☐ open");
    assert_eq!(shown("1. a\n\n2. b\n\n   c"), "1. a\n\n2. b\n\n  c");
}

#[test]
fn a_fence_keeps_its_language_and_indentation() {
    assert_eq!(
        to_formatted("x\n\n```rust,ignore\n\tfn a() {}\n\n  b\n```\ny"),
        Formatted {
            text: "x\n\n    fn a() {}\n\n  b\n\ny".into(),
            entities: vec![entity(
                EntityKind::Pre {
                    language: Some("rust".into())
                },
                3,
                18
            )],
        }
    );
}

#[test]
fn a_code_block_in_an_entry_follows_its_text() {
    assert_eq!(
        shown("1. run\n   ```sh\n   ls\n   ```\n2. then"),
        "1. run\nls\n2. then"
    );
    assert_eq!(shown("- ```\n  x\n  ```"), "•\nx");
}

#[test]
fn quotes_are_flat_and_neighbours_stay_apart() {
    let quoted = to_formatted("> a\n>\n> > b\n\nc\n\n> d");
    assert_eq!(quoted.text, "a\n\nb\n\nc\n\nd");
    assert_eq!(
        quoted.entities,
        vec![
            entity(EntityKind::Blockquote, 0, 4),
            entity(EntityKind::Blockquote, 9, 1),
        ]
    );
}

#[test]
fn only_web_addresses_become_links() {
    assert_eq!(
        to_formatted(
            "[a](https://e.com/x_y) [bad](javascript:alert(1)) [f](src/m.rs) <https://e.com>"
        ),
        Formatted {
            text: "a bad (javascript:alert(1)) f (src/m.rs) https://e.com".into(),
            entities: vec![
                entity(
                    EntityKind::TextLink {
                        url: "https://e.com/x_y".into()
                    },
                    0,
                    1
                ),
                entity(
                    EntityKind::TextLink {
                        url: "https://e.com".into()
                    },
                    41,
                    13
                ),
            ],
        }
    );
    assert_eq!(shown("[write](mailto:a@b.c)"), "write (a@b.c)");
    assert_eq!(shown("![](https://e.com/i.png)"), "https://e.com/i.png");
}

#[test]
fn html_and_arithmetic_stay_text() {
    let text = "a <b>x</b> 2 * 3 * 4 < 5 & 6 &amp;";
    assert_eq!(shown(text), "a <b>x</b> 2 * 3 * 4 < 5 & 6 &");
    assert_eq!(shown("<div>\nhi\n</div>"), "<div>\nhi\n</div>");
}

#[test]
fn a_narrow_table_is_aligned_monospace() {
    let table = to_formatted("| name | n |\n| --- | ---: |\n| alpha | 1 |\n| `日本` | 22 |");
    assert_eq!(table.text, "name    n\n─────────\nalpha   1\n日本   22");
    assert_eq!(
        table.entities,
        vec![entity(EntityKind::Pre { language: None }, 0, 37)]
    );
}

#[test]
fn a_wide_table_becomes_records() {
    let wide = "x".repeat(30);
    let table = to_formatted(&format!(
        "| key | value |\n|---|---|\n| a | {wide}{wide} |\n| **b** | |"
    ));
    assert_eq!(table.text, format!("key: a\nvalue: {wide}{wide}\n\nkey: b"));
    assert_eq!(
        table.entities,
        vec![
            entity(EntityKind::Bold, 0, 4),
            entity(EntityKind::Bold, 7, 6),
            entity(EntityKind::Bold, 76, 4),
            entity(EntityKind::Bold, 81, 1),
        ]
    );
}

#[test]
fn nothing_visible_gives_nothing() {
    for empty in ["", "  \n", "# ", "\u{200b}", "```\n\n```", "&nbsp;"] {
        assert_eq!(to_formatted(empty), Formatted::default(), "{empty:?}");
    }
}
