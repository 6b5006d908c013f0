//! Metrics: their names in one list, the recorder, and the levels that only the whole program knows.

use std::time::Duration;

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

/// Between two rounds of folding recorded durations into their buckets.
const UPKEEP: Duration = Duration::from_secs(5);

/// Kinds of metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// A level.
    Gauge,
    /// Durations in seconds, with these upper bounds of its buckets.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// Name as Prometheus reads it.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
    /// Labels; each has a fixed, small set of values.
    pub labels: &'static [&'static str],
    /// What it tells.
    pub help: &'static str,
}

/// Turns last from a second to an hour, the longest that is allowed.
const TURN_SECONDS: &[f64] = &[
    0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 45.0, 90.0, 180.0, 420.0, 900.0, 1800.0, 3600.0,
];

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        name,
        kind: Kind::Counter,
        labels,
        help,
    }
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric {
        name,
        kind: Kind::Gauge,
        labels: &[],
        help,
    }
}

/// Every metric of the program. Code, dashboard and notes name no other; tests compare.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    gauge("greenlight_sessions", "Known sessions"),
    gauge("greenlight_turns_running", "Turns that run now"),
    Metric {
        name: "greenlight_turn_seconds",
        kind: Kind::Histogram(TURN_SECONDS),
        labels: &[],
        help: "How long turns run",
    },
    counter("greenlight_model_requests_total", &["outcome"], "Model requests by outcome"),
    counter("greenlight_model_tokens_total", &["kind"], "Tokens read, cached and written"),
    counter("greenlight_tool_calls_total", &["tool"], "Tool calls by tool"),
    counter("greenlight_plans_approved_total", &[], "Plans that the owner approved"),
    gauge("greenlight_inbox_open", "Updates that are on disk and not yet done with"),
    gauge("greenlight_dead_letters", "Updates that were given up on"),
    gauge("greenlight_store_bytes", "Bytes of the database on disk"),
    gauge("greenlight_resident_bytes", "Memory of the process in RAM"),
    gauge("greenlight_start_time_seconds", "Unix time of the start"),
    counter("greenlight_http_requests_total", &["route", "status"], "Answers of the HTTP server"),
    counter("outbox_calls_total", &["method"], "Bot API calls by method"),
    gauge("outbox_queue_depth", "Calls that wait in the outbox"),
    counter("outbox_retries_total", &[], "Bot API calls that are tried again"),
    counter("outbox_refusals_total", &[], "Bot API calls that Telegram asked to wait with (429)"),
    counter("outbox_bad_request_total", &[], "Bot API calls that were refused for good"),
    counter("outbox_unknown_sends_total", &[], "Sends whose answer was lost"),
    counter("outbox_expired_total", &[], "Calls that were dropped because they came too late"),
];

/// The installed recorder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Metrics {
    handle: PrometheusHandle,
}

/// Starts recording for the whole process.
///
/// # Errors
/// If a recorder is installed already.
pub fn install() -> Result<Metrics, BuildError> {
    let handle = builder()?.install_recorder()?;
    describe();
    metrics::gauge!("greenlight_start_time_seconds").set(float(
        u64::try_from(chrono::Utc::now().timestamp()).unwrap_or_default(),
    ));
    Ok(Metrics { handle })
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    METRICS
        .iter()
        .try_fold(PrometheusBuilder::new(), |builder, metric| {
            match metric.kind {
                Kind::Histogram(bounds) => {
                    builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), bounds)
                }
                Kind::Counter | Kind::Gauge => Ok(builder),
            }
        })
}

fn describe() {
    for metric in METRICS {
        match metric.kind {
            Kind::Counter => metrics::describe_counter!(metric.name, metric.help),
            Kind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
            Kind::Histogram(_) => metrics::describe_histogram!(metric.name, metric.help),
        }
    }
}

impl Metrics {
    /// Everything recorded, as Prometheus text.
    #[must_use]
    pub fn render(&self) -> String {
        metrics::gauge!("greenlight_resident_bytes").set(float(resident_bytes()));
        self.handle.render()
    }

    /// Keeps the memory of histograms bounded until `cancel`.
    pub async fn upkeep(self, cancel: CancellationToken) {
        while cancel
            .run_until_cancelled(tokio::time::sleep(UPKEEP))
            .await
            .is_some()
        {
            self.handle.run_upkeep();
        }
    }
}

