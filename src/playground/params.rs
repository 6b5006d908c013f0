//! The arguments of one request, from a query string, JSON, a form or multipart, read strictly.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::refusal::Refusal;

/// Largest request body in bytes: the Bot API takes files up to 50 MB.
pub(super) const BODY_LIMIT: usize = 52 << 20;

/// A file that came with a request.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    /// File name as sent.
    pub(super) name: String,
    /// MIME type as sent.
    pub(super) mime: Option<String>,
    /// Content.
    pub(super) bytes: Bytes,
}

/// Arguments by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Params {
    /// Plain values; forms give strings where JSON gives other types.
    pub(super) values: Map<String, Value>,
    /// Files by part name.
    pub(super) files: BTreeMap<String, Upload>,
}

impl Params {
    /// Reads the query string and the body of `request`.
    pub(super) async fn read(request: Request) -> Result<Self, Refusal> {
        let mut params = Self::default();
        params.form(request.uri().query().unwrap_or_default());
        let kind = request
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_ascii_lowercase();
        if kind.starts_with("multipart/form-data") {
            params.multipart(request).await?;
            return Ok(params);
        }
        let body = axum::body::to_bytes(request.into_body(), BODY_LIMIT)
            .await
            .map_err(|_| Refusal::new(413, ""))?;
        if body.is_empty() {
            return Ok(params);
        }
        if kind.starts_with("application/json") {
            let value: Value = serde_json::from_slice(&body)
                .map_err(|_| Refusal::bad("can't parse JSON object"))?;
            let Value::Object(map) = value else {
                return Err(Refusal::bad("expected a JSON object"));
            };
            params.values.extend(map);
        } else if kind.starts_with("application/x-www-form-urlencoded") {
            let text = std::str::from_utf8(&body)
                .map_err(|_| Refusal::bad("strings must be encoded in UTF-8"))?;
            params.form(text);
        } else {
            return Err(Refusal::bad("unsupported content type"));
        }
        Ok(params)
    }

    fn form(&mut self, text: &str) {
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            self.values
                .insert(percent_decode(name), Value::String(percent_decode(value)));
        }
    }

    async fn multipart(&mut self, request: Request) -> Result<(), Refusal> {
        let broken = |_| Refusal::bad("can't parse multipart body");
        let mut parts = Multipart::from_request(request, &())
            .await
            .map_err(|_| Refusal::bad("multipart boundary is missing"))?;
        while let Some(part) = parts.next_field().await.map_err(broken)? {
            let name = part
                .name()
                .ok_or_else(|| Refusal::bad("multipart part without a name"))?
                .to_owned();
            if let Some(file) = part.file_name().map(str::to_owned) {
                let mime = part.content_type().map(str::to_owned);
                let bytes = part.bytes().await.map_err(broken)?;
                self.files.insert(
                    name,
                    Upload {
                        name: file,
                        mime,
                        bytes,
                    },
                );
            } else {
                let text = part.text().await.map_err(broken)?;
                self.values.insert(name, Value::String(text));
            }
        }
        Ok(())
    }

    /// A present and non-null value.
    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|value| !value.is_null())
    }

    /// A string; other scalars become their text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = self.get(name)?;
        Some(
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
        )
    }

    /// A whole number.
    pub(super) fn int(&self, name: &str) -> Result<Option<i64>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        if value.as_str() == Some("") {
            return Ok(None);
        }
        value
            .as_i64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
            .map(Some)
            .ok_or_else(|| Refusal::bad(format!("field \"{name}\" must be a valid Number")))
    }

    /// A switch; absent means off.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            value.as_bool() == Some(true)
                || value.as_i64() == Some(1)
                || value.as_str().is_some_and(|text| {
                    ["true", "1", "yes"].contains(&text.to_ascii_lowercase().as_str())
                })
        })
    }

    /// A nested value, given as JSON or as a JSON string.
    pub(super) fn json(&self, name: &str, what: &str) -> Result<Option<Value>, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let Some(text) = value.as_str() else {
            return Ok(Some(value.clone()));
        };
        if text.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(text)
            .map(Some)
            .map_err(|_| Refusal::bad(format!("can't parse {what} JSON object")))
    }

    /// The file of `field`, sent as that part or as `attach://part`.
    pub(super) fn file(&self, field: &str) -> Option<&Upload> {
        self.files.get(field).or_else(|| {
            let link = self.values.get(field)?.as_str()?;
            self.files.get(link.strip_prefix("attach://")?)
        })
    }
}

fn percent_decode(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'+' {
            out.push(b' ');
            continue;
        }
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let pair: Vec<u8> = bytes.by_ref().take(2).collect();
        let decoded = std::str::from_utf8(&pair)
            .ok()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(decoded) = decoded {
            out.push(decoded);
        } else {
            out.push(b'%');
            out.extend(pair);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
