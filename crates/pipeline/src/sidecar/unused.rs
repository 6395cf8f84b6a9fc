//! Why an index there is does not say what to read.

/// What is in the way. The trace is read as a whole then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// Of several inputs.
    Several,
    /// Of a strict run.
    Strict,
    /// Whether it is that of the trace as it is now is not certain.
    Copied,
    /// Pieces of the trace do not mean what they mean in all of it.
    Damaged,
    /// As `Damaged`, though nothing is wrong with it.
    Tied,
    /// Of the trace, or of what unpacking it takes.
    Most,
    /// The input can only be read as a whole.
    Packed,
    /// Of the index, or of what is read of it in memory.
    NoRoom,
}

impl Unused {
    /// As it is told.
    pub fn text(self) -> &'static str {
        match self {
            Unused::Several => {
                "there are several inputs, and what begins in one may end in another"
            }
            Unused::Strict => "a strict run looks at every byte",
            Unused::Copied => "the trace was written to since, or is a copy",
            Unused::Damaged => "the trace is damaged, or not JSON to the letter",
            Unused::Tied => {
                "events depend on others anywhere in the trace (DevTools annotations, ends of other names, long flows, several documents)"
            }
            Unused::Most => "most of the trace is wanted",
            Unused::Packed => {
                "it can only be read as a whole: it is a pipe, or packed in one piece"
            }
            Unused::NoRoom => "the index, or the memory, has no room for what is wanted",
        }
    }
}
