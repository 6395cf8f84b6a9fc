//! The pipeline against the naive reference: one answer, whatever the knobs.

mod damage;
mod knobs;
mod prefixes;
mod quirks;
mod run;
mod trace;
