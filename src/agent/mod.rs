//! The turn machine: step, budgets, recovery, context, compaction, hints. Pure.

pub mod hints;
