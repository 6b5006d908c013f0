//! Bot API to domain and back.
