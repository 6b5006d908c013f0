//! Tests of the loader.

use std::path::Path;

use secrecy::ExposeSecret;

use super::*;
use crate::domain::{ApprovalLevel, ChatId, UserId};

const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8";

fn with(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    if !file.is_empty() {
        std::fs::write(dir.path().join(FILE_NAME), file).unwrap();
    }
    let flags = Flags {
        values: flags
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        ..Flags::default()
    };
    let lookup = |name: &str| {
        env.iter()
            .chain(&[("HOME", "/home/olga")])
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    load(&flags, lookup, dir.path())
}

fn fault(result: Result<Settings, ConfigError>) -> (String, Vec<(String, String)>) {
    let fault = result.unwrap_err().0;
    (fault.key, fault.arguments)
}

fn argument(arguments: &[(String, String)], name: &str) -> String {
    arguments
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.clone())
        .unwrap_or_default()
}

#[test]
fn nothing_configured_gives_the_defaults_of_the_types() {
    let settings = with("", &[], &[]).unwrap();
    assert_eq!(
        settings.home,
        Path::new("/home/olga/.local/share/greenlight")
    );
    assert_eq!(settings.language, "en");
    assert_eq!(settings.telegram.api_url, "https://api.telegram.org");
    assert!(settings.telegram.token.is_none());
    assert!(settings.model.is_none());
    assert_eq!(settings.budgets, Budgets::default());
    assert_eq!(settings.telegram.limits, TelegramLimits::default());
    assert_eq!(settings.plan.max_tasks, PlanSettings::default().max_tasks);
    assert!(settings.plan.enabled && !settings.plan.pinned);
    assert_eq!(settings.approvals, ApprovalLevel::Ask);
    assert_eq!(
        settings.plan.legacy_dirs,
        [
            Path::new("/home/olga/.opencrabs/agents/session"),
            Path::new("/home/olga/.opencrabs/session")
        ]
    );
}

