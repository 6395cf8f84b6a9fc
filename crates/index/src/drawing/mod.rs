//! What is drawn of events, for the index that keeps sums of it and for who draws: in which lane each lies, and what it is called.
//!
//! | phase | is drawn as |
//! |---|---|
//! | X; i, I, R, n | an interval; a moment |
//! | B, E | ends of an interval of their thread |
//! | b, e, S, F | ends of an operation, in the lane of its category |
//! | C | a sample of each series of the counter |
//! | s, t, f | points of flows |
//! | all others | nothing |

mod labels;
mod lanes;
mod seen;
mod text;

pub use labels::{Labels, Shape};
pub use lanes::{LaneKey, LaneKind, LaneTable};
pub use seen::{Seen, SeenPart, SeenSoFar};
pub use text::{NAME_MOST, cut};

use tracemill_tokenizer::{Event, Nanos};
use tracemill_trace::event::{Phase, end_of};

/// The end of a complete event that begins at `ts`, in nanoseconds, rounded up; of any other its begin.
pub fn end_at(event: &Event<'_>, ts: Nanos) -> i64 {
    end_of(Phase::of(event), ts, event.dur())
}
