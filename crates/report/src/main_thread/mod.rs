//! Reasons why threads are busy: long tasks, blocks of the event loop, forced layouts.

pub(crate) mod blocks;
pub(crate) mod by_service;
pub(crate) mod reflows;
pub(crate) mod tasks;
