//! What the args of events say: kinds, names, pages, devices, requests; and who wrote the trace.

pub(crate) mod bounds;
pub(crate) mod compiled;
pub(crate) mod counters;
pub(crate) mod details;
pub(crate) mod devices;
pub(crate) mod entities;
pub(crate) mod images;
pub(crate) mod kinds;
pub(crate) mod lacks;
pub(crate) mod meta;
pub(crate) mod modifications;
pub(crate) mod pages;
pub(crate) mod producer;
pub(crate) mod reflows;
pub(crate) mod requests;
pub(crate) mod styles;
