//! Options for comparing runs.
/// Which differing functions match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBy {
    /// None: name, URL and line must be equal.
    Exact,
    /// Functions with the same name and URL, if each side has only one.
    Line,
    /// Also functions with the same name, if each side has only one.
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
    /// Which functions match.
    pub by: MatchBy,
    /// The reference to which times are scaled.
    pub normalize: Normalize,
    /// Minimum tested change of self time, in percent of the busy time.
    pub least: f64,
}
