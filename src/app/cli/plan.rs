//! `greenlight plan`: plans as they lie in their files, without a running bot.

use std::path::{Path, PathBuf};

use clap::Subcommand;

use crate::domain::Fault;
use crate::i18n::tr;
use crate::plan::model::{Plan, PlanStatus, TaskStatus};

use super::say;

/// Largest plan file in bytes.
const MAX_BYTES: u64 = 10 * 1024 * 1024;
const PREFIX: &str = ".greenlight_plan_";

/// What to do with plans.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum PlanCommand {
    /// Show one plan
    Show {
        /// Session of the plan; may be left out if there is only one
        #[arg(long)]
        session: Option<String>,
    },
    /// Read plans and say which are damaged
    Validate {
        /// Only this session
        #[arg(long)]
        session: Option<String>,
    },
    /// List all plans
    List {
        /// Only this session
        #[arg(long)]
        session: Option<String>,
    },
}

struct FoundPlan {
    session: String,
    path: PathBuf,
    plan: Result<Plan, String>,
}

/// Runs the command; `false` if a plan is damaged.
pub(super) fn run(command: &PlanCommand, home: &Path, language: &str) -> Result<bool, Fault> {
    let (PlanCommand::Show { session }
    | PlanCommand::Validate { session }
    | PlanCommand::List { session }) = command;
    let mut plans = find(home);
    if let Some(session) = session {
        plans.retain(|found| &found.session == session);
        if plans.is_empty() {
            return Err(Fault::user("cli-plan-unknown", &[("session", session)]));
        }
    }
    if plans.is_empty() {
        say(&tr(language, "cli-plan-none", &[]));
        return Ok(true);
    }
    match command {
        PlanCommand::Show { .. } => match plans.as_slice() {
            [found] => show(found, language)?,
            _ => {
                let count = plans.len().to_string();
                return Err(Fault::user("cli-plan-which", &[("count", &count)]));
            }
        },
        PlanCommand::List { .. } => {
            for found in &plans {
                say(&summary(found, language));
            }
        }
        PlanCommand::Validate { .. } => {
            for found in &plans {
                say(&summary(found, language));
            }
            return Ok(plans.iter().all(|found| found.plan.is_ok()));
        }
    }
    Ok(true)
}

/// Every sidecar below the data directory, by session.
fn find(home: &Path) -> Vec<FoundPlan> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .collect()
    };
    let mut dirs = vec![home.join("session")];
    dirs.extend(
        list(&home.join("projects"))
            .into_iter()
            .map(|project| project.join("session")),
    );
    let mut plans: Vec<FoundPlan> = dirs
        .iter()
        .flat_map(|dir| list(dir))
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            let session = name.strip_prefix(PREFIX)?.strip_suffix(".json")?.to_owned();
            let plan = read(&path, &session);
            Some(FoundPlan {
                session,
                path,
                plan,
            })
        })
        .collect();
    plans.sort_by(|left, right| left.session.cmp(&right.session));
    plans
}

fn read(path: &Path, session: &str) -> Result<Plan, String> {
    let meta = std::fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err("not a regular file of at most 10 MiB".to_owned());
    }
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if plan.session_id.as_str() == session {
        Ok(plan)
    } else {
        Err("session_id differs from the file name".to_owned())
    }
}

fn summary(found: &FoundPlan, language: &str) -> String {
    match &found.plan {
        Ok(plan) => {
            let done = plan
                .tasks
                .iter()
                .filter(|task| matches!(task.status, TaskStatus::Completed | TaskStatus::Skipped))
                .count();
            let (done, total) = (done.to_string(), plan.tasks.len().to_string());
            let status = status(plan);
            let arguments = [
                ("session", found.session.as_str()),
                ("title", &plan.title),
                ("status", status),
                ("done", &done),
                ("total", &total),
            ];
            tr(language, "cli-plan-line", &arguments)
        }
        Err(reason) => {
            let path = found.path.display().to_string();
            tr(
                language,
                "cli-plan-corrupt",
                &[("path", &path), ("reason", reason)],
            )
        }
    }
}

fn status(plan: &Plan) -> &'static str {
    match plan.status {
        PlanStatus::Editing => "Editing",
        PlanStatus::Active => "Active",
    }
}

fn show(found: &FoundPlan, language: &str) -> Result<(), Fault> {
    let plan = found.plan.as_ref().map_err(|reason| {
        let path = found.path.display().to_string();
        Fault::user("cli-plan-corrupt", &[("path", &path), ("reason", reason)])
    })?;
    say(&summary(found, language));
    for task in &plan.tasks {
        let mark = match task.status {
            TaskStatus::Pending => "☐",
            TaskStatus::InProgress => "▶",
            TaskStatus::Completed => "☑",
            TaskStatus::Skipped => "⏭",
            TaskStatus::Failed => "❌",
            TaskStatus::Blocked { .. } => "⏸",
        };
        say(&format!("{mark} {} {}", task.id, task.title));
    }
    let prose = found.path.with_extension("md");
    if let Ok(text) = std::fs::read_to_string(prose) {
        say("");
        say(text.trim_end());
    } else if !plan.description.is_empty() {
        say("");
        say(plan.description.trim_end());
    }
    Ok(())
}
