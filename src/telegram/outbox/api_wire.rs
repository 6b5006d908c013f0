//! The Bot API client as the outbox's wire.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::wire::{Fault, Upload, Wire};
use crate::telegram::api::{ApiClient, ApiFault, FilePart};

impl Wire for ApiClient {
    fn call<'a>(&'a self, method: &'a str, body: &'a Value) -> BoxFuture<'a, Result<Value, Fault>> {
        async move { Self::call(self, method, body).await.map_err(fault) }.boxed()
    }

    fn upload<'a>(
        &'a self,
        method: &'a str,
        fields: &'a Value,
        file: &'a Upload,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        let part = FilePart {
            field: file.field.to_owned(),
            name: file.name.clone(),
            mime: "application/octet-stream".to_owned(),
            bytes: file.bytes.clone(),
        };
        async move {
            self.call_multipart(method, fields, vec![part])
                .await
                .map_err(fault)
        }
        .boxed()
    }
}

fn fault(fault: ApiFault) -> Fault {
    match fault {
        ApiFault::RetryAfter(seconds) => Fault::RetryAfter {
            seconds,
            bot_wide: false,
        },
        ApiFault::Migrated(chat) => Fault::Migrated(chat),
        ApiFault::NotModified => Fault::NotModified,
        ApiFault::MessageGone => Fault::MessageGone,
        ApiFault::CantEdit => Fault::CantEdit,
        ApiFault::ThreadGone => Fault::ThreadGone,
        ApiFault::QueryExpired => Fault::BadRequest("the query has expired".into()),
        ApiFault::Blocked | ApiFault::Kicked | ApiFault::NoRights => Fault::Blocked,
        ApiFault::Unauthorized => Fault::Unauthorized,
        ApiFault::Conflict | ApiFault::WebhookActive => Fault::Conflict,
        ApiFault::BadRequest(description) => Fault::BadRequest(description),
        ApiFault::Server(status) => Fault::Server(status),
        ApiFault::NotSent => Fault::Unreachable,
        ApiFault::UnknownOutcome => Fault::Unknown,
    }
}
