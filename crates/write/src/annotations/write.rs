//! Writes annotations with the keys that their events have in the output.

use super::Annotations;
use super::calls::{RequestedThreads, ThreadCalls, ThreadIds};
use super::indices::indices;
use super::key::{CallKey, EventKey};
use super::outcomes::Outcomes;
use super::read::{Annotated, Element, EntryNeeds, EntryTarget, GROUPS, LISTS};
use super::trace_bounds::{BoundsSearch, each_event};
use super::window::{AnnotationSpan, Breadcrumbs, moved};
use crate::emit::OrderedEvents;
use crate::keys::edit::{ArrayStyle, with_member};
use crate::keys::merged_keys::MergedKeys;
use crate::patch::CutChunk;
use std::sync::Arc;
use tracemill_join::clock::Clocks;
use tracemill_join::identity::Rewrite;
use tracemill_join::report::warning::AnnotationDrop;
use tracemill_trace::Limits;
use tracemill_trace::json::member;
use tracemill_trace::output::target::Format;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::attos::Attos;
use tracemill_trace::time::shift::Shift;

/// Differences between an output and its inputs that affect annotations. By default there are no
/// differences.
#[derive(Clone, Copy, Default)]
pub struct OutputChanges<'w> {
    /// Whether events of the inputs are left out.
    pub partial: bool,
    /// Synthetic events that replace events of the inputs, by the offset of the replaced event.
    pub synthetic: Option<&'w HashMap<u64, Entry>>,
    /// Ids that are renamed.
    pub rewrite: Option<&'w Rewrite>,
    /// Clock offsets of the inputs.
    pub clocks: Option<&'w Clocks>,
    /// Number of events in the output before those of [`OrderedEvents`].
    pub before: u64,
    /// Chunks of CPU profiles that are written as several events.
    pub cut_chunks: &'w [CutChunk],
    /// The range in nanoseconds that DevTools shows when it opens the output; `None` for the whole
    /// trace.
    pub window: Option<(i64, i64)>,
}

impl<'w> OutputChanges<'w> {
    /// Returns the time shift of the input at an offset.
    fn shift_at(&self, offset: u64) -> Option<&'w Shift> {
        self.clocks?.shift_at(offset).map(|shift| &**shift)
    }

    /// Returns the synthetic event that replaces an event.
    fn replacement_of(&self, entry: &Entry) -> Option<&'w Entry> {
        self.synthetic?.get(&entry.place.offset())
    }
}

/// Elements of the lists of the output, from all documents.
type OutputLists = [Vec<Vec<u8>>; LISTS];

impl Annotations<'_> {
    /// Writes the annotations into `united`, with the keys of the output.
    pub fn put<'w>(
        &'w self,
        united: &mut MergedKeys<'_>,
        events: &'w OrderedEvents<'_, '_, '_>,
        written: &'w OutputChanges<'w>,
        limits: &'w Limits,
    ) -> Outcomes {
        let mut outcomes = Outcomes::default();
        // the array form has no top-level keys; the report counts this loss as lost keys
        let is_empty = self.is_empty() && written.window.is_none();
        if is_empty || events.layout.format == Format::Array {
            return outcomes;
        }
        let writer = AnnotationWriter::new(self, events, written, limits);
        let lists = writer.lists(&mut outcomes);
        let text = writer.text(lists, &mut outcomes);
        united.put_modifications(text);
        outcomes
    }
}

struct AnnotationWriter<'a, 'w, 'r, 's, 'p> {
    all: &'a Annotations<'p>,
    events: &'a OrderedEvents<'r, 's, 'p>,
    written: &'a OutputChanges<'w>,
    limits: &'a Limits,
    /// Indices in the output, by offset.
    indices: HashMap<u64, u64>,
    /// The range of the output that DevTools shows, if it may differ from the ranges of the inputs.
    bounds: Option<AnnotationSpan>,
    /// Counts of the threads whose calls are annotated.
    threads: ThreadCalls,
    /// Whether the output has all data from which DevTools derives the calls of a thread. The key
    /// is a document's offset and a thread.
    same: HashMap<(u64, ThreadIds), bool>,
}

