//! Integration tests of the tokenizer: results are independent of tier and cuts, and equal to the
//! naive reader.

mod fuzzed;
mod scan;
mod scanned;
mod shapes;
