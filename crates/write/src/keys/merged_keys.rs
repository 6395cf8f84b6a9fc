//! The top-level keys of an output, whose values are pieces of inputs.

use std::borrow::Cow;
use tracemill_join::report::warning::Warning;

/// The key of the table of stack frames.
pub(crate) const STACK_FRAMES: &[u8] = b"stackFrames";

/// A key of the output.
#[derive(Clone)]
pub struct OutputKey<'p> {
    /// As written, with quotes.
    pub name: Vec<u8>,
    /// The value in pieces, to be written one after the other: borrowed from an input, or synthetic.
    pub value: Vec<Cow<'p, [u8]>>,
}

/// The keys of the output.
#[derive(Clone, Default)]
pub struct MergedKeys<'p> {
    /// The keys, in the order of the output.
    pub keys: Vec<OutputKey<'p>>,
    /// The key, and the piece of it, that DevTools' annotations are.
    pub(crate) modifications: Option<(usize, usize)>,
    /// The keys that documents are united in, once there are any.
    pub(crate) stack_frames: Option<usize>,
    pub(crate) samples: Option<usize>,
    /// What is lost or changed in them.
    pub warnings: Vec<Warning>,
}

/// Takes the closing bracket off a value and puts a comma where one is due; returns the bracket.
pub fn open(whole: &mut Vec<Cow<'_, [u8]>>) -> Vec<u8> {
    let last = whole.pop();
    let (mut rest, close) = match &last {
        Some(Cow::Owned(bracket)) => (None, bracket.clone()),
        Some(Cow::Borrowed(bytes)) => {
            let (rest, bracket) = bytes.split_at(bytes.len() - 1);
            (Some(rest.trim_ascii_end()), bracket.to_vec())
        }
        None => (None, Vec::new()),
    };
    let empty = whole.is_empty() && rest.as_ref().is_some_and(|rest| rest.len() == 1);
    whole.extend(rest.take().map(Cow::Borrowed));
    whole.extend((!empty).then(|| Cow::Owned(b",".to_vec())));
    close
}
