//! Identifies functions in rows, entries and profiles, so that runs can be compared.

use tracemill_analysis::entries::Entry;
use tracemill_analysis::names::groups::Ids;
use tracemill_analysis::profile::functions::Frame;
use tracemill_analysis::tree::views::Identify;
use tracemill_analysis::value::urls::without_hashes;
use tracemill_analysis::{Location, TreeRow, View};
use tracemill_trace::event::hash_texts;
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

/// The identity of a function: its name, its URL without build hashes, and its line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub name: String,
    pub(super) url: String,
    pub(super) line: Option<i64>,
}

impl Key {
    pub(super) fn of_entry(entry: &Entry, view: &View<'_>, ids: &Ids<'_>) -> Self {
        let label = ids.label(entry).filter(|label| !label.is_empty());
        let name = label.unwrap_or_else(|| ids.text(ids.id(entry)));
        let Location { url, line, .. } = view.location(entry, ids);
        Key { name, url: without_hashes(&url), line }
    }

    pub(super) fn of_frame(frame: &Frame, names: &Names) -> Self {
        let name = match names.text(frame.function) {
            name if name.is_empty() => "(anonymous)".to_owned(),
            name => name,
        };
        let url = without_hashes(&names.text(frame.url));
        let line = names.text(frame.line).parse().ok().filter(|&line: &i64| line >= 0);
        Key { name, url, line }
    }
}

/// Gives each distinct key of rows a number.
#[derive(Default)]
pub(super) struct Keys {
    /// The number of each key, by a hash of the row's texts as written. Saves building a key for
    /// each of many rows with equal texts.
    written: HashMap<[u64; 2], usize>,
    pub(super) numbers: HashMap<Key, usize>,
}

impl Keys {
    pub(super) fn number(&mut self, row: &TreeRow) -> usize {
        let (name, url, line) = (row.name(), &*row.location.url, row.location.line);
        let bytes = line.map(i64::to_le_bytes);
        let of_line = bytes.as_ref().map_or(&[][..], |bytes| bytes);
        let Keys { written, numbers } = self;
        let hash = hash_texts([name.as_bytes(), url.as_bytes(), of_line]);
        *written.entry(hash).or_insert_with(|| {
            let key = Key { name: name.to_owned(), url: without_hashes(url), line };
            let next = numbers.len();
            *numbers.entry(key).or_insert(next)
        })
    }
}
