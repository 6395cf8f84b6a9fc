//! The built command, as a user runs it: what it prints, how it ends, what it leaves behind.

mod analysis;
mod check;
mod clocks;
mod convert;
mod docs;
mod exit_codes;
mod filter;
mod help;
mod identity;
mod info;
mod json;
mod newcomer;
mod oracle;
mod outputs;
mod packaging;
mod pipelines;
mod pipes;
mod pointer;
mod profiles;
mod progress;
mod remedies;
mod schema;
mod slices;
mod split;
mod streaming;
mod support;
