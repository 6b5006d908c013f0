//! The command line.

use std::process::ExitCode;

use greenlight::app::cli::{self, Outcome};

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        Outcome::Exit(code) => code,
        Outcome::Run(_) | Outcome::Playground(..) | Outcome::Sandbox(_) => ExitCode::FAILURE,
    }
}