#[test]
fn every_fixed_environment_name_is_read() {
    let env = [
        ("GREENLIGHT_HOME", "/data"),
        ("TELOXIDE_TOKEN", TOKEN),
        ("GREENLIGHT_TELEGRAM_API_URL", "http://127.0.0.1:8081/"),
        ("GREENLIGHT_TELEGRAM_OWNER_ID", "42"),
        ("GREENLIGHT_TELEGRAM_MEMBERS", "7, 8"),
        ("GREENLIGHT_TELEGRAM_GROUPS", "-1001,-1002"),
        ("GREENLIGHT_MODEL", "openai/scripted"),
        ("GREENLIGHT_MODEL_BASE_URL", "http://127.0.0.1:9000/v1"),
        ("GREENLIGHT_MODEL_API_KEY", "sk-test"),
        ("GREENLIGHT_MODEL_CONTEXT", "32000"),
        ("GREENLIGHT_WORKSPACE", "/srv/project"),
        ("GREENLIGHT_APPROVALS", "auto"),
        ("GREENLIGHT_HTTP_BIND", "127.0.0.1:8080"),
        ("GREENLIGHT_HTTP_TOKEN", "bearer"),
        ("GREENLIGHT_PLANNING", "false"),
        ("GREENLIGHT_PLAN_MAX_TASKS", "9999"),
        ("GREENLIGHT_PLAN_MAX_RENDER_CHARS", "1"),
        ("GREENLIGHT_LANGUAGE", "ru"),
    ];
    let settings = with("", &env, &[]).unwrap();
    let model = settings.model.as_ref().unwrap();
    assert_eq!(settings.home, Path::new("/data"));
    assert_eq!(
        settings.telegram.token.as_ref().unwrap().expose_secret(),
        TOKEN
    );
    assert_eq!(settings.telegram.api_url, "http://127.0.0.1:8081");
    assert_eq!(settings.telegram.owner, Some(UserId(42)));
    assert_eq!(settings.telegram.members, [UserId(7), UserId(8)]);
    let group = &settings.telegram.groups[&ChatId(-1001)];
    assert_eq!((group.respond, group.members.len()), (Respond::Mention, 0));
    assert_eq!(settings.telegram.groups.len(), 2);
    assert_eq!(
        (model.adapter, model.name.as_str()),
        (Adapter::Openai, "scripted")
    );
    assert_eq!(model.base_url.as_deref(), Some("http://127.0.0.1:9000/v1/"));
    assert_eq!(model.context_tokens, 32_000);
    assert_eq!(settings.workspace, Path::new("/srv/project"));
    assert_eq!(settings.approvals, ApprovalLevel::Auto);
    assert_eq!(settings.http.bind.unwrap().port(), 8080);
    assert!(!settings.plan.enabled && settings.plan.pinned);
    assert_eq!(
        (settings.plan.max_tasks, settings.plan.max_render_chars),
        (200, 200)
    );
    assert_eq!(settings.language, "ru");
    assert_eq!(secrets(&settings), [TOKEN, "bearer", "sk-test"]);
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let file = "language = \"de\"\n[approvals]\nlevel = \"yolo\"\n[budgets]\ncalls = 5\n";
    let env = [
        ("GREENLIGHT_LANGUAGE", "fr"),
        ("GREENLIGHT_APPROVALS", "auto"),
    ];
    let settings = with(file, &env, &[("language", "tr")]).unwrap();
    assert_eq!(settings.language, "tr");
    assert_eq!(settings.approvals, ApprovalLevel::Auto);
    assert_eq!(settings.budgets.calls, 5);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_key() {
    let (key, arguments) = fault(with("\n[telegram]\nownerid = 5\n", &[], &[]));
    assert_eq!(key, "config-unknown-key-near");
    assert!(argument(&arguments, "place").ends_with("greenlight.toml:3"));
    assert_eq!(argument(&arguments, "key"), "telegram.ownerid");
    assert_eq!(argument(&arguments, "near"), "telegram.owner_id");
}

#[test]
fn an_unknown_key_like_nothing_is_named_alone() {
    let (key, _) = fault(with("zzzzqqqq = 1\n", &[], &[]));
    assert_eq!(key, "config-unknown-key");
}

#[test]
fn a_typing_error_inside_a_group_is_found_too() {
    let (key, arguments) = fault(with("[telegram.groups.-100]\nrespnd = \"all\"\n", &[], &[]));
    assert_eq!(key, "config-unknown-key-near");
    assert_eq!(argument(&arguments, "near"), "respond");
}

#[test]
fn wrong_values_name_place_and_key_but_never_the_value() {
    type Case = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
    );
    let cases: &[Case] = &[
        ("[telegram]\ntoken = \"hunter2\"\n", &[], "config-bad-token"),
        ("", &[("TELOXIDE_TOKEN", "hunter2")], "config-bad-token"),
        ("", &[("GREENLIGHT_MODEL", "hunter2/x")], "config-bad-model"),
        (
            "",
            &[("GREENLIGHT_MODEL_BASE_URL", "hunter2")],
            "config-bad-url",
        ),
        (
            "",
            &[("GREENLIGHT_TELEGRAM_API_URL", "http://h/bot1:hunter2")],
            "config-bad-api-url",
        ),
        (
            "",
            &[("GREENLIGHT_TELEGRAM_OWNER_ID", "hunter2")],
            "config-bad-user-id",
        ),
        (
            "",
            &[("GREENLIGHT_TELEGRAM_GROUPS", "12")],
            "config-bad-group-id",
        ),
        (
            "",
            &[("GREENLIGHT_APPROVALS", "hunter2")],
            "config-bad-choice",
        ),
        (
            "",
            &[("GREENLIGHT_HTTP_BIND", "hunter2")],
            "config-bad-address",
        ),
        ("", &[("GREENLIGHT_PLANNING", "hunter2")], "config-bad-bool"),
        (
            "",
            &[("GREENLIGHT_BUDGETS_CALLS", "0")],
            "config-bad-integer",
        ),
        ("[plan]\nenabled = \"no\"\n", &[], "config-bad-bool"),
        ("plan = 3\n", &[], "config-bad-section"),
        ("[plan\n", &[], "config-syntax"),
    ];
    for (file, env, expected) in cases {
        let (key, arguments) = fault(with(file, env, &[]));
        assert_eq!(&key, expected, "{file}{env:?}");
        assert!(
            !format!("{arguments:?}").contains("hunter2"),
            "{arguments:?}"
        );
        assert!(!argument(&arguments, "place").is_empty());
    }
}

#[test]
fn a_webhook_needs_its_secret_and_an_address_to_listen_on() {
    let url = "[telegram.webhook]\nurl = \"https://bot.example/hook\"\n";
    assert_eq!(fault(with(url, &[], &[])).0, "config-bad-webhook-secret");
    let secret = [("GREENLIGHT_TELEGRAM_WEBHOOK_SECRET", "abc_DEF-1")];
    assert_eq!(
        fault(with(url, &secret, &[])).0,
        "config-webhook-without-http"
    );
}

