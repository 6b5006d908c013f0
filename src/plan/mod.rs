//! The plan machine: states, template, checklist, evidence, revise, gate, context message. Pure; files
//! only in `plan::store`.

pub mod draft;
pub mod gate;
pub mod import;
pub mod legacy;
pub mod lifecycle;
pub mod model;
pub mod ops;
pub mod revise;
pub mod seed;
pub mod store;
pub mod template;
pub mod tool;
pub mod view;
