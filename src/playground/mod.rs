//! A strict local Bot API, a chat page and a demo model: the product without a token.
