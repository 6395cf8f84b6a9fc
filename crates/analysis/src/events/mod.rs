//! Decodes the args of events: kinds, names, pages, GPUs, requests. Detects the producer.

pub(crate) mod bounds;
pub mod carried;
pub mod causes;
pub(crate) mod compiled;
pub mod counters;
pub(crate) mod cpu_times;
pub(crate) mod details;
pub mod devices;
pub mod entities;
pub(crate) mod images;
pub mod kinds;
pub(crate) mod lacks;
pub mod meta;
pub(crate) mod modifications;
pub mod pages;
pub(crate) mod producer;
pub mod reflows;
pub(crate) mod requests;
pub mod screenshots;
pub(crate) mod styles;
pub mod tracks;
