//! Reads the annotations of a document and resolves the events that they refer to.

use super::calls::{RequestedThreads, ThreadCalls};
use super::key::{CallKey, EventKey};
use super::window::{AnnotationSpan, Breadcrumbs, span_of_range};
use crate::keys::edit::{elements, range_in};
use crate::keys::modifications::modifications;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::report::AnnotationReport;
use tracemill_join::report::warning::AnnotationDrop;
use tracemill_tokenizer::{Event, Field, fields_of};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::json::{array_elements, member};
use tracemill_trace::order::Order;
use tracemill_trace::read::{EventNumbers, Uncertain};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;

/// The form of the elements of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementKind {
    /// A key.
    Key,
    /// An object with these members, each of which is a key.
    Keys(&'static [&'static [u8]]),
    /// An object with a time range.
    Range,
}

/// A list of annotations.
pub(super) struct AnnotationList {
    pub(super) name: &'static [u8],
    kind: ElementKind,
}

/// The members of `modifications` that contain lists, and their lists.
pub(super) const GROUPS: [(&[u8], &[AnnotationList]); 2] = [
    (
        b"entriesModifications",
        &[
            AnnotationList { name: b"hiddenEntries", kind: ElementKind::Key },
            AnnotationList { name: b"expandableEntries", kind: ElementKind::Key },
        ],
    ),
    (
        b"annotations",
        &[
            AnnotationList { name: b"entryLabels", kind: ElementKind::Keys(&[b"entry"]) },
            AnnotationList { name: b"labelledTimeRanges", kind: ElementKind::Range },
            AnnotationList {
                name: b"linksBetweenEntries",
                kind: ElementKind::Keys(&[b"entryFrom", b"entryTo"]),
            },
        ],
    ),
];
pub(super) const LISTS: usize = 5;

/// The entry that a key refers to.
#[derive(Clone, Debug)]
pub(super) enum EntryTarget {
    Event(Entry),
    /// An entry that DevTools synthesizes from an event.
    Synthetic(Entry, EntryNeeds),
    Call(CallKey),
}

/// Other events that DevTools needs to synthesize an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryNeeds {
    Nothing,
    /// The end event of the pair.
    End,
    /// More events than those of the pair.
    Others,
}

pub(super) struct Element<'p> {
    pub(super) text: &'p [u8],
    /// The ranges of the keys in the text, and their targets.
    pub(super) names: Vec<(Range<usize>, EntryTarget)>,
    /// The time range, for annotations that have a time range.
    pub(super) span: Option<AnnotationSpan>,
}

/// The annotations of a document.
pub(super) struct Annotated<'p> {
    /// Offset of the value of `metadata`.
    pub(super) offset: u64,
    /// The value of `modifications`, an object.
    pub(super) text: &'p [u8],
    pub(super) lists: [Vec<Result<Element<'p>, AnnotationDrop>>; LISTS],
    /// Number of members that should be lists but are not.
    pub(super) malformed: u64,
    pub(super) crumbs: Breadcrumbs,
    /// The bytes of `initialBreadcrumb`.
    pub(super) breadcrumb: Option<&'p [u8]>,
    /// Whether DevTools applies the annotations.
    pub(super) applied: bool,
    /// Counts of the threads whose calls are annotated. `None` if all events of the trace are in
    /// this document and are written.
    pub(super) threads: Option<ThreadCalls>,
}

/// Returns the window of the first breadcrumb in the value of `metadata`, in nanoseconds. Returns
/// `None` if there is no such breadcrumb.
pub fn first_window(metadata: &[u8]) -> Option<(i64, i64)> {
    let modifications = member(metadata, b"modifications")?;
    Breadcrumbs::of(member(modifications, b"initialBreadcrumb")?).first()
}

/// Counts the annotations of all documents as dropped, for commands that cannot follow events.
pub fn unfollowed(documents: &[Document], store: &Store<'_>) -> AnnotationReport {
    let count = |document| {
        let Some((_, _, text)) = modifications(document, store) else { return 0 };
        let arrays = lists_of(text).filter_map(|(_, array)| array);
        let lists = arrays.map(|array| array_elements(array).map_or(1, Iterator::count) as u64);
        let crumbs = Breadcrumbs::of(member(text, b"initialBreadcrumb").unwrap_or_default());
        lists.sum::<u64>() + crumbs.inner()
    };
    let count = documents.iter().map(count).sum();
    let dropped = (count > 0).then_some((AnnotationDrop::Unfollowed, count));
    AnnotationReport { kept: 0, dropped: dropped.into_iter().collect() }
}

/// Returns the lists in `modifications`, each with its value if present.
fn lists_of(
    modifications: &[u8],
) -> impl Iterator<Item = (&'static AnnotationList, Option<&[u8]>)> {
    GROUPS.into_iter().flat_map(move |(group, lists)| {
        let group = member(modifications, group).unwrap_or_default();
        lists.iter().map(move |list| (list, member(group, list.name)))
    })
}

/// Heap bytes per annotation, including its event and its outcome.
const ANNOTATION: u64 = 400;

/// Offsets of a document's events, by index.
type EventsByIndex = HashMap<u64, Option<Result<u64, Uncertain>>>;

