//! `/plan_status`: title, version, progress and one line a task, in at most 3800 characters.

use crate::domain::Command;

use super::super::actor::Actor;

/// Characters of the whole text; lines that do not fit are dropped whole and counted.
const LONGEST: usize = 3800;

impl Actor {
    pub(super) async fn plan_status(&mut self, command: &Command) {
        self.load_plan().await;
        let Some(view) = self.plan_view(self.is_busy()) else {
            self.reply_key(command, "show-plan-none", &[]);
            return;
        };
        let (done, total) = (view.done.to_string(), view.total.to_string());
        let head = match (view.title.as_str(), view.total) {
            ("", _) => String::new(),
            (title, 0) => format!("📋 {title}"),
            (title, _) => self.tr(
                "plan-status-head",
                &[
                    ("title", title),
                    ("version", &view.version.to_string()),
                    ("done", &done),
                    ("total", &total),
                ],
            ),
        };
        let mut text = format!("{head}\n{}", self.plan_words()).trim().to_owned();
        let lines: Vec<String> = view
            .rows
            .iter()
            .map(|row| {
                let remark = if row.remark.is_empty() {
                    String::new()
                } else {
                    format!(" — {}", row.remark)
                };
                format!("\n{} {} {}{remark}", row.mark.sign(), row.id, row.title)
            })
            .collect();
        for (index, line) in lines.iter().enumerate() {
            let left = lines.len() - index;
            if text.chars().count() + line.chars().count() > LONGEST - 100 {
                let more = self.tr("plan-status-more", &[("count", &left.to_string())]);
                text.push_str(&format!("\n{more}"));
                break;
            }
            text.push_str(line);
        }
        self.reply(command, text);
    }
}