#[test]
fn a_named_file_must_exist() {
    let flags = Flags {
        config: Some("missing.toml".into()),
        ..Flags::default()
    };
    let result = load(&flags, |_| None, Path::new("/nowhere"));
    assert_eq!(fault(result).0, "config-no-file");
}

#[test]
fn fallbacks_share_address_and_key_only_within_their_adapter() {
    let file = "[model]\nname = \"openai/a\"\nbase_url = \"http://one/v1\"\napi_key = \"k\"\n\
                fallback = [\"openai/b\", \"anthropic/c\", { name = \"openai/d\", base_url = \"http://two\" }]\n";
    let fallback = with(file, &[], &[]).unwrap().fallback;
    let seen: Vec<_> = fallback
        .iter()
        .map(|model| {
            (
                model.name.as_str(),
                model.base_url.as_deref(),
                model.api_key.is_some(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("b", Some("http://one/v1/"), true),
            ("c", None, false),
            ("d", Some("http://two/"), false)
        ]
    );
}

#[test]
fn a_project_may_only_narrow() {
    let dir = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(dir.path().join(PROJECT_FILE), text).unwrap();
    let base = with("", &[], &[]).unwrap();
    write(
        "[plan]\nenabled = false\nmax_tasks = 10\nmax_render_chars = 8000\n[budgets]\ncalls = 9999\nday_tokens = 7\n[approvals]\nlevel = \"yolo\"\n[tools]\ndisabled = [\"bash\"]\nsandbox = \"off\"\n",
    );
    let narrowed = narrow(&base, dir.path()).unwrap();
    assert!(!narrowed.plan.enabled);
    assert_eq!((narrowed.plan.max_tasks, narrowed.budgets.calls), (10, 200));
    assert_eq!(narrowed.budgets.day_tokens, 7);
    assert_eq!(narrowed.approvals, ApprovalLevel::Ask);
    assert_eq!(narrowed.tools.disabled, ["bash"]);
    assert_eq!(narrowed.tools.sandbox, SandboxMode::Workspace);

    let pinned = with("", &[("GREENLIGHT_PLANNING", "true")], &[]).unwrap();
    assert!(narrow(&pinned, dir.path()).unwrap().plan.enabled);

    write("[http]\nbind = \"0.0.0.0:1\"\n");
    assert_eq!(
        fault(narrow(&base, dir.path())).0,
        "config-project-forbidden"
    );
}

#[test]
fn a_changed_key_is_sorted_by_what_it_needs() {
    let old = with("", &[("GREENLIGHT_WORKSPACE", "/w")], &[]).unwrap();
    let env = [
        ("GREENLIGHT_TELEGRAM_MEMBERS", "5"),
        ("GREENLIGHT_HTTP_BIND", "127.0.0.1:1"),
        ("GREENLIGHT_LANGUAGE", "ru"),
        ("GREENLIGHT_WORKSPACE", "/w"),
    ];
    let new = with("", &env, &[]).unwrap();
    assert_eq!(
        diff(&old, &new),
        Reload {
            applied: vec!["language", "telegram.members"],
            restart: vec!["http.bind"]
        }
    );
    assert_eq!(diff(&new, &reloaded(&old, &new)).restart, ["http.bind"]);
    assert!(diff(&new, &reloaded(&old, &new)).applied.is_empty());
}

#[test]
fn the_example_is_valid_with_every_line_taken_in() {
    let open: String = example()
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    with(&open, &[("GREENLIGHT_TELEGRAM_WEBHOOK_SECRET", "s")], &[]).unwrap();
    for key in KEYS {
        let name = key.name.rsplit('.').next().unwrap();
        assert!(open.contains(&format!("{name} = ")), "{}", key.name);
    }
}

#[test]
fn every_key_is_shown_and_secrets_are_not() {
    let env = [("TELOXIDE_TOKEN", TOKEN), ("GREENLIGHT_MODEL", "demo/demo")];
    let settings = with("", &env, &[]).unwrap();
    let shown = shown(&settings);
    assert_eq!(shown.len(), KEYS.len());
    assert!(shown.iter().all(|(_, text)| !text.contains("AAHdq")));
    assert!(
        shown
            .iter()
            .any(|(key, text)| key.name == "telegram.token" && text == "***")
    );
    for (key, text) in shown {
        let optional = key.default.is_empty();
        assert!(optional || !text.is_empty(), "{} has no text", key.name);
    }
}
