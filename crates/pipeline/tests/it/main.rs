//! The pipeline against the naive reference: one answer, whatever the knobs.

mod corpus;
mod damage;
mod knobs;
mod limits;
mod prefixes;
mod quirks;
mod run;
mod trace;
