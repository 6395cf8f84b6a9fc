//! How DevTools groups and titles rows.

pub mod groups;
pub(crate) mod labels;
