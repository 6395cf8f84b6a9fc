//! The top-level keys of an output. Their values consist of pieces of the inputs.

use std::borrow::Cow;
use tracemill_join::report::warning::Warning;

pub(crate) const STACK_FRAMES: &[u8] = b"stackFrames";

/// A key of the output.
#[derive(Clone)]
pub struct OutputKey<'p> {
    /// The name as written, with quotes.
    pub name: Vec<u8>,
    /// The pieces of the value: borrowed from an input, or synthetic.
    pub value: Vec<Cow<'p, [u8]>>,
}

/// The keys of the output.
#[derive(Clone, Default)]
pub struct MergedKeys<'p> {
    /// The keys, in the order of the output.
    pub keys: Vec<OutputKey<'p>>,
    /// Index of the key that contains DevTools' annotations, and index of its piece with the
    /// annotations.
    pub(crate) modifications: Option<(usize, usize)>,
    /// Index of the key `stackFrames`. Frames of later documents are merged into its value.
    pub(crate) stack_frames: Option<usize>,
    pub(crate) samples: Option<usize>,
    /// Warnings about keys that were lost or changed.
    pub warnings: Vec<Warning>,
}

/// Removes the closing bracket from a value and adds a comma if the value is not empty. Returns the
/// bracket.
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
