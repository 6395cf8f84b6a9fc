//! Layouts and style recalculations, and the script locations that force them.

use crate::value::typed::{decode_short, object};
use crate::value::{Value, at, elements};

/// Returns whether events with this name are layouts or style recalculations.
#[inline]
pub fn is_layout(name: &[u8]) -> bool {
    matches!(name, b"Layout" | b"UpdateLayoutTree")
}

/// Returns the innermost frame of the stack trace in `args` whose function is not built-in.
pub(crate) fn frame(args: &[u8]) -> Option<&[u8]> {
    let paths: [&[&[u8]]; 3] =
        [&[b"data", b"stackTrace"], &[b"stackTrace"], &[b"beginData", b"stackTrace"]];
    let stack = paths.iter().find_map(|path| at(args, path))?;
    elements(stack).find(|frame| !decode_short::<StackFrame>(frame).is_native())
}

object! {
    /// A frame of a stack trace in `args`.
    pub struct StackFrame {
        /// Name of the function.
        pub function_name,
        /// URL of the script.
        pub url,
        /// Line, counted from 1.
        pub line_number,
        /// Column, counted from 1.
        pub column_number,
    }
}

impl StackFrame {
    /// Returns whether the function is built-in: it has no position, since positions count from 1.
    fn is_native(&self) -> bool {
        let is_zero = |place: &Value| place.number() == Some(0.0);
        let has_url = self.url.text().is_some_and(|url| !url.is_empty());
        is_zero(&self.line_number) && is_zero(&self.column_number) && !has_url
    }
}
