//! What the owner must know about the store after a start.

use std::path::Path;
use std::sync::Arc;

use tracing::{error, info, warn};

use crate::domain::{ChatId, ChatKey, Formatted};
use crate::i18n::tr;
use crate::session::Deps;
use crate::store::OpenReport;
use crate::telegram::dispatch::Context;
use crate::telegram::outbox::{Content, Lane, Send};

/// Logs what opening the store had to do, and tells the owner in private.
pub(super) fn tell_owner(deps: &Arc<Deps>, context: &Context) {
    let language = deps.settings().language.clone();
    let lines = lines(deps.store.report(), &language);
    let (Some(owner), false) = (context.owner(), lines.is_empty()) else {
        return;
    };
    let text = Formatted::plain(lines.join("\n\n"));
    let key = ChatKey::new(ChatId(owner.0), None);
    let send = Send::new(key, Content::Text(text), Lane::Final);
    let outbox = deps.outbox.clone();
    tokio::spawn(async move {
        if let Err(fault) = outbox.send(send).await {
            warn!(error = %fault, "the owner was not told about the store");
        }
    });
}

fn lines(report: &OpenReport, language: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(found) = &report.quarantined {
        error!(
            reason = found.reason,
            moved_to = %found.moved_to.display(),
            rows = found.rows,
            "the database was damaged and is set aside"
        );
        let aside = name(&found.moved_to);
        let rows = found.rows.to_string();
        lines.push(match &found.restored_from {
            Some(backup) => {
                let arguments = [
                    ("backup", &*name(backup)),
                    ("rows", &*rows),
                    ("aside", &*aside),
                ];
                tr(language, "store-restored", &arguments)
            }
            None => tr(language, "store-lost", &[("aside", &*aside)]),
        });
    }
    if let Some(rows) = report.imported {
        info!(rows, "a staged import replaced the store");
        lines.push(tr(
            language,
            "store-imported",
            &[("rows", &rows.to_string())],
        ));
    }
    if let Some(reason) = &report.refused_import {
        error!(reason, "a staged import was refused");
        lines.push(tr(language, "store-import-refused", &[]));
    }
    if let Some((before, after)) = report.compacted {
        info!(
            bytes.before = before,
            bytes.after = after,
            "the database was compacted"
        );
    }
    lines
}

/// Only the last part: people are not shown where the data directory is.
fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
