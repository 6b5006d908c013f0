//! A plain HTTP client for the Bot API, to try the server without the bot.

use serde_json::{Value, json};

use super::TestBot;

/// Calls methods and returns status and body.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    root: String,
}

impl Client {
    /// A client with the world's token.
    pub(crate) fn new(bot: &TestBot) -> Self {
        Self {
            http: reqwest::Client::new(),
            root: format!("{}/bot{}", bot.server.api_url, bot.server.token),
        }
    }

    /// The address of a method.
    pub(crate) fn url(&self, method: &str) -> String {
        format!("{}/{method}", self.root)
    }

    /// The HTTP client itself.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Posts JSON; an error is a broken connection.
    pub(crate) async fn try_call(
        &self,
        method: &str,
        params: Value,
    ) -> Result<(u16, Value), String> {
        let reply = self
            .http
            .post(self.url(method))
            .json(&params)
            .send()
            .await
            .map_err(|error| error.to_string())?;
        let status = reply.status().as_u16();
        let body = reply.text().await.map_err(|error| error.to_string())?;
        Ok((status, serde_json::from_str(&body).unwrap_or(json!(body))))
    }

    /// Posts JSON and expects a whole reply.
    pub(crate) async fn call(&self, method: &str, params: Value) -> (u16, Value) {
        self.try_call(method, params).await.expect("a reply")
    }

    /// Posts JSON and expects success; returns the result.
    pub(crate) async fn ok(&self, method: &str, params: Value) -> Value {
        let (status, body) = self.call(method, params.clone()).await;
        assert_eq!(
            (status, &body["ok"]),
            (200, &json!(true)),
            "{method} {params} {body}"
        );
        body["result"].clone()
    }

    /// Posts JSON and expects a refusal; returns code and description.
    pub(crate) async fn refused(&self, method: &str, params: Value) -> (u16, String) {
        let (status, body) = self.call(method, params.clone()).await;
        assert_eq!(body["ok"], json!(false), "{method} {params} {body}");
        assert_eq!(body["error_code"], json!(status));
        (
            status,
            body["description"].as_str().unwrap_or_default().to_owned(),
        )
    }
}
