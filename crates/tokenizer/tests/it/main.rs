//! The tokenizer from outside: one answer whatever the tier and the cuts, and that of the naive reader.

mod fuzzed;
mod scan;
mod scanned;
