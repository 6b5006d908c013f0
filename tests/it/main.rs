//! The whole product over real sockets.

mod inbound;