impl<'a, 'w, 'r, 's, 'p> AnnotationWriter<'a, 'w, 'r, 's, 'p> {
    fn new(
        all: &'a Annotations<'p>,
        events: &'a OrderedEvents<'r, 's, 'p>,
        written: &'a OutputChanges<'w>,
        limits: &'a Limits,
    ) -> Self {
        let any = |annotated: &Annotated<'_>| {
            annotated.applied || annotated.crumbs != Breadcrumbs::default()
        };
        let needed = all.documents.iter().any(any);
        let unknown =
            all.documents.iter().all(|document| document.crumbs == Breadcrumbs::default());
        let change = all.several || written.partial || unknown;
        let mut writer = AnnotationWriter {
            all,
            events,
            written,
            limits,
            indices: HashMap::default(),
            bounds: written.window.map(|(from, to)| AnnotationSpan::between(from, to)),
            threads: ThreadCalls::default(),
            same: HashMap::default(),
        };
        writer.look(needed && change && written.window.is_none());
        writer.compare_threads();
        writer.find_events();
        writer
    }

    /// Returns the targets of well-formed annotations, each with its document.
    fn named(&self) -> impl Iterator<Item = (&'a Annotated<'p>, &'a EntryTarget)> + use<'a, 'p> {
        let all = self.all;
        all.documents
            .iter()
            .flat_map(|document| document.named().map(move |named| (document, named)))
    }

    /// Finds the output indices of all events that annotations refer to.
    fn find_events(&mut self) {
        let mut wanted = Vec::new();
        for (_, named) in self.named() {
            if let EntryTarget::Event(entry) | EntryTarget::Synthetic(entry, _) = named {
                wanted.push(*entry);
                wanted.extend(self.written.replacement_of(entry));
            }
        }
        let (events, OutputChanges { before, cut_chunks, .. }) = (self.events, *self.written);
        if !wanted.is_empty() {
            wanted.extend(cut_chunks.iter().map(|chunk| events.order.entry_at(chunk.offset)));
        }
        self.indices = indices(events, &wanted);
        let index_of = |chunk: &CutChunk| Some((*self.indices.get(&chunk.offset)?, chunk.more));
        let mut cut: Vec<(u64, u64)> = cut_chunks.iter().filter_map(index_of).collect();
        cut.sort_unstable();
        let mut sum = 0;
        for (_, more) in &mut cut {
            sum += *more;
            *more = sum;
        }
        #[expect(clippy::iter_over_hash_type, reason = "each index moves by itself")]
        for index in self.indices.values_mut() {
            let earlier = cut.partition_point(|&(chunk, _)| chunk < *index);
            *index += before + earlier.checked_sub(1).map_or(0, |last| cut[last].1);
        }
    }

    /// Returns the threads whose calls are annotated, with their new pids.
    fn wanted(&self) -> Arc<RequestedThreads> {
        let documents = self.all.documents.iter();
        let calls = documents
            .flat_map(|document| document.calls().map(|call| self.renamed(call, document.offset)));
        Arc::new(RequestedThreads::new(calls.flatten().map(|call| (call.pid, call.tid)).collect()))
    }

    /// Reads all events of the output, if its bounds or the threads of calls are needed.
    fn look(&mut self, bounds: bool) {
        let (events, config) = (self.events, self.limits);
        let wanted = self.wanted();
        if !bounds && wanted.is_empty() {
            return;
        }
        let new = || (BoundsSearch::default(), ThreadCalls::new(Arc::clone(&wanted)));
        let found = each_event(events, config, new, |(search, threads), event, entry| {
            if bounds {
                search.note(event, entry, self.written.shift_at(entry.place.offset()));
            }
            let place = entry.place.offset();
            let unit = self.written.rewrite.and_then(|rewrite| rewrite.unit_at(place));
            threads.note(event, unit.unwrap_or(0), |pid| {
                renamed_pid(self.written.rewrite, pid, place)
            });
        });
        let (all, threads): (Vec<BoundsSearch>, Vec<ThreadCalls>) = found.into_iter().unzip();
        if bounds {
            self.bounds = BoundsSearch::unite(all, events.order);
        }
        threads.into_iter().for_each(|threads| self.threads.append(threads));
    }

    /// Finds the annotated threads whose calls DevTools derives from the same data as before.
    fn compare_threads(&mut self) {
        let mut same = HashMap::default();
        for (document, named) in self.named() {
            let (Some(before), EntryTarget::Call(call)) = (&document.threads, named) else {
                continue;
            };
            let key = (document.offset, (call.pid, call.tid));
            if let Some(new) = self.renamed(*call, document.offset) {
                let new = (new.pid, new.tid);
                same.entry(key).or_insert_with(|| before.is_same(key.1, &self.threads, new));
            }
        }
        self.same = same;
    }

    /// Returns the elements of all lists with their new keys.
    fn lists(&self, outcomes: &mut Outcomes) -> OutputLists {
        let mut lists = OutputLists::default();
        let documents = &self.all.documents;
        // annotations that several documents of one trace have are written once
        let several = documents.len() > 1;
        let mut seen: [HashMap<Vec<u8>, usize>; LISTS] = Default::default();
        for (number, document) in documents.iter().enumerate() {
            outcomes.0.extend((0..document.malformed).map(|_| Err(AnnotationDrop::Malformed)));
            let shift = self.written.shift_at(document.offset);
            for (list, elements) in document.lists.iter().enumerate() {
                for element in elements {
                    let new = element.as_ref().map_err(|&reason| reason);
                    let new = new.and_then(|element| self.renewed(element, document, shift));
                    outcomes.0.push(new.as_ref().map(|_| ()).map_err(|&reason| reason));
                    let Ok(new) = new else { continue };
                    if !several || *seen[list].entry(new.clone()).or_insert(number) == number {
                        lists[list].push(new);
                    }
                }
            }
        }
        lists
    }

    /// Returns an annotation as it is written to the output.
    fn renewed(
        &self,
        element: &Element<'_>,
        document: &Annotated<'_>,
        shift: Option<&Shift>,
    ) -> Result<Vec<u8>, AnnotationDrop> {
        if element.span.is_some() {
            let text = moved(element.text, shift);
            let span = super::window::span_of_range(&text);
            let outside = self.written.partial
                && self
                    .bounds
                    .as_ref()
                    .zip(span)
                    .is_some_and(|(bounds, span)| !span.touches(bounds));
            return if outside { Err(AnnotationDrop::Gone) } else { Ok(text) };
        }
        let (mut text, mut at) = (Vec::new(), 0);
        let mut names: Vec<_> = element.names.iter().collect();
        names.sort_by_key(|(range, _)| range.start);
        for (range, named) in names {
            text.extend_from_slice(&element.text[at..range.start]);
            let old = &element.text[range.clone()];
            let key = self.key(named, document)?;
            match EventKey::of(old) == Ok(key) {
                true => text.extend_from_slice(old),
                false => text.extend(key.text()),
            }
            at = range.end;
        }
        text.extend_from_slice(&element.text[at..]);
        Ok(text)
    }

    /// Returns the key under which DevTools finds the target in the output.
    fn key(
        &self,
        named: &EntryTarget,
        document: &Annotated<'_>,
    ) -> Result<EventKey, AnnotationDrop> {
        let index = |entry: &Entry| {
            let mut entries =
                [Some(entry), self.written.replacement_of(entry)].into_iter().flatten();
            let index = entries.find_map(|entry| self.indices.get(&entry.place.offset()));
            index.copied().ok_or(AnnotationDrop::Gone)
        };
        match named {
            EntryTarget::Event(entry) => index(entry).map(EventKey::Raw),
            EntryTarget::Synthetic(_, EntryNeeds::Others) if self.written.partial => {
                Err(AnnotationDrop::Parts)
            }
            EntryTarget::Synthetic(entry, _) => index(entry).map(EventKey::Synthetic),
            EntryTarget::Call(call) => self.call(*call, document).map(EventKey::Call),
        }
    }

    fn call(&self, call: CallKey, document: &Annotated<'_>) -> Result<CallKey, AnnotationDrop> {
        let new = self.renamed(call, document.offset).ok_or(AnnotationDrop::Call)?;
        let key = (document.offset, (call.pid, call.tid));
        let same = document.threads.is_none() || self.same.get(&key) == Some(&true);
        if same && self.threads.have(new) { Ok(new) } else { Err(AnnotationDrop::Call) }
    }

    /// Returns a call with its new pid, or `None` if the new pid is not a number.
    fn renamed(&self, call: CallKey, offset: u64) -> Option<CallKey> {
        Some(CallKey { pid: renamed_pid(self.written.rewrite, call.pid, offset)?, ..call })
    }

    fn text(&self, lists: OutputLists, outcomes: &mut Outcomes) -> Vec<u8> {
        let documents = &self.all.documents;
        let first = documents.first().map_or(&b"{}"[..], |first| first.text);
        let applied =
            self.written.window.is_some() || documents.iter().any(|document| document.applied);
        let mut out = with_lists(first, lists, applied);
        let crumbs = self.breadcrumbs(outcomes);
        let old = member(&out, b"initialBreadcrumb");
        if let Some(crumbs) = crumbs.filter(|_| applied || old.is_some()) {
            out = with_member(&out, b"initialBreadcrumb", &crumbs);
        }
        out
    }

    /// Returns the breadcrumbs of the first input with inner breadcrumbs, or else of the first
    /// input with any. They are clipped to the bounds of the output.
    fn breadcrumbs(&self, outcomes: &mut Outcomes) -> Option<Vec<u8>> {
        let documents = &self.all.documents;
        let known = |annotated: &&Annotated<'_>| annotated.crumbs != Breadcrumbs::default();
        let nowhere = || AnnotationSpan { min: Attos::ZERO, max: Attos::ZERO };
        let Some(first) = documents
            .iter()
            .find(|document| document.crumbs.inner() > 0)
            .or_else(|| documents.iter().find(known))
        else {
            let bounds = self.bounds.unwrap_or_else(nowhere);
            return Some(Breadcrumbs::default().within(Some(&bounds), None).text(None));
        };
        let all: u64 = documents.iter().map(|document| document.crumbs.inner()).sum();
        let shift = self.written.shift_at(first.offset);
        let within = first.crumbs.clone().within(self.bounds.as_ref(), shift);
        outcomes.0.extend((0..all).map(|number| match number < within.inner_read() {
            true => Ok(()),
            false => Err(AnnotationDrop::Breadcrumb),
        }));
        Some(within.text(first.breadcrumb))
    }
}

