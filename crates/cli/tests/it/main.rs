//! The built command, as a user runs it: what it prints, how it ends, what it leaves behind.

mod check;
mod clocks;
mod convert;
mod exit_codes;
mod filter;
mod help;
mod identity;
mod info;
mod oracle;
mod outputs;
mod pipelines;
mod pipes;
mod profiles;
mod slices;
mod split;
mod support;
