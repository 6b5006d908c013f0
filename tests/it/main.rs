//! Integration tests: one binary, real sockets, names are sentences.

mod flow;
mod inbound;
#[cfg(feature = "llm-genai")]
mod llm;
mod text;
