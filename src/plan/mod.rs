//! The plan machine: states, template, checklist, evidence, revise, gate, context message. Pure; files
//! only in `plan::store`.

pub mod canonical;
pub mod context;
pub mod context_parse;
pub mod draft;
pub mod evidence;
pub mod gate;
pub mod import;
pub mod legacy;
pub mod lifecycle;
pub mod meaningful;
pub mod model;
pub mod ops;
pub mod reminder;
pub mod revise;
pub mod seed;
pub mod signals;
pub mod store;
pub mod template;
pub mod tool;
pub mod view;