impl<'p> Annotated<'p> {
    /// Reads the annotations of a document. Returns `None` if the document has none.
    ///
    /// `alone`: whether the document is the whole trace and all of its events are written.
    pub(super) fn of(
        document: &Document,
        numbers: &EventNumbers,
        alone: bool,
        store: &Store<'p>,
        quota: &Quota,
    ) -> Result<Option<Self>, Error> {
        let Some((key, _, text)) = modifications(document, store) else { return Ok(None) };
        let mut lists = Vec::with_capacity(LISTS);
        let mut malformed = 0;
        for (list, array) in lists_of(text) {
            let items = array.map_or(Some(Vec::new()), elements);
            malformed += u64::from(items.is_none());
            lists.push((list, items.unwrap_or_default()));
        }
        let all: usize = lists.iter().map(|(_, all)| all.len()).sum();
        quota.take(all as u64 * ANNOTATION, "DevTools annotations")?;
        let keys = lists.iter().flat_map(|(list, all)| all.iter().flat_map(|e| list.keys(e)));
        let indices: BTreeSet<u64> = keys.filter_map(|(_, key)| key.ok()?.index()).collect();
        let indices: Vec<u64> = indices.into_iter().collect();
        let found = numbers.find(document, &indices, store);
        let found: EventsByIndex = indices.into_iter().zip(found).collect();
        let mut lists = lists.into_iter().map(|(list, all)| {
            all.into_iter().map(|element| list.element(element, &found, store)).collect()
        });
        let breadcrumb = member(text, b"initialBreadcrumb");
        let mut annotated = Annotated {
            offset: document.keys[key].offset,
            text,
            lists: std::array::from_fn(|_| lists.next().unwrap_or_default()),
            malformed,
            crumbs: Breadcrumbs::of(breadcrumb.unwrap_or_default()),
            breadcrumb,
            applied: member(text, b"annotations").is_some_and(|value| value.starts_with(b"{")),
            threads: None,
        };
        let wanted: BTreeSet<_> = annotated.calls().map(|call| (call.pid, call.tid)).collect();
        if !alone && !wanted.is_empty() {
            let mut threads = ThreadCalls::new(Arc::new(RequestedThreads::new(wanted)));
            let all = numbers
                .each(document, store, |bytes| threads.note(&fields_of(bytes).of(bytes), 0, Some));
            // after a loss no count is reliable
            annotated.threads = Some(if all { threads } else { ThreadCalls::default() });
        }
        Ok(Some(annotated))
    }

    /// Returns all targets of the annotations.
    pub(super) fn named(&self) -> impl Iterator<Item = &EntryTarget> + '_ {
        let elements = self.lists.iter().flatten().flatten();
        elements.flat_map(|element| element.names.iter().map(|(_, named)| named))
    }

    /// Returns the targets that are calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = CallKey> + '_ {
        self.named().filter_map(|named| match named {
            EntryTarget::Call(call) => Some(*call),
            _ => None,
        })
    }
}

impl AnnotationList {
    /// Returns the keys of an element, and the range of each key in the element.
    fn keys(&self, element: &[u8]) -> Vec<(Range<usize>, Result<EventKey, AnnotationDrop>)> {
        let names = match self.kind {
            ElementKind::Key => return vec![(0..element.len(), EventKey::of(element))],
            ElementKind::Keys(names) => names,
            ElementKind::Range => return Vec::new(),
        };
        let key = |name: &&[u8]| match member(element, name) {
            Some(value) => (range_in(element, value), EventKey::of(value)),
            None => (0..0, Err(AnnotationDrop::Malformed)),
        };
        names.iter().map(key).collect()
    }

    fn element<'p>(
        &self,
        text: &'p [u8],
        found: &EventsByIndex,
        store: &Store<'p>,
    ) -> Result<Element<'p>, AnnotationDrop> {
        let span = match self.kind {
            ElementKind::Range => Some(span_of_range(text).ok_or(AnnotationDrop::Malformed)?),
            _ => None,
        };
        let mut names = Vec::new();
        for (range, key) in self.keys(text) {
            names.push((range, named(key?, found, store)?));
        }
        Ok(Element { text, names, span })
    }
}

fn named(
    key: EventKey,
    found: &EventsByIndex,
    store: &Store<'_>,
) -> Result<EntryTarget, AnnotationDrop> {
    let entry = |index: u64| match found.get(&index).copied().flatten() {
        Some(Ok(offset)) => Ok(Order(store).entry_at(offset)),
        Some(Err(Uncertain)) => Err(AnnotationDrop::Damaged),
        None => Err(AnnotationDrop::Malformed),
    };
    match key {
        EventKey::Call(call) => Ok(EntryTarget::Call(call)),
        EventKey::Raw(index) => entry(index).map(EntryTarget::Event),
        EventKey::Synthetic(index) => {
            let entry = entry(index)?;
            let bytes = store.event(entry.place);
            let needs = needs(&fields_of(bytes).of(bytes)).ok_or(AnnotationDrop::Malformed)?;
            Ok(EntryTarget::Synthetic(entry, needs))
        }
    }
}

/// Returns the events that DevTools needs to synthesize an entry from this event. Returns `None` if
/// DevTools never synthesizes an entry from such an event.
fn needs(event: &Event<'_>) -> Option<EntryNeeds> {
    let named = |name: &[u8]| event.is_string(Field::Name, name);
    if event.is_string(Field::Ph, b"b") {
        return Some(EntryNeeds::End);
    }
    if [&b"ResourceSendRequest"[..], b"LayoutShift", b"SoftNavigationStart"].into_iter().any(named)
    {
        return Some(EntryNeeds::Others);
    }
    if named(b"Screenshot") {
        return Some(EntryNeeds::Nothing);
    }
    if named(b"TimeStamp") {
        // start and end of a time stamp may refer to other time stamps
        let data = event.field(Field::Args).and_then(|args| member(args, b"data"));
        let ends = data.is_some_and(|data| member(data, b"end").is_some());
        return Some(if ends { EntryNeeds::Others } else { EntryNeeds::Nothing });
    }
    let cat = event.field(Field::Cat).unwrap_or_default();
    let is_timing =
        cat.windows(b"blink.user_timing".len()).any(|part| part == b"blink.user_timing");
    is_timing.then_some(EntryNeeds::Nothing)
}
