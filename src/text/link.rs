//! Which addresses may become links.

/// Longest address that is sent as a link, in bytes.
const MAX_BYTES: usize = 2048;

/// The address to put into a text link, or `None` when Telegram would refuse it or it is not http,
/// https or tg. Telegram refuses hosts without a dot, and a user part only serves deception.
///
/// `mailto:` is not in the list: Telegram turns such a link into a web address, while a bare mail
/// address in the text becomes tappable by itself (see [`mail_address`]).
#[must_use]
pub fn checked(address: &str) -> Option<String> {
    let address = address.trim();
    if address.len() > MAX_BYTES || address.chars().any(char::is_control) {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let valid = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => is_host(authority),
        "tg" => {
            !authority.is_empty()
                && authority
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        }
        _ => false,
    };
    valid.then(|| address.replace(' ', "%20"))
}

/// The bare address of a `mailto:` link.
#[must_use]
pub fn mail_address(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once(':')?;
    let bare = rest.split('?').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("mailto") && bare.contains('@')).then_some(bare)
}

fn is_host(authority: &str) -> bool {
    let (host, port) = authority
        .split_once(':')
        .map_or((authority, None), |(host, port)| (host, Some(port)));
    let port_is_valid = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0));
    port_is_valid
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
        && host.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || matches!(c, '.' | '-' | '_')
                || (!c.is_ascii() && c.is_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_telegram_takes_become_links() {
        for good in [
            "https://example.org/a_b",
            "http://e.com:8080?x=1",
            "tg://resolve?domain=x",
            "https://пример.рф/",
        ] {
            assert_eq!(checked(good).as_deref(), Some(good), "{good}");
        }
        for bad in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "src/main.rs",
            "http://localhost:3000",
            "https://bank.com@evil.example/",
            "https://",
            "https://e.com:99999",
            "https://.com",
            "mailto:a@b.c",
            "data://x.y",
        ] {
            assert_eq!(checked(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_mail_link_gives_its_address() {
        assert_eq!(mail_address("mailto:a@b.c?subject=x"), Some("a@b.c"));
        assert_eq!(mail_address("https://a@b.c"), None);
    }
}
