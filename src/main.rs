//! The command line.

use std::process::ExitCode;

use greenlight::app::{self, cli};

fn main() -> ExitCode {
    match cli::start(std::env::args_os()) {
        cli::Outcome::Exit(code) => code,
        cli::Outcome::Sandbox(arguments) => greenlight::tools::sandbox::helper_main(arguments),
        cli::Outcome::Run(started) => app::main_run(*started),
        cli::Outcome::Playground(started, arguments) => app::main_playground(*started, arguments),
    }
}
