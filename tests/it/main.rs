//! Integration tests through real files, processes and sockets.

mod tools;
