//! Options for comparing runs.

/// How functions that differ between the sides are matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBy {
    /// Functions match only if name, URL and line are equal.
    Exact,
    /// Functions also match by name and URL, if each side has only one such function.
    Line,
    /// Functions also match by name alone, if each side has only one such function.
    #[default]
    Name,
}

/// The reference to which times are scaled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Times are not scaled.
    #[default]
    None,
    /// All runs get the same busy time.
    Busy,
    /// All runs get the same total time of functions or events with this name.
    Event(String),
}

/// Options for comparing runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareRules {
    /// How functions that differ between the sides are matched.
    pub by: MatchBy,
    /// The reference to which times are scaled.
    pub normalize: Normalize,
    /// Minimum change of self time that is tested, in percent of the busy time.
    pub least: f64,
}
