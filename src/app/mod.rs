//! Wiring and life cycle of the process.
