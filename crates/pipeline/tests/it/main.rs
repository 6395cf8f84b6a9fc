//! The pipeline against the naive reference: one answer, whatever the knobs.

mod knobs;
mod run;
