//! Integration tests: one binary, real sockets, names are sentences.

#[cfg(feature = "llm-genai")]
mod llm;
mod text;
