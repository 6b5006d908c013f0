//! A model that follows a script: steps in, requests seen out.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::future::BoxFuture;
use greenlight::domain::{
    FinishReason, ModelEvent, ModelFault, ModelMessage, ModelReply, ModelRequest, ToolCall, Usage,
};
use greenlight::llm::{Model, ModelStream};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};

/// What the model does with one request.
pub(crate) enum Step {
    /// Answers.
    Say(String),
    /// Calls tools, perhaps with words before.
    Calls(String, Vec<(String, Value)>),
    /// Calls a tool with arguments that are no JSON.
    Broken(String, String),
    /// Never answers.
    Hang,
    /// Refuses before anything was seen.
    Fault(ModelFault),
    /// Begins to answer, then fails.
    Cut(String, ModelFault),
    /// Begins to answer, then is silent for ever.
    Stall(String),
    /// Waits for a permit, then does the step.
    Held(Arc<Semaphore>, Box<Step>),
    /// Looks at the request first.
    Look(Box<dyn FnOnce(&Asked) -> Step + Send>),
    /// Checks the request first.
    Checked(Box<dyn FnOnce(&Asked) + Send>, Box<Step>),
}

impl Step {
    /// The words of an answer.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            Self::Say(text) => Some(text),
            Self::Held(_, step) | Self::Checked(_, step) => step.words(),
            _ => None,
        }
    }
}

/// Answers.
pub(crate) fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

/// Calls one tool.
pub(crate) fn call(tool: &str, arguments: Value) -> Step {
    Step::Calls(String::new(), vec![(tool.to_owned(), arguments)])
}

/// Calls several tools at once.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Step {
    let calls = calls
        .iter()
        .map(|(tool, arguments)| ((*tool).to_owned(), arguments.clone()));
    Step::Calls(String::new(), calls.collect())
}

/// Looks at the request first.
pub(crate) fn look(with: impl FnOnce(&Asked) -> Step + Send + 'static) -> Step {
    Step::Look(Box::new(with))
}

/// One request as the model saw it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Head and conversation.
    pub(crate) request: ModelRequest,
}

impl Asked {
    /// Everything in one text.
    pub(crate) fn text(&self) -> String {
        self.plain()
    }

