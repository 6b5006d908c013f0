//! Secrets out of everything that is shown, logged or given to a model.

use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex, RegexSet, RegexSetBuilder};

/// What stands in place of a secret.
pub const MARK: &str = "[redacted]";
/// Shorter known secrets are not looked for, or common words would vanish.
const MIN_SECRET: usize = 6;

/// Bytes that the automaton's tables may take on each thread.
const DFA_BYTES: usize = 512 * 1024;

/// Shapes of secrets. A group named `k` is what is hidden; without it the whole match is.
const SHAPES: &[&str] = &[
    // PEM private keys, also cut off before their end.
    r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
    // Provider keys: OpenAI, Anthropic, OpenRouter and those that copied the form.
    r"(?-u:\b)sk-[A-Za-z0-9_-]{16,}",
    // Google, Groq, xAI, Hugging Face, Replicate, Perplexity.
    r"(?-u:\b)AIza[0-9A-Za-z_-]{30,}",
    r"(?-u:\b)(?:gsk|xai|hf|r8|pplx)[_-][A-Za-z0-9]{20,}",
    // GitHub and GitLab.
    r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{20,}",
    r"(?-u:\b)github_pat_[A-Za-z0-9_]{20,}",
    r"(?-u:\b)glpat-[A-Za-z0-9_-]{16,}",
    // AWS key ids, and the secret key where it is named.
    r"(?-u:\b)(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}(?-u:\b)",
    r#"(?i)aws_?secret_?(?:access_?)?key["']?\s*[:=]\s*["']?(?<k>[A-Za-z0-9/+=]{30,})"#,
    // JSON Web Tokens.
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    // Slack tokens and hooks.
    r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?-u:\b)xapp-[A-Za-z0-9-]{10,}",
    r"hooks\.slack\.com/services/(?<k>[A-Za-z0-9/_-]+)",
    // Stripe.
    r"(?-u:\b)(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?-u:\b)whsec_[A-Za-z0-9]{16,}",
    // npm, PyPI, SendGrid, Docker.
    r"(?-u:\b)npm_[A-Za-z0-9]{30,}",
    r"(?-u:\b)pypi-[A-Za-z0-9_-]{30,}",
    r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)dckr_pat_[A-Za-z0-9_-]{20,}",
    // Telegram bot tokens.
    r"(?-u:\b)(?:bot)?[0-9]{6,12}:[A-Za-z0-9_-]{30,}",
    // Passwords in addresses, of databases above all.
    r"(?-u:\b)[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'\x22<>]*:(?<k>[^\s/@'\x22<>]+)@",
    // Authorization headers.
    r"(?i)(?-u:\b)bearer\s+(?<k>[A-Za-z0-9._~+/=-]{12,})",
    r"(?i)(?-u:\b)authorization:\s*basic\s+(?<k>[A-Za-z0-9+/=]{8,})",
    r#"(?i)(?-u:\b)(?:x-api-key|api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|passwd|password)["']?\s*[:=]\s*["'](?<k>[^"'\s]{8,})["']"#,
];

/// All shapes in one automaton, which tells in one pass which of them a text has. Word boundaries count
/// ASCII only, because those of Unicode cannot be decided in one pass.
static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSetBuilder::new(SHAPES)
        .dfa_size_limit(DFA_BYTES)
        .build()
        .ok()
});

/// The shapes one by one, each made when a text has it for the first time.
static SINGLE: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| SHAPES.iter().map(|_| OnceLock::new()).collect());

/// The shapes that a text has, in their order.
fn shapes(text: &str) -> Vec<&'static Regex> {
    let Some(set) = SET.as_ref() else {
        return Vec::new();
    };
    let found = set.matches(text);
    SHAPES
        .iter()
        .zip(SINGLE.iter())
        .enumerate()
        .filter(|(index, _)| found.matched(*index))
        .filter_map(|(_, (shape, single))| single.get_or_init(|| Regex::new(shape).ok()).as_ref())
        .collect()
}

/// Hides known secrets and everything that has the shape of one.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

