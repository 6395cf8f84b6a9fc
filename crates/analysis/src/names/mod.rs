//! Groups and titles of rows, as in DevTools.

pub mod groups;
pub(crate) mod labels;
