//! Tests outputs with the engine of DevTools, which judges traces and CPU profiles.
//!
//! The engine runs on Node and is outside the repository, like the corpus; without them the tests
//! do nothing. `engine` builds and runs it, `portrait` selects the values to compare, and `stream`
//! reads CPU profiles independently of the command.

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
