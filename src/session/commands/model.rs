//! `/model [number|name]`: which configured model this session uses.

use crate::domain::Command;

use super::super::actor::Actor;

impl Actor {
    pub(super) async fn choose_model(&mut self, command: &Command) {
        let names: Vec<String> = self.deps.models.iter().map(|model| model.name()).collect();
        let wanted = command.arguments.trim();
        if wanted.is_empty() {
            let lines: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(index, name)| {
                    let mark = if index == self.record.model {
                        "●"
                    } else {
                        "○"
                    };
                    format!("{mark} {}. {name}", index + 1)
                })
                .collect();
            self.reply_key(command, "model-shown", &[("models", &lines.join("\n"))]);
            return;
        }
        let by_number = wanted.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let found = by_number
            .filter(|index| *index < names.len())
            .or_else(|| names.iter().position(|name| name == wanted));
        let Some((index, name)) = found.and_then(|index| Some((index, names.get(index)?))) else {
            self.reply_key(command, "model-unknown", &[("model", wanted)]);
            return;
        };
        self.record.model = index;
        if self.save().await {
            self.reply_key(command, "model-set", &[("model", name)]);
        }
    }
}
