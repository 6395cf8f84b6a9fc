//! The criterion by which a trace is split.

/// The criterion that puts events into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// One part per process.
    Pid,
    /// One part per thread.
    Tid,
    /// One part per category. An event belongs to its first category.
    Cat,
    /// One part per time range of this many nanoseconds from the first event on. Empty ranges have
    /// no part.
    Time(i64),
    /// Parts of at most this many bytes before compression, unless a single event is larger.
    Size(u64),
    /// Parts of at most this many events, without metadata and repeated events.
    Events(u64),
}

impl SplitBy {
    /// Returns the placeholders that templates may contain.
    pub(super) fn placeholders(self) -> &'static [&'static str] {
        match self {
            SplitBy::Pid => &["stem", "ext", "part", "pid", "process"],
            SplitBy::Tid => &["stem", "ext", "part", "pid", "process", "tid", "thread"],
            SplitBy::Cat => &["stem", "ext", "part", "cat"],
            SplitBy::Time(_) | SplitBy::Size(_) | SplitBy::Events(_) => &["stem", "ext", "part"],
        }
    }

    /// Returns the default template.
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
