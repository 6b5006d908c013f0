//! The command line.

use std::process::ExitCode;

use greenlight::tools::sandbox;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() == Some(sandbox::HELPER_WORD.as_ref()) {
        return sandbox::helper_main(arguments);
    }
    ExitCode::SUCCESS
}