impl Redactor {
    /// A redactor that also knows `secrets` literally. Those under six bytes are ignored.
    #[must_use]
    pub fn new(secrets: Vec<String>) -> Self {
        let mut secrets: Vec<String> = secrets
            .into_iter()
            .map(|secret| secret.trim().to_owned())
            .filter(|secret| secret.len() >= MIN_SECRET)
            // A token in an address may have its colon encoded.
            .flat_map(|secret| {
                let encoded = [secret.replace(':', "%3A"), secret.replace(':', "%3a")];
                encoded.into_iter().chain([secret])
            })
            .collect();
        // The longest first: a secret may contain another one.
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// `text` with every secret replaced by [`MARK`]. Doing it twice changes nothing more. A stream must
    /// be redacted as the whole text so far, since a secret may arrive in pieces.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut safe = text.to_owned();
        for secret in &self.secrets {
            if safe.contains(secret.as_str()) {
                safe = safe.replace(secret.as_str(), MARK);
            }
        }
        for shape in shapes(&safe) {
            safe = shape.replace_all(&safe, hide).into_owned();
        }
        safe
    }
}

fn hide(found: &Captures<'_>) -> String {
    let whole = found.get(0).map_or("", |all| all.as_str());
    let Some(key) = found.name("k") else {
        return MARK.to_owned();
    };
    if key.as_str() == MARK {
        return whole.to_owned();
    }
    let start = found.get(0).map_or(0, |all| all.start());
    let before = whole.get(..key.start() - start).unwrap_or_default();
    let after = whole.get(key.end() - start..).unwrap_or_default();
    format!("{before}{MARK}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        assert!(SET.is_some());
        assert!(SHAPES.iter().all(|shape| Regex::new(shape).is_ok()));
    }

    #[test]
    fn shapes_of_secrets_are_hidden() {
        let letters = "aB3".repeat(12);
        for (text, left) in [
            (
                format!("key sk-{letters} end"),
                "key [redacted] end".to_owned(),
            ),
            (format!("ghp_{letters}"), MARK.into()),
            ("AKIAIOSFODNN7EXAMPLE".into(), MARK.into()),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nx".into(),
                "[redacted]\nx".into(),
            ),
            ("-----BEGIN PRIVATE KEY-----\nMIIE".into(), MARK.into()),
            (format!("eyJ{letters}.{letters}.{letters}"), MARK.into()),
            ("xoxb-1234567890-abc".into(), MARK.into()),
            (format!("sk_live_{letters}"), MARK.into()),
            (
                format!("https://api/bot123456789:{letters}/x"),
                "https://api/[redacted]/x".into(),
            ),
            (
                "postgres://user:p4ss@db/x".into(),
                "postgres://user:[redacted]@db/x".into(),
            ),
            ("redis://:p4ss@db".into(), "redis://:[redacted]@db".into()),
            (
                format!("Authorization: Bearer {letters}"),
                "Authorization: Bearer [redacted]".into(),
            ),
            (
                "\"password\": \"hunter2hunter2\"".into(),
                "\"password\": \"[redacted]\"".into(),
            ),
        ] {
            let redactor = Redactor::default();
            let once = redactor.redact(&text);
            assert_eq!(once, left, "{text}");
            assert_eq!(redactor.redact(&once), left, "twice: {text}");
        }
    }

    #[test]
    fn ordinary_text_stays() {
        for text in [
            "task-sk-ill and the risk-averse",
            "let password = prompt()?;",
            "http://localhost:3000/a@b",
            "12:30 and 1234567:short",
            "bearer of news",
            "std::io::Read",
        ] {
            assert_eq!(Redactor::default().redact(text), text);
        }
    }

    #[test]
    fn known_secrets_are_hidden_literally_and_never_printed() {
        let redactor = Redactor::new(vec!["s3cr3t".into(), "s3cr3t-long".into(), "abc".into()]);
        assert_eq!(
            redactor.redact("s3cr3t-long s3cr3t abc"),
            "[redacted] [redacted] abc"
        );
        assert!(!format!("{redactor:?}").contains("s3cr3t"));
        let token = Redactor::new(vec!["12345:abcdef".into()]);
        assert_eq!(token.redact("/bot12345%3Aabcdef/x"), "/bot[redacted]/x");
    }
}