/// Replaces the lists in `modifications`. Adds missing lists that are not empty. Adds all lists if
/// DevTools applies the annotations.
fn with_lists(modifications: &[u8], lists: OutputLists, applied: bool) -> Vec<u8> {
    let mut text = modifications.to_vec();
    let mut lists = lists.into_iter();
    for (group, of_group) in GROUPS {
        let old = member(modifications, group).filter(|group| group.starts_with(b"{"));
        let mut object = old.unwrap_or(b"{}").to_vec();
        for (list, elements) in of_group.iter().zip(&mut lists) {
            let style = member(&object, list.name).filter(|list| list.starts_with(b"["));
            let style = style.map(ArrayStyle::of);
            if style.is_some() || applied || !elements.is_empty() {
                let list_text = style.unwrap_or(ArrayStyle::PLAIN).list(&elements);
                object = with_member(&object, list.name, &list_text);
            }
        }
        if (applied || object != b"{}") && old != Some(&*object) {
            text = with_member(&text, group, &object);
        }
    }
    text
}

/// Returns the new pid of a process of the input at an offset, or `None` if the new pid is not a
/// number.
fn renamed_pid(rewrite: Option<&Rewrite>, pid: u64, offset: u64) -> Option<u64> {
    let unit = rewrite.and_then(|rewrite| Some(&rewrite.units[rewrite.unit_at(offset)?]));
    let renames = unit.and_then(|unit| unit.renames.as_ref());
    let key = tracemill_join::identity::key_of(Some(pid.to_string().as_bytes()));
    match renames.and_then(|renames| renames.pid(&key)) {
        None => Some(pid),
        Some(new) => std::str::from_utf8(new).ok()?.parse().ok(),
    }
}
