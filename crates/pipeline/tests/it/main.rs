//! The pipeline against the naive reference: one answer, whatever the knobs.

mod corpus;
mod damage;
mod extract;
mod knobs;
mod limits;
mod prefixes;
mod profile_files;
mod profiles;
mod quirks;
mod run;
mod slice_profiles;
mod slices;
mod trace;