    fn messages_text(&self) -> String {
        let lines = self.request.messages.iter().map(|message| match message {
            ModelMessage::System { text } | ModelMessage::User { text, .. } => text.clone(),
            ModelMessage::Assistant { text, calls, .. } => {
                let calls: Vec<&str> = calls.iter().map(|call| call.arguments.as_str()).collect();
                format!("{text}\n{}", calls.join("\n"))
            }
            ModelMessage::Tool { content, .. } => content.clone(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Text with line breaks as they are.
    pub(crate) fn plain(&self) -> String {
        format!("{}\n{}", self.request.system, self.messages_text())
    }

    /// The newest user message.
    pub(crate) fn last_user(&self) -> String {
        let found = self.request.messages.iter().rev().find_map(|message| {
            if let ModelMessage::User { text, .. } = message {
                Some(text.clone())
            } else {
                None
            }
        });
        found.unwrap_or_default()
    }

    /// Outcomes, oldest first.
    pub(crate) fn results(&self) -> Vec<String> {
        let found = self.request.messages.iter().filter_map(|message| {
            if let ModelMessage::Tool { content, .. } = message {
                Some(content.clone())
            } else {
                None
            }
        });
        found.collect()
    }

    /// The newest outcome.
    pub(crate) fn last_result(&self) -> String {
        self.results().pop().unwrap_or_default()
    }

    /// Host texts after the head.
    pub(crate) fn systems(&self) -> Vec<String> {
        let found = self.request.messages.iter().filter_map(|message| {
            if let ModelMessage::System { text } = message {
                Some(text.clone())
            } else {
                None
            }
        });
        found.collect()
    }

    /// The newest absolute path of a session `.md` that was told.
    pub(crate) fn md_path(&self) -> String {
        let all = self.plain();
        let end = all
            .rfind(".md")
            .and_then(|_| {
                let at = all.rfind("/.greenlight_plan_")?;
                all[at..].find(".md").map(|length| at + length + 3)
            })
            .expect("the path of the session .md was never told");
        let start = all[..end]
            .rfind(|c: char| c.is_whitespace() || "\"'`<>()".contains(c))
            .map_or(0, |at| at + 1);
        all[start..end].to_owned()
    }

    /// What is wrong with the request: calls without outcomes and outcomes without calls.
    fn faults(&self, secrets: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        let mut open: Vec<String> = Vec::new();
        for message in &self.request.messages {
            if let ModelMessage::Tool { call, .. } = message {
                let before = open.len();
                open.retain(|id| id != call.as_str());
                if open.len() == before {
                    found.push(format!("the outcome of {} has no call", call.as_str()));
                }
                continue;
            }
            for id in open.drain(..) {
                found.push(format!("the call {id} has no outcome"));
            }
            if let ModelMessage::Assistant { calls, .. } = message {
                open.extend(calls.iter().map(|call| call.id.as_str().to_owned()));
            }
        }
        for id in open {
            found.push(format!("the call {id} has no outcome"));
        }
        let all = self.plain();
        for secret in secrets
            .iter()
            .filter(|secret| all.contains(secret.as_str()))
        {
            found.push(format!("a model request holds the secret {secret}"));
        }
        found
    }
}

type Brain = Box<dyn FnMut(&Asked) -> Step + Send>;

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    brain: Option<Brain>,
    asked: Vec<Asked>,
    beyond: usize,
    last: String,
    calls: u64,
    failed: Vec<String>,
}

/// The script. Clones share it.
#[derive(Clone)]
pub(crate) struct Script {
    state: Arc<Mutex<State>>,
    changed: watch::Sender<u64>,
    window: u64,
}

impl Script {
    pub(crate) fn new(window: u64) -> Self {
        Self {
            state: Arc::default(),
            changed: watch::Sender::new(0),
            window,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds steps.
    pub(crate) fn then(&self, steps: impl IntoIterator<Item = Step>) {
        self.lock().steps.extend(steps);
    }

    /// Forgets the steps that were not reached.
    pub(crate) fn clear(&self) {
        self.lock().steps.clear();
    }

    /// Steps that were not reached.
    pub(crate) fn left(&self) -> usize {
        self.lock().steps.len()
    }

    /// What is done when there is no step.
    pub(crate) fn brain(&self, brain: impl FnMut(&Asked) -> Step + Send + 'static) {
        self.lock().brain = Some(Box::new(brain));
    }

    /// How many requests there were, the ones without tools included.
    pub(crate) fn count(&self) -> usize {
        self.lock().asked.len()
    }

    /// Every request with tools on offer.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        let mut asked = self.lock().asked.clone();
        asked.retain(|asked| !asked.request.tools.is_empty());
        asked
    }

    /// The newest of them.
    pub(crate) fn last(&self) -> Asked {
        self.asked().pop().expect("a request")
    }

    /// Requests that no step was written for.
    pub(crate) fn beyond(&self) -> usize {
        self.lock().beyond
    }

    /// Changes with every request.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// What is wrong with the requests.
    pub(crate) fn faults(&self, secrets: &[String]) -> Vec<String> {
        let state = self.lock();
        let all = state.asked.iter().flat_map(|asked| asked.faults(secrets));
        let mut found: Vec<String> = all.collect();
        found.dedup();
        found.truncate(20);
        found
    }

    fn next(&self, request: ModelRequest) -> Step {
        let asked = Asked { request };
        let mut state = self.lock();
        state.asked.push(asked.clone());
        if asked.request.tools.is_empty() {
            return say("The conversation so far, in short.");
        }
        let step = match state.steps.pop_front() {
            Some(step) => step,
            None => {
                if let Some(mut brain) = state.brain.take() {
                    let step = brain(&asked);
                    state.brain = Some(brain);
                    step
                } else {
                    state.beyond += 1;
                    Step::Say(state.last.clone())
                }
            }
        };
        if let Some(text) = step.words() {
            state.last = text.to_owned();
        }
        drop(state);
        self.changed.send_modify(|count| *count += 1);
        match step {
            Step::Look(with) => {
                let looked = std::panic::catch_unwind(AssertUnwindSafe(|| with(&asked)));
                looked.unwrap_or_else(|panic| self.fail(&*panic))
            }
            Step::Checked(with, step) => {
                match std::panic::catch_unwind(AssertUnwindSafe(|| with(&asked))) {
                    Ok(()) => *step,
                    Err(panic) => self.fail(&*panic),
                }
            }
            other => other,
        }
    }

    fn fail(&self, panic: &(dyn std::any::Any + Send)) -> Step {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        self.lock().failed.push(text.unwrap_or_default());
        self.changed.send_modify(|count| *count += 1);
        say("A look at the request failed.")
    }

    /// Assertions about requests that did not hold.
    pub(crate) fn failed(&self) -> Vec<String> {
        self.lock().failed.clone()
    }

    fn reply(&self, text: String, calls: Vec<(String, String)>) -> ModelReply {
        let mut state = self.lock();
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .map(|(name, arguments)| {
                state.calls += 1;
                ToolCall {
                    id: format!("call-{}", state.calls).as_str().into(),
                    name,
                    arguments,
                }
            })
            .collect();
        ModelReply {
            finish: if calls.is_empty() {
                FinishReason::Stop
            } else {
                FinishReason::ToolCalls
            },
            text,
            reasoning: None,
            calls,
            usage: Usage {
                input: 1200,
                cached: 1000,
                output: 40,
            },
        }
    }
}

fn whole(reply: ModelReply) -> ModelStream {
    let mut events = Vec::new();
    // In two pieces, as models stream.
    let half = reply
        .text
        .char_indices()
        .nth(reply.text.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    let (head, tail) = reply.text.split_at(half);
    for piece in [head, tail] {
        if !piece.is_empty() {
            events.push(Ok(ModelEvent::Text(piece.to_owned())));
        }
    }
    events.push(Ok(ModelEvent::End(reply)));
    futures::stream::iter(events).boxed()
}

fn perform(script: Script, step: Step) -> BoxFuture<'static, Result<ModelStream, ModelFault>> {
    Box::pin(async move {
        match step {
            Step::Say(text) => Ok(whole(script.reply(text, Vec::new()))),
            Step::Calls(text, calls) => {
                let calls = calls.into_iter();
                let calls = calls.map(|(name, arguments)| (name, arguments.to_string()));
                Ok(whole(script.reply(text, calls.collect())))
            }
            Step::Broken(name, arguments) => {
                Ok(whole(script.reply(String::new(), vec![(name, arguments)])))
            }
            Step::Hang => std::future::pending().await,
            Step::Fault(fault) => Err(fault),
            Step::Cut(text, fault) => {
                Ok(futures::stream::iter([Ok(ModelEvent::Text(text)), Err(fault)]).boxed())
            }
            Step::Stall(text) => Ok(futures::stream::iter([Ok(ModelEvent::Text(text))])
                .chain(futures::stream::pending())
                .boxed()),
            Step::Held(gate, step) => {
                if let Ok(permit) = gate.acquire().await {
                    permit.forget();
                }
                perform(script, *step).await
            }
            Step::Look(_) | Step::Checked(..) => {
                Ok(whole(script.reply("unreachable".to_owned(), Vec::new())))
            }
        }
    })
}

impl Model for Script {
    fn name(&self) -> String {
        "scripted".to_owned()
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn is_demo(&self) -> bool {
        false
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelFault>> {
        let step = self.next(request);
        perform(self.clone(), step)
    }
}
