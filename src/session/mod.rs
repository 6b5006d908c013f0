//! One task and one mailbox per session; the only place that awaits across adapters.
