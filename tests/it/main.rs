//! Integration tests: one binary, real sockets, names are sentences.

mod flow;
#[cfg(feature = "llm-genai")]
mod llm;
mod text;
