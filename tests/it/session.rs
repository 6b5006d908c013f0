//! What a person and a model see of a session, over real sockets.

#[path = "session/agents.rs"]
mod agents;
#[path = "session/planned.rs"]
mod planned;
#[path = "session/surroundings.rs"]
mod surroundings;
