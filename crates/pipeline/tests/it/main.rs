//! The pipeline against the naive reference: one answer, whatever the knobs.

mod annotations;
mod check;
mod clocks;
mod convert;
mod corpus;
mod damage;
mod extract;
mod filter;
mod identity;
mod info;
mod keys;
mod knobs;
mod limits;
mod prefixes;
mod profile_damage;
mod profile_file_damage;
mod profile_files;
mod profiles;
mod quirks;
mod run;
mod slice_profiles;
mod slices;
mod split;
mod trace;
mod viewer;
