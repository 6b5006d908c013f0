//! Lengths, splitting, Markdown to text and entities, redaction. Pure.
