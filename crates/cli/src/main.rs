//! tracemill
fn main() {}
