//! Maps events to tracks and names, for the index and for the view.
//!
//! | phase | drawn as |
//! |---|---|
//! | X; i, I, R, n | a slice; an instant |
//! | B, E | begin and end of a slice on its thread |
//! | b, e, S, F | begin and end of an operation, on the track of its category |
//! | C | a sample of each series of the counter |
//! | I named `UpdateCounters`, by Chrome | also a sample of each counter of a page |
//! | s, t, f | steps of flows |
//! | all others | nothing |

mod labels;
mod lanes;
mod seen;
mod text;

pub use labels::{Labels, Shape, is_page_counters};
pub use lanes::{LaneKey, LaneKind, LaneTable};
pub use seen::{Seen, SeenPart, SeenSoFar};
pub use text::{NAME_MOST, cut};
pub use tracemill_viewers::color::{COLORS, ReservedColor, color_of};

use tracemill_tokenizer::{Event, Nanos};
use tracemill_trace::event::{Phase, end_of};

/// Returns the end of a complete event that begins at `ts`, in nanoseconds, rounded up.
///
/// For other events the end is `ts`.
pub fn end_at(event: &Event<'_>, ts: Nanos) -> i64 {
    end_of(Phase::of(event), ts, event.dur())
}
