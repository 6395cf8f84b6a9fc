//! Source maps that cannot be used, and maps that hardly fit their sources.

/// A source map that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedMap {
    /// A sentence that names the map and the reason.
    pub why: String,
    /// The kind of the fault.
    pub fault: MapFault,
}

/// The reason why a source map is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFault {
    /// The file is not a valid source map.
    Broken,
    /// The map exceeds its memory limit.
    TooLarge,
    /// The map is outside the folders and files that may be opened.
    Elsewhere,
    /// The map could belong to several scripts.
    Ambiguous,
    /// The operating system cannot read the file.
    Unreadable,
}

impl MapFault {
    pub(super) fn of(self, why: String) -> UnusedMap {
        UnusedMap { why, fault: self }
    }
}

/// Number of functions whose source text is known, and number of those functions whose name is in
/// the source at the mapped position.
///
/// In maps of six bundlers, at least four fifths of the names are found. In maps of other builds,
/// at most a third are found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    with_text: u64,
    placed: u64,
}

/// Minimum number of functions for a verdict on a map.
const FEW: u64 = 8;

impl Met {
    pub(super) fn add(&mut self, has_text: bool, is_told: bool) {
        self.with_text += u64::from(has_text);
        self.placed += u64::from(has_text && is_told);
    }

    pub(super) fn doubt(self, of: &str) -> Option<String> {
        let Met { with_text, placed } = self;
        (with_text >= FEW && 2 * placed < with_text).then(|| {
            format!(
                "{of} hardly fits: of {with_text} functions its sources have {placed} where it says"
            )
        })
    }
}
