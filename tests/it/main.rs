//! Integration tests: one binary, real sockets, names are sentences.

mod llm;
mod text;
