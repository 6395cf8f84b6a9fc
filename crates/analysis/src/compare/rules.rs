//! How sides are compared.

/// Which functions are one although they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBy {
    /// None: name, URL and line are equal.
    Exact,
    /// Those of one name and URL, if both sides have one of it.
    Line,
    /// Also those of one name, if both sides have one of it.
    #[default]
    Name,
}

/// To what times are scaled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// They are not.
    #[default]
    None,
    /// So that all runs are busy for as long.
    Busy,
    /// So that functions or events of this name take as long in all runs.
    Event(String),
}

/// How sides are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareRules {
    /// Which functions are one.
    pub by: MatchBy,
    /// To what times are scaled.
    pub normalize: Normalize,
    /// Changes of self time below this percent of what is busy are not tested.
    pub least: f64,
}
