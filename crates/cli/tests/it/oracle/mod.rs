//! What the engine of DevTools itself says of our output: it is the judge of traces and CPU profiles.
//!
//! The engine runs on Node. It stands beside the project, and so does the corpus; without them or without Node nothing
//! is tested here. `engine` builds and asks it, `portrait` is what of an answer is compared, `stream` takes a CPU
//! profile out of a trace independently of the command.

mod annotated;
mod engine;
mod extract;
mod lanes;
mod merge;
mod mixed;
mod portrait;
mod slice;
mod stream;
mod twice;
mod verbs;
mod viewer;
