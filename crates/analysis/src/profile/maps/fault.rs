//! Maps that are not used, or that hardly fit.

/// A map that is not used, or what was taken for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedMap {
    /// Which it is, and why it is not used: a sentence.
    pub why: String,
    /// What kind of fault that is.
    pub fault: MapFault,
}

/// Why a map is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapFault {
    /// It is no source map, or a broken one.
    Broken,
    /// It takes more memory than a map may.
    TooLarge,
    /// It stands where nobody said that files may be opened.
    Elsewhere,
    /// It could be of several scripts.
    Ambiguous,
    /// The system does not give it out.
    Unreadable,
}

impl MapFault {
    pub(super) fn of(self, why: String) -> UnusedMap {
        UnusedMap { why, fault: self }
    }
}

/// How many functions with names have a text of their source, and of how many that has the name of a function where the map says.
///
/// Of the maps of six bundlers that is four fifths and more; of those of other builds a third at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    with_text: u64,
    told: u64,
}

/// Of fewer functions nothing is concluded.
const FEW: u64 = 8;

impl Met {
    pub(super) fn add(&mut self, has_text: bool, is_told: bool) {
        self.with_text += u64::from(has_text);
        self.told += u64::from(has_text && is_told);
    }

    pub(super) fn doubt(self, of: &str) -> Option<String> {
        let Met { with_text, told } = self;
        (with_text >= FEW && 2 * told < with_text).then(|| {
            format!(
                "{of} hardly fits: of {with_text} functions its sources have {told} where it says"
            )
        })
    }
}
