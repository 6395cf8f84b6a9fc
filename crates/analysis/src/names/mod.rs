//! How DevTools groups and titles rows.

pub(crate) mod groups;
pub(crate) mod labels;
