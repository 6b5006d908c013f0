//! Answers of every shape. What they look like is judged here by the strict Bot API, and by TDLib's own
//! code after the run.

use crate::support::rig::Rig;
use crate::support::script::say;

const SAMPLES: &[&str] = &[
    "# One\n## Two\n### Three\nText under it.",
    "**bold** *italic* ***both*** ~~gone~~ `code` __strong__ _soft_ **bold *and italic* inside**",
    "[a link](https://example.org/a_b?c=d&e=f#g) and [bad](javascript:alert(1)) and <https://example.org> and [mail](mailto:a@b.cd)",
    "- one\n- two\n  - two a\n    - two a i\n- three\n\n1. first\n2. second\n   1. inner\n10. tenth",
    "> quoted **bold**\n> second line\n>\n> > nested quote\n\nafter",
    "```rust\nfn main() { println!(\"*not* _markdown_ `here`\"); }\n```\n\n    indented code\n\n`a``b` and `` a`b ``",
    "| a | b |\n|---|--:|\n| 1 | 22 |\n| **x** | `y` |",
    "| a very long heading of a column | another long heading | and a third one |\n|---|---|---|\n| one long cell that will not fit | second | third |\n| 4 | 5 | 6 |",
    "👩‍👩‍👧‍👦 **👍🏽 bold** 🇺🇦 *é à combining* `𝒳` **𐍈𐍈**",
    "**مرحبا** بالعالم `ls -la` و *هذا* نص\n\n1. واحد\n2. اثنان",
    "Привет, **мир**! Пути: `/etc/hosts`, ~~нет~~, [ссылка](https://пример.рф/путь)",
    "<b>html</b> &amp; &lt;tags&gt; <script>x</script> <!-- c -->\n\n<details><summary>s</summary>x</details>",
    "- [ ] open\n- [x] done **bold**\n- [ ] `code`",
    "@name #tag $CASH /command +1 234 567 8901 4242424242424242 example.org a@b.cd",
    "**unclosed *and [broken](http://\n\n```\nunclosed fence",
    "***\n\n---\n\na\\*b \\_c\\_ 5 * 3 * 2 snake_case_name 2 ** 3",
    "  leading spaces  \n\n\n\nmany blank lines\n\n\u{200b}\u{200b}\u{2060}zero width",
    "[![image](https://example.org/i.png)](https://example.org) ![alt text](a.png \"title\")",
    "> **A quote**\n> ```sh\n> ls\n> ```\n> - item\n\ntext **bold `code` bold** text",
    "\u{202e}reversed\u{202c} \u{7}bell \u{1b}[31mred\u{1b}[0m tab\there",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_every_shape_are_accepted() {
    let rig = Rig::new().await;
    for (number, sample) in SAMPLES.iter().enumerate() {
        let mark = rig.mark();
        // Behind a fence that was left open the mark would be code, which is as good.
        rig.script
            .then([say(&format!("{sample}\n\nEnd of {number}."))]);
        rig.say("Show me");
        rig.reply(mark, &format!("End of {number}.")).await;
    }
    rig.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_answers_are_split_into_valid_parts_and_very_long_ones_come_as_a_document() {
    let rig = Rig::new().await;
    let paragraph =
        "**Bold** and *soft* with `code` and [a link](https://example.org/x), then 👍🏽 words. ";
    for (count, pieces) in [(60, 2), (200, 4), (600, 1)] {
        let mark = rig.mark();
        let mut text = String::new();
        for number in 0..count {
            text.push_str(&paragraph.repeat(1 + number % 3));
            text.push_str(if number % 7 == 0 {
                "\n\n- item\n- item\n\n"
            } else {
                "\n\n"
            });
        }
        rig.script.then([say(&format!(
            "{text}\n\n```py\n{}```\n\nThe very end.",
            "print(1)\n".repeat(count)
        ))]);
        rig.say("At length");
        rig.wait("the end of a long answer", |rig| {
            let posts = rig
                .world()
                .messages_after(rig.bot.chat(), greenlight::domain::MessageId(mark));
            let own: Vec<_> = posts.into_iter().filter(|post| post.from_bot).collect();
            let whole = own
                .iter()
                .any(|post| post.text.contains("The very end.") || post.file.is_some());
            (whole && own.len() >= pieces).then_some(())
        })
        .await;
    }
    rig.finish().await;
}
