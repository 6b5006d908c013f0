//! Calls a model, parses its stream, classifies its errors.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::domain::{ModelEvent, ModelFault, ModelRequest};

/// A streamed reply.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelFault>>;

/// A language model.
pub trait Model: Send + Sync {
    /// Name as people see it.
    fn name(&self) -> String;
    /// Context window in tokens.
    fn window(&self) -> u64;
    /// Whether this is the built-in demo model.
    fn is_demo(&self) -> bool;
    /// Starts one request.
    fn stream(&self, request: ModelRequest) -> BoxFuture<'static, Result<ModelStream, ModelFault>>;
}
