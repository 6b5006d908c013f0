//! Logs to standard error. Every line passes a redactor, so that no secret reaches a log.

use std::io::Write;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Filter used without `RUST_LOG`.
const DEFAULT_FILTER: &str = "info,hyper=warn,reqwest=warn,sled=warn";

/// Takes secrets out of a line.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Starts logging: `RUST_LOG` filters, `json` gives one JSON object a line. A panic becomes one log
/// line too. A second call changes nothing.
pub fn init(redact: Redact, json: bool) {
    let filter =
        EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let writer = Redacting {
        redact,
        sink: || Box::new(std::io::stderr()),
    };
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false);
    let started = if json {
        builder.json().try_init()
    } else {
        builder.try_init()
    };
    if started.is_ok() {
        std::panic::set_hook(Box::new(report_panic));
    }
}

fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let reason = panic
        .payload()
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.payload().downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let location = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    tracing::error!(%location, %reason, "a panic was caught");
}

struct Redacting {
    redact: Redact,
    sink: fn() -> Box<dyn Write>,
}

struct Line {
    redact: Redact,
    sink: Box<dyn Write>,
}

impl<'a> MakeWriter<'a> for Redacting {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line {
            redact: Arc::clone(&self.redact),
            sink: (self.sink)(),
        }
    }
}

impl Write for Line {
    // The formatter hands over one whole event, so that a secret is never cut in two.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let clean = (self.redact)(&String::from_utf8_lossy(bytes));
        self.sink.write_all(clean.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static WRITTEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }

    struct Kept;

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            WRITTEN.with_borrow_mut(|written| written.extend_from_slice(bytes));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_secret_in_a_field_or_a_message_never_reaches_the_log() {
        for json in [false, true] {
            let writer = Redacting {
                redact: Arc::new(|line| line.replace("hunter2", "***")),
                sink: || Box::new(Kept),
            };
            let builder = tracing_subscriber::fmt().with_writer(writer);
            let work = || tracing::error!(url = "http://x/bothunter2/", "token hunter2");
            if json {
                tracing::subscriber::with_default(builder.json().finish(), work);
            } else {
                tracing::subscriber::with_default(builder.finish(), work);
            }
        }
        let text = WRITTEN.with_borrow(|written| String::from_utf8_lossy(written).into_owned());
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("token ***") && !text.contains("hunter2"));
    }
}
