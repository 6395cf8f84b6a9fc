//! Trace events to ordered, complete output.
#![forbid(unsafe_code)]

mod config;
mod emit;
mod error;
mod index;
mod info;
mod input;
mod keys;
mod merge;
mod order;
mod output;
mod read;
mod report;
mod scan;
mod store;
mod streams;

pub use config::{Compression, Config, Format, OutputConfig, Progress, Shares, Source, Target};
pub use error::{Error, ErrorClass, ErrorKind};
pub use info::info;
pub use merge::merge;
pub use output::remove_scratch;
pub use report::{
    Example, InfoReport, InputReport, Losses, MergeReport, ProcessInfo, Tally, ThreadInfo, excerpt,
};
pub use tracemill_tokenizer::{DamageKind, Tier};
