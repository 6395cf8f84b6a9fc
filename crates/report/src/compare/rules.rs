//! How sides are compared.

/// Which functions count as the same although they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBy {
    /// None: name, URL and line are equal.
    Exact,
    /// Those with the same name and URL, if each side has only one.
    Line,
    /// Also those with the same name, if each side has only one.
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
