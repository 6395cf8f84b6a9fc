//! An opened trace: inputs of any size, their events in order, and what whole verbs are made of.
#![allow(missing_docs)]

pub mod around;
pub mod decimal;
pub mod entry;
pub mod error;
pub mod exact;
pub mod flaws;
pub mod input;
pub mod json;
pub mod kept;
pub mod limits;
pub mod losses;
pub mod order;
pub mod os;
pub mod outline;
pub mod output;
pub mod pairing;
pub mod place;
pub mod proof;
pub mod read;
pub mod scan;
pub mod shift;
pub mod source;
pub mod splice;
pub mod store;
pub mod tally;
pub mod target;
pub mod threads;
pub mod time;
pub mod windows;
