//! Calls a model, parses its stream, classifies its errors.
