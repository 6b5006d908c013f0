//! The typed submission: the model gives fields, the host writes the `.md`. Rendered text is read back
//! by the template, so every field goes onto one line of its own.

mod placeholder;
mod rules;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::model::TaskAction;
use super::ops::bounds;

pub use placeholder::placeholder;
pub use rules::check;
use rules::{name, position};

/// A submitted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    /// Title of the plan.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// Why and where to.
    pub context: Context,
    /// Steps in the order in which they are carried out.
    #[schemars(length(min = 1))]
    pub steps: Vec<DraftStep>,
    /// Exact shell commands that can fail for a reason about the project. Required if a step changes anything.
    #[serde(default, deserialize_with = "listed")]
    pub verification: Vec<String>,
    /// What was taken for granted.
    #[serde(default, deserialize_with = "listed")]
    pub assumptions: Vec<String>,
}

/// The `## Context` of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// What is wrong, missing or painful today.
    #[schemars(length(min = 1))]
    pub problem: String,
    /// What done looks like.
    #[schemars(length(min = 1))]
    pub target_state: String,
    /// Why now.
    #[schemars(length(min = 1))]
    pub intent: String,
    /// What must not be touched or broken.
    #[serde(
        default,
        deserialize_with = "joined",
        skip_serializing_if = "Option::is_none"
    )]
    pub constraints: Option<String>,
    /// What is left out on purpose.
    #[serde(
        default,
        deserialize_with = "joined",
        skip_serializing_if = "Option::is_none"
    )]
    pub out_of_scope: Option<String>,
}

/// One step of a submitted plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftStep {
    /// Name for `depends_on`; the number of the step if left out.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "named"
    )]
    pub id: Option<String>,
    /// Short title.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What to do, with files and commands.
    #[schemars(length(min = 1))]
    pub detail: String,
    /// How to see that it is done; an exact command in backticks becomes a check.
    #[serde(default, deserialize_with = "listed")]
    pub done_when: Vec<String>,
    /// Kind of work.
    #[serde(default)]
    pub action: Option<TaskAction>,
    /// Paths it touches; at least one for `change`.
    #[serde(default, deserialize_with = "listed")]
    pub targets: Vec<String>,
    /// Earlier steps it needs, by id or number.
    #[serde(default, deserialize_with = "listed")]
    pub depends_on: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Many(Vec<Scalar>),
    One(Scalar),
}

impl Listed {
    fn into_items(self) -> Vec<String> {
        let items = match self {
            Self::Many(items) => items,
            Self::One(item) => vec![item],
        };
        items
            .into_iter()
            .map(Scalar::text)
            .filter(|item| !item.trim().is_empty())
            .collect()
    }
}

/// A list, one item without a list, null: models write all three.
fn listed<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Listed>::deserialize(from)?
        .map(Listed::into_items)
        .unwrap_or_default())
}

fn joined<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let items = listed(from)?;
    Ok((!items.is_empty()).then(|| items.join("; ")))
}

fn named<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Scalar>::deserialize(from)?.map(Scalar::text))
}

/// Writes a checked draft in the outline of the template.
#[must_use]
pub fn render(draft: &Draft) -> String {
    let mut md = format!("# {}\n\n## Context\n", bounds::one_line(&draft.title));
    let context = &draft.context;
    for (label, value) in [
        ("Problem", Some(&context.problem)),
        ("Target state", Some(&context.target_state)),
        ("Intent", Some(&context.intent)),
        ("Constraints", context.constraints.as_ref()),
        ("Out of scope", context.out_of_scope.as_ref()),
    ] {
        if let Some(value) = value {
            md.push_str(&format!("- **{label}:** {}\n", flat(value)));
        }
    }
    md.push_str("\n## Implementation steps\n");
    let names: Vec<String> = draft
        .steps
        .iter()
        .enumerate()
        .map(|(n, step)| name(n, step))
        .collect();
    for (n, step) in draft.steps.iter().enumerate() {
        render_step(&mut md, n + 1, step, &names);
    }
    if !draft.verification.is_empty() {
        md.push_str("\n## Verification\n");
        for command in &draft.verification {
            md.push_str(&format!("- `{}`\n", command.trim()));
        }
    }
    if !draft.assumptions.is_empty() {
        md.push_str("\n## Notes\n");
        for item in &draft.assumptions {
            md.push_str(&format!("- Assumed: {}\n", flat(item)));
        }
    }
    md
}

fn render_step(md: &mut String, number: usize, step: &DraftStep, names: &[String]) {
    // The first dash of the line ends the title, so a title has none of its own.
    let title = flat(&step.title)
        .replace(" - ", ": ")
        .replace(" – ", ": ")
        .replace("**", "");
    md.push_str(&format!("{number}. {title} — {}\n", flat(&step.detail)));
    if let Some(action) = step.action {
        let word = match action {
            TaskAction::Inspect => "inspect",
            TaskAction::Change => "change",
            TaskAction::Verify => "verify",
        };
        md.push_str(&format!("   - Action: {word}\n"));
    }
    if !step.targets.is_empty() {
        let targets: Vec<String> = step
            .targets
            .iter()
            .map(|target| format!("`{}`", flat(target).replace('`', "'")))
            .collect();
        md.push_str(&format!("   - Targets: {}\n", targets.join(", ")));
    }
    let needs: Vec<String> = step
        .depends_on
        .iter()
        .filter_map(|wanted| position(wanted, names))
        .map(|at| format!("step {}", at + 1))
        .collect();
    if !needs.is_empty() {
        md.push_str(&format!("   - Depends on {}\n", needs.join(", ")));
    }
    for item in &step.done_when {
        md.push_str(&format!("   - Done when: {}\n", flat(item)));
    }
}

/// One line that cannot begin a comment that would hide what follows.
fn flat(text: &str) -> String {
    bounds::one_line(text).replace("<!--", "< !--")
}
