//! What people read of a call: its label, and what it is about.

use crate::domain::{CallId, Progress, ToolCall};
use crate::plan::tool::Operation;
use crate::tools::Inspection;

use super::actor::Actor;
use super::batch::Whose;
use super::plans;

impl Actor {
    pub(super) fn announce(&mut self, whose: &Whose, call: &ToolCall, inspection: &Inspection) {
        if let Whose::Child(id) = whose {
            let label = self.label(&call.name, &inspection.argument);
            let argument = self.shown_argument(inspection);
            self.child_step(id, &label, &argument);
            return;
        }
        let Some(running) = &self.running else {
            return;
        };
        running.flow.progress(Progress::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            label: self.label(&call.name, &inspection.argument),
            argument: if call.name == plans::TOOL {
                self.plan_argument(call)
            } else {
                self.shown_argument(inspection)
            },
        });
    }

    /// A call that cannot run is shown too, so that its refusal is not silent.
    pub(super) fn announce_unfit(&self, id: &CallId) {
        let Some((Whose::Turn, index)) = self.find_call(id) else {
            return;
        };
        let entry = self.batch(&Whose::Turn).and_then(|batch| batch.calls.get(index));
        let (Some(running), Some(call)) = (&self.running, entry.map(|entry| &entry.call)) else {
            return;
        };
        running.flow.progress(Progress::ToolStarted {
            call: call.id.clone(),
            tool: call.name.clone(),
            label: self.label(&call.name, ""),
            argument: String::new(),
        });
    }

    /// What a plan call is about, in people's words: the title of its task.
    fn plan_argument(&self, call: &ToolCall) -> String {
        let task = crate::plan::tool::parse(&call.arguments)
            .ok()
            .and_then(|parsed| match parsed.operation {
                Operation::Start { task_id } => task_id,
                Operation::Complete { task_id, .. } => Some(task_id),
                Operation::CheckReplace(replace) => Some(replace.task_id),
                Operation::Init(_)
                | Operation::Submit(_)
                | Operation::AddTasks { .. }
                | Operation::Update { .. }
                | Operation::Revise { .. }
                | Operation::Get => None,
            });
        let title = task.and_then(|id| {
            let tasks = &self.plans.active()?.tasks;
            Some(tasks.iter().find(|task| task.id == id)?.title.clone())
        });
        self.deps.redactor.redact(&title.unwrap_or_default())
    }

    /// The main argument as people see it: no path of the data directory.
    fn shown_argument(&self, inspection: &Inspection) -> String {
        let argument = self.deps.redactor.redact(&inspection.argument);
        if inspection
            .targets
            .iter()
            .any(|target| self.plans.is_md(target))
        {
            return self.tr("tool-plan-file", &[]);
        }
        argument
    }

    /// Says at a call that waits for the owner that it does, or that it waits no more.
    pub(super) fn show_waiting(&self, call: &CallId, waits: bool) {
        let Some(running) = &self.running else {
            return;
        };
        let text = if waits {
            self.tr("card-waiting", &[])
        } else {
            String::new()
        };
        running.flow.progress(Progress::ToolOutput {
            call: call.clone(),
            text,
        });
    }

    fn label(&self, name: &str, operation: &str) -> String {
        if name == plans::TOOL {
            return match operation {
                "" => "tool-plan".to_owned(),
                operation => format!("tool-plan-{}", operation.replace('_', "-")),
            };
        }
        self.deps
            .toolbox
            .descriptors()
            .into_iter()
            .find(|tool| tool.name == name)
            .map_or_else(|| "tool-other".to_owned(), |tool| tool.label.to_owned())
    }
}
