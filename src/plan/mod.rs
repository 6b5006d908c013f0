//! The plan machine: states, template, checklist, evidence, revise, gate, context message. Pure; files
//! only in `plan::store`.

pub mod canonical;
pub mod context;
pub mod context_parse;
pub mod evidence;
pub mod gate;
pub mod meaningful;
pub mod model;
pub mod reminder;
pub mod signals;
pub mod view;
