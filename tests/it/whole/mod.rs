//! The whole bot over sockets: what a person says, taps and sees, with a scripted model behind it.

mod basics;
mod corpus;
mod crash;
mod design;
mod plans;
mod process;
mod shapes;
mod snapshots;
mod soak;
mod talk;
mod track;
