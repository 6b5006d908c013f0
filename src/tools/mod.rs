//! Runs one permitted call.
