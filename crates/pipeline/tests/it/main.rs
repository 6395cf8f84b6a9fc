//! The pipeline against the naive reference: one answer, whatever the knobs.

mod convert;
mod corpus;
mod damage;
mod extract;
mod filter;
mod knobs;
mod limits;
mod prefixes;
mod profile_files;
mod profiles;
mod quirks;
mod run;
mod trace;
