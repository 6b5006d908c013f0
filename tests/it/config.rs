//! The command line and the files that are written from the key table.

use std::path::Path;
use std::process::{Command, Output};

use greenlight::config;

fn greenlight(home: &Path, arguments: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_greenlight"))
        .args(arguments)
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GREENLIGHT_HOME", home.join("data"))
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn repository(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn every_fault_of_the_settings_is_one_line_in_the_users_language() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("greenlight.toml");
    std::fs::write(&file, "[telegram]\nowner = 5\n").unwrap();
    for (language, word) in [
        ("en", "did you mean"),
        ("ru", "может быть"),
        ("ar", "هل تقصد"),
    ] {
        let output = greenlight(home.path(), &["run"], &[("GREENLIGHT_LANGUAGE", language)]);
        let text = stderr(&output);
        assert!(!output.status.success());
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains(word) && text.contains("greenlight.toml:2"),
            "{text}"
        );
        assert!(text.contains("telegram.owner_id"), "{text}");
    }
}

#[test]
fn without_a_token_the_bot_says_where_to_get_one() {
    let home = tempfile::tempdir().unwrap();
    let output = greenlight(home.path(), &[], &[]);
    let text = stderr(&output);
    assert!(!output.status.success());
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains("TELOXIDE_TOKEN") && text.contains("@BotFather"),
        "{text}"
    );
}

#[test]
fn a_missing_workspace_is_named() {
    let home = tempfile::tempdir().unwrap();
    let token = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8";
    let env = [
        ("TELOXIDE_TOKEN", token),
        ("GREENLIGHT_WORKSPACE", "/no/such/place"),
    ];
    let text = stderr(&greenlight(home.path(), &["run"], &env));
    assert!(
        text.contains("/no/such/place") && text.contains("workspace.dir"),
        "{text}"
    );
    assert!(!text.contains(token));
}

#[test]
fn an_unknown_flag_is_one_line_and_help_names_every_setting() {
    let home = tempfile::tempdir().unwrap();
    let output = greenlight(home.path(), &["--workspce", "x"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output).lines().count(), 1);
    let help = stdout(&greenlight(home.path(), &["--help"], &[]));
    for key in config::KEYS.iter().filter(|key| !key.kind.is_secret()) {
        assert!(
            help.contains(
                key.doc
                    .split(';')
                    .next()
                    .unwrap()
                    .split(' ')
                    .next()
                    .unwrap()
            )
        );
    }
    assert!(help.contains("--telegram-owner-id") && help.contains("--workspace"));
    let version = stdout(&greenlight(home.path(), &["--version"], &[]));
    assert_eq!(
        version.trim(),
        concat!("greenlight ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_are_written_for_every_shell() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = greenlight(home.path(), &["completions", shell], &[]);
        assert!(
            output.status.success() && stdout(&output).contains("playground"),
            "{shell}"
        );
    }
}

#[test]
fn doctor_fails_without_a_token_and_shows_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let env = [
        ("GREENLIGHT_MODEL", "openai/x"),
        ("GREENLIGHT_MODEL_BASE_URL", "http://127.0.0.1:9/v1/"),
        ("GREENLIGHT_MODEL_API_KEY", "sk-very-secret"),
    ];
    let output = greenlight(home.path(), &["doctor"], &env);
    let text = stdout(&output);
    assert!(!output.status.success());
    assert!(
        text.contains("✗") && text.contains("model.base_url"),
        "{text}"
    );
    assert!(!text.contains("very-secret"), "{text}");
}

#[test]
fn plans_are_read_from_their_files() {
    let home = tempfile::tempdir().unwrap();
    let session = home.path().join("data/session");
    std::fs::create_dir_all(&session).unwrap();
    let empty = greenlight(home.path(), &["plan", "list"], &[]);
    assert!(empty.status.success() && stdout(&empty).contains("no plans"));
    let plan = serde_json::json!({
        "id": "p", "session_id": "s1", "title": "Mend the door", "status": "Active",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "tasks": [{"id": "t1", "title": "Oil it", "status": "Completed"}, {"id": "t2", "title": "Close it"}],
    });
    std::fs::write(session.join(".greenlight_plan_s1.json"), plan.to_string()).unwrap();
    let shown = stdout(&greenlight(
        home.path(),
        &["plan", "show", "--session", "s1"],
        &[],
    ));
    assert_eq!(
        shown,
        "s1 · Active · 1/2 · Mend the door\n☑ t1 Oil it\n☐ t2 Close it\n"
    );
    assert!(
        greenlight(home.path(), &["plan", "validate"], &[])
            .status
            .success()
    );
    std::fs::write(session.join(".greenlight_plan_s2.json"), "{").unwrap();
    let damaged = greenlight(home.path(), &["plan", "validate"], &[]);
    assert!(!damaged.status.success() && stdout(&damaged).contains("damaged"));
    let unknown = greenlight(home.path(), &["plan", "show", "--session", "nope"], &[]);
    assert!(!unknown.status.success() && stderr(&unknown).contains("nope"));
}

#[test]
fn the_example_file_is_the_one_the_types_give() {
    assert!(
        repository("deploy/greenlight.example.toml") == config::example(),
        "write it anew: cargo run -- example > deploy/greenlight.example.toml"
    );
}

#[test]
fn the_reference_in_the_readme_is_the_one_the_types_give() {
    let readme = repository("README.md");
    let (_, rest) = readme.split_once("<!-- settings -->\n").unwrap();
    let (table, _) = rest.split_once("<!-- /settings -->").unwrap();
    assert!(
        table.trim() == config::reference().trim(),
        "it should be:\n{}",
        config::reference()
    );
}

/// Runs a tool on a file of `deploy`; `None`, said loudly, if the tool is missing.
fn tool(program: &str, arguments: &[&str]) -> Option<Output> {
    match Command::new(program)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("TELOXIDE_TOKEN", "x")
        .env("GREENLIGHT_HTTP_TOKEN", "x")
        .output()
    {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: {program} is missing ({error})");
            None
        }
    }
}

#[test]
fn every_file_of_deploy_is_read_by_its_own_tool_where_that_exists() {
    if let Some(output) = tool(
        "systemd-analyze",
        &["verify", "--man=no", "deploy/greenlight.service"],
    ) {
        // The program is not installed where tests run; everything else is a fault.
        let text = stderr(&output);
        let faults: Vec<&str> = text
            .lines()
            .filter(|line| {
                line.contains("greenlight.service") && !line.contains("is not executable")
            })
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
    if tool("docker", &["compose", "version"]).is_some_and(|output| output.status.success()) {
        let output = tool(
            "docker",
            &["compose", "-f", "deploy/compose.yaml", "config", "-q"],
        )
        .unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    if let Some(output) = tool(
        "caddy",
        &[
            "validate",
            "--adapter",
            "caddyfile",
            "--config",
            "deploy/Caddyfile",
        ],
    ) {
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let dashboard: serde_json::Value =
        serde_json::from_str(&repository("deploy/grafana-dashboard.json")).unwrap();
    assert!(
        dashboard["panels"]
            .as_array()
            .is_some_and(|panels| !panels.is_empty())
    );
    let dockerfile = repository("deploy/Dockerfile");
    let user = dockerfile.lines().rfind(|line| line.starts_with("USER "));
    assert_eq!(user, Some("USER greenlight"));
}
