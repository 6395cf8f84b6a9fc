//! Layouts and styles, as DevTools calls them together, and where scripts force them.

use crate::value::{at, elements, member, number, string};

/// Whether events of this name are layouts or styles.
#[inline]
pub(crate) fn is_layout(name: &[u8]) -> bool {
    matches!(name, b"Layout" | b"UpdateLayoutTree")
}

/// The frame at the top of the stack that `args` of one have, unless it is built in.
pub(crate) fn frame(args: &[u8]) -> Option<&[u8]> {
    let paths: [&[&[u8]]; 3] =
        [&[b"data", b"stackTrace"], &[b"stackTrace"], &[b"beginData", b"stackTrace"]];
    let stack = paths.iter().find_map(|path| at(args, path))?;
    elements(stack).find(|frame| !is_native(frame))
}

/// Built-in functions stand nowhere: places count from 1 on.
fn is_native(frame: &[u8]) -> bool {
    let is_zero = |key: &[u8]| member(frame, key).and_then(number) == Some(0.0);
    let url = member(frame, b"url").and_then(string);
    is_zero(b"lineNumber") && is_zero(b"columnNumber") && url.is_none_or(|url| url.is_empty())
}
