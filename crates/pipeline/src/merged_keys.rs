//! The top-level keys of an output, whose values are pieces of inputs.

use crate::warning::Warning;

/// The key of the table of stack frames.
pub(crate) const STACK_FRAMES: &[u8] = b"stackFrames";

/// A key of the output.
#[derive(Clone)]
pub(crate) struct Key<'p> {
    /// As written, with quotes.
    pub(crate) name: Vec<u8>,
    /// The value in pieces, to be written one after the other.
    pub(crate) value: Vec<Bytes<'p>>,
}

/// A piece of a value: from an input, or made here.
#[derive(Clone)]
pub(crate) enum Bytes<'p> {
    Input(&'p [u8]),
    Made(Vec<u8>),
}

impl Bytes<'_> {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Input(bytes) => bytes,
            Bytes::Made(bytes) => bytes,
        }
    }
}

/// The keys of the output.
#[derive(Clone, Default)]
pub(crate) struct MergedKeys<'p> {
    pub(crate) keys: Vec<Key<'p>>,
    /// The key, and the piece of it, that DevTools' annotations are.
    pub(crate) modifications: Option<(usize, usize)>,
    /// The keys that documents are united in, once there are any.
    pub(crate) stack_frames: Option<usize>,
    pub(crate) samples: Option<usize>,
    pub(crate) warnings: Vec<Warning>,
}

/// Takes the closing bracket off a value and puts a comma where one is due; returns the bracket.
pub(crate) fn open(whole: &mut Vec<Bytes<'_>>) -> Vec<u8> {
    let last = whole.pop();
    let (mut rest, close) = match &last {
        Some(Bytes::Made(bracket)) => (None, bracket.clone()),
        Some(Bytes::Input(bytes)) => {
            let (rest, bracket) = bytes.split_at(bytes.len() - 1);
            (Some(rest.trim_ascii_end()), bracket.to_vec())
        }
        None => (None, Vec::new()),
    };
    let empty = whole.is_empty() && rest.as_ref().is_some_and(|rest| rest.len() == 1);
    whole.extend(rest.take().map(Bytes::Input));
    whole.extend((!empty).then(|| Bytes::Made(b",".to_vec())));
    close
}