/// Levels that are told from time to time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Levels {
    /// Known sessions.
    pub sessions: u64,
    /// Turns that run now.
    pub turns_running: u64,
    /// Updates on disk that are not done with.
    pub inbox_open: u64,
    /// Updates that were given up on.
    pub dead_letters: u64,
    /// Bytes of the database on disk.
    pub store_bytes: u64,
}

impl Levels {
    /// Sets the gauges.
    pub fn report(self) {
        metrics::gauge!("greenlight_sessions").set(float(self.sessions));
        metrics::gauge!("greenlight_turns_running").set(float(self.turns_running));
        metrics::gauge!("greenlight_inbox_open").set(float(self.inbox_open));
        metrics::gauge!("greenlight_dead_letters").set(float(self.dead_letters));
        metrics::gauge!("greenlight_store_bytes").set(float(self.store_bytes));
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "levels stay far below 2^52, where a double is exact"
)]
fn float(value: u64) -> f64 {
    value as f64
}

/// Resident memory of this process; 0 where the system does not tell. Source: proc(5), `VmRSS` in KiB.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or_default()
        .saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use regex::Regex;

    use super::*;

    fn known(name: &str) -> bool {
        METRICS.iter().any(|metric| metric.name == name)
    }

    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_metric_that_the_code_records_is_in_the_list_with_its_kind() {
        let named = Regex::new(r#"metrics::(counter|gauge|histogram)!\(\s*"([^"]+)""#).unwrap();
        let mut files = Vec::new();
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut files,
        );
        let mut count = 0;
        for file in files {
            for found in named.captures_iter(&std::fs::read_to_string(&file).unwrap()) {
                count += 1;
                let metric = METRICS.iter().find(|metric| metric.name == &found[2]);
                let kind = metric.map(|metric| match metric.kind {
                    Kind::Counter => "counter",
                    Kind::Gauge => "gauge",
                    Kind::Histogram(_) => "histogram",
                });
                assert_eq!(kind, Some(&found[1]), "{}: {}", file.display(), &found[2]);
            }
        }
        assert!(count > 10);
    }

    #[test]
    fn every_metric_of_the_dashboard_is_in_the_list() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/grafana-dashboard.json");
        let text = std::fs::read_to_string(path).unwrap();
        let dashboard: serde_json::Value = serde_json::from_str(&text).unwrap();
        let name = Regex::new(r"\b(?:greenlight|outbox)_\w+").unwrap();
        let mut shown = 0;
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                for found in name.find_iter(target["expr"].as_str().unwrap()) {
                    let plain = found.as_str().trim_end_matches("_bucket");
                    assert!(known(plain), "{}: {plain}", panel["title"]);
                    shown += 1;
                }
            }
        }
        assert!(shown > 10);
    }

    #[test]
    fn the_notes_list_every_metric_with_its_labels() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/NOTES.md");
        let notes = std::fs::read_to_string(path).unwrap();
        for metric in METRICS {
            let labels = if metric.labels.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", metric.labels.join(","))
            };
            let row = format!("| `{}{labels}` | {} |", metric.name, metric.help);
            assert!(notes.lines().any(|line| line == row), "{row}");
        }
    }

    #[test]
    fn names_follow_the_custom() {
        for metric in METRICS {
            let total = metric.name.ends_with("_total");
            assert_eq!(total, metric.kind == Kind::Counter, "{}", metric.name);
            assert_eq!(
                METRICS.iter().filter(|one| one.name == metric.name).count(),
                1
            );
        }
    }

    #[test]
    fn levels_and_durations_are_rendered() {
        let recorder = builder().unwrap().build_recorder();
        let metrics = Metrics {
            handle: recorder.handle(),
        };
        let text = metrics::with_local_recorder(&recorder, || {
            describe();
            Levels {
                sessions: 3,
                turns_running: 2,
                ..Levels::default()
            }
            .report();
            metrics::histogram!("greenlight_turn_seconds").record(12.0);
            metrics.render()
        });
        for line in [
            "# HELP greenlight_sessions Known sessions",
            "# TYPE greenlight_turn_seconds histogram",
            "greenlight_sessions 3",
            "greenlight_turns_running 2",
            "greenlight_turn_seconds_bucket{le=\"10\"} 0",
            "greenlight_turn_seconds_bucket{le=\"20\"} 1",
            "greenlight_turn_seconds_count 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in\n{text}");
        }
        assert!(text.contains("\ngreenlight_resident_bytes "));
    }
}
