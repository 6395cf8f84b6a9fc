//! What makes a part of a trace.

/// What makes a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// A process.
    Pid,
    /// A thread of a process.
    Tid,
    /// A category, the first of those an event has.
    Cat,
    /// This many nanoseconds, counted from the first event; stretches without events make no part.
    Time(i64),
    /// At most this many bytes before packing, unless one event alone is larger.
    Size(u64),
    /// At most this many events, metadata and repeated ones not counted.
    Events(u64),
}

impl SplitBy {
    /// Placeholders of templates that mean something.
    pub(super) fn placeholders(self) -> &'static [&'static str] {
        match self {
            SplitBy::Pid => &["stem", "ext", "part", "pid", "process"],
            SplitBy::Tid => &["stem", "ext", "part", "pid", "process", "tid", "thread"],
            SplitBy::Cat => &["stem", "ext", "part", "cat"],
            SplitBy::Time(_) | SplitBy::Size(_) | SplitBy::Events(_) => &["stem", "ext", "part"],
        }
    }

    /// The usual template.
    pub(super) fn template(self, numbered: bool) -> &'static str {
        match (self, numbered) {
            (SplitBy::Pid, false) => "{stem}.{pid}.{ext}",
            (SplitBy::Pid, true) => "{stem}.{pid}.{part}.{ext}",
            (SplitBy::Tid, false) => "{stem}.{pid}.{tid}.{ext}",
            (SplitBy::Tid, true) => "{stem}.{pid}.{tid}.{part}.{ext}",
            (SplitBy::Cat, _) => "{stem}.{cat}.{ext}",
            _ => "{stem}.{part}.{ext}",
        }
    }
}
