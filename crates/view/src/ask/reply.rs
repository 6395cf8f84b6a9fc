//! Replies to requests, before they are sent: status, content type and body.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::Receiver;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::{Error, ErrorKind};

/// Part of a body that is produced while it is sent. After an error, the body ends early, and the
/// client is informed.
pub(crate) type BodyPiece = Result<Vec<u8>, ()>;

/// The body of a reply.
pub enum Content {
    /// A complete body.
    Whole(Vec<u8>),
    /// A static body.
    Fixed(&'static [u8]),
    /// A body that is produced in parts while it is sent.
    Pieces(BodyPieces),
    /// Lines of progress, which end when the inputs are read.
    Progress,
}

/// The parts of a body. When this value is dropped, the work that produces the parts is cancelled.
pub struct BodyPieces {
    pub(crate) first: Option<Vec<u8>>,
    pub(crate) rest: Receiver<BodyPiece>,
    pub(crate) cancel: Cancel,
    /// Whether a slice is being sent. Only one slice is sent at a time.
    pub(crate) busy: Arc<AtomicBool>,
}

impl BodyPieces {
    /// Waits for all parts and returns the whole body, for callers without a socket. Returns `None`
    /// if the body ends with an error.
    pub fn collect(mut self) -> Option<Vec<u8>> {
        let mut all = self.first.take().unwrap_or_default();
        while let Some(piece) = self.rest.blocking_recv() {
            all.extend(piece.ok()?);
        }
        Some(all)
    }
}

impl Drop for BodyPieces {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.busy.store(false, Ordering::Release);
    }
}

/// A reply.
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`.
    pub kind: &'static str,
    /// The body.
    pub content: Content,
    /// Headers in addition to the common ones.
    pub headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(crate) fn fixed(kind: &'static str, bytes: &'static [u8]) -> Self {
        Reply { status: 200, kind, content: Content::Fixed(bytes), headers: Vec::new() }
    }

    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        let (kind, content) = ("application/octet-stream", Content::Whole(bytes));
        Reply { status: 200, kind, content, headers: Vec::new() }
    }

    pub(crate) fn json(value: &Value) -> Self {
        let content = Content::Whole(value.to_string().into_bytes());
        Reply { status: 200, kind: "application/json", content, headers: Vec::new() }
    }

    /// Creates a reply with an error, and a hint what the user can do.
    pub(crate) fn error(status: u16, error: impl Into<String>, hint: &str) -> Self {
        let value = json!({ "error": error.into(), "hint": hint });
        Reply { status, ..Reply::json(&value) }
    }

    pub(crate) fn failed(error: &Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            ErrorKind::Changed { .. } => {
                Reply::error(409, text, "The file is not what it was: start the viewer again.")
            }
            ErrorKind::Read { .. } => {
                Reply::error(409, text, "The file cannot be read any more: start the viewer again.")
            }
            ErrorKind::Exceeded { .. } | ErrorKind::Budget { .. } => {
                Reply::error(503, text, "Give the viewer more memory, or choose a smaller window.")
            }
            ErrorKind::OnePiece { .. } => Reply::error(
                503,
                text,
                "Pack it anew, as zstd in frames: then parts of it can be read.",
            ),
            _ if error.class() == ErrorClass::Usage => {
                Reply::error(400, text, "Choose another window.")
            }
            _ => {
                Reply::error(503, text, "Try again; if it stays so, look at what the command says.")
            }
        }
    }
}
