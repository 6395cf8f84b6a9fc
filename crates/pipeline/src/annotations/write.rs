//! Annotations with the keys that they have in the output.

use super::calls::{Ids, Threads};
use super::indices::indices;
use super::key::{CallKey, EventKey};
use super::look::{Bounds, each_event};
use super::read::{Annotated, Element, GROUPS, LISTS, Named, Needs};
use super::text::with_elements;
use super::window::{Breadcrumbs, Span, moved};
use super::{Annotations, text};
use crate::clock::Clocks;
use crate::config::Config;
use crate::emit::Emit;
use crate::keys::United;
use crate::report::{AnnotationDrop, AnnotationReport};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tracemill_core::entry::Entry;
use tracemill_core::exact::Exact;
use tracemill_core::json::member;
use tracemill_core::shift::Shift;
use tracemill_core::target::Format;

/// An output, and what there is to know of it.
pub(crate) struct Written<'w, 'r, 's, 'p> {
    pub(crate) emit: &'w Emit<'r, 's, 'p>,
    pub(crate) config: &'w Config,
    /// Whether all events of all inputs are in it.
    pub(crate) whole: bool,
    /// Events that were made of others, by the places of those.
    pub(crate) made: Option<&'w HashMap<u64, Entry>>,
    /// What moves the times of inputs.
    pub(crate) clocks: Option<&'w Clocks>,
    /// Events that are written before all of these.
    pub(crate) before: u64,
}

impl<'w, 'r, 's, 'p> Written<'w, 'r, 's, 'p> {
    /// An output that has all events as they are.
    pub(crate) fn whole(emit: &'w Emit<'r, 's, 'p>, config: &'w Config) -> Self {
        Written { emit, config, whole: true, made: None, clocks: None, before: 0 }
    }

    /// A merge; `whole` if all events of all inputs are in it.
    pub(crate) fn merged(
        emit: &'w Emit<'r, 's, 'p>,
        clocks: &'w Clocks,
        whole: bool,
        config: &'w Config,
    ) -> Self {
        Written { whole, clocks: Some(clocks), ..Written::whole(emit, config) }
    }

    /// An output of some of the events as they are.
    pub(crate) fn some(emit: &'w Emit<'r, 's, 'p>, config: &'w Config) -> Self {
        Written { whole: false, ..Written::whole(emit, config) }
    }

    /// What moves the times of the input at a place.
    fn shift_at(&self, offset: u64) -> Option<&'w Shift> {
        self.clocks?.shift_at(offset).map(|shift| &**shift)
    }

    /// What was made of an event.
    fn made_of(&self, entry: &Entry) -> Option<&Entry> {
        self.made?.get(&entry.place.offset())
    }
}

/// What became of each annotation, in the order of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates(Vec<Result<(), AnnotationDrop>>);

impl Fates {
    /// Of several outputs: what is in one is kept.
    pub(crate) fn unite(mut self, other: Fates) -> Fates {
        if self.0.is_empty() {
            return other;
        }
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own = (*own).min(other));
        self
    }

    /// In numbers.
    pub(crate) fn report(&self) -> AnnotationReport {
        let mut dropped: BTreeMap<AnnotationDrop, u64> = BTreeMap::new();
        self.0
            .iter()
            .filter_map(|fate| fate.err())
            .for_each(|why| *dropped.entry(why).or_default() += 1);
        let kept = self.0.iter().filter(|fate| fate.is_ok()).count() as u64;
        AnnotationReport { kept, dropped: dropped.into_iter().collect() }
    }
}

/// Lists of the output: elements in place of the first document's, and those of the others.
#[derive(Default)]
struct NewList {
    own: Vec<Option<Vec<u8>>>,
    more: Vec<Vec<u8>>,
}

impl Annotations<'_> {
    /// Puts the annotations into `united`, as they are in the output.
    pub(crate) fn put<'w>(
        &'w self,
        united: &mut United<'_>,
        written: &'w Written<'w, '_, '_, '_>,
    ) -> Fates {
        let mut fates = Fates::default();
        // the array form has no place for keys, which is said where they are counted
        if self.is_empty() || written.emit.layout.format == Format::Array {
            return fates;
        }
        let writer = Writer::new(self, written);
        let lists = writer.lists(&mut fates);
        let text = writer.text(&lists, &mut fates);
        united.put_modifications(text);
        fates
    }
}

struct Writer<'a, 'w, 'r, 's, 'p> {
    all: &'a Annotations<'p>,
    written: &'a Written<'w, 'r, 's, 'p>,
    /// By places.
    indices: HashMap<u64, u64>,
    bounds: Option<Span>,
    /// The threads of calls.
    threads: Threads,
    /// By documents, given by their offsets, and threads in them: whether the output has all that calls are made of.
    same: HashMap<(u64, Ids), bool>,
}

impl<'a, 'w, 'r, 's, 'p> Writer<'a, 'w, 'r, 's, 'p> {
    fn new(all: &'a Annotations<'p>, written: &'a Written<'w, 'r, 's, 'p>) -> Self {
        let emit = written.emit;
        let wanted: Vec<Entry> = all
            .named()
            .filter_map(|named| match named {
                Named::Event(entry) | Named::Synthetic(entry, _) => Some(entry),
                Named::Call(_) => None,
            })
            .flat_map(|entry| [Some(entry), written.made_of(entry)])
            .flatten()
            .copied()
            .collect();
        let any = |own: &Annotated<'_>| own.applied || own.crumbs != Breadcrumbs::default();
        let needed = all.documents.iter().any(any);
        let unknown = all.documents.iter().all(|own| own.crumbs == Breadcrumbs::default());
        let change = all.several || !written.whole || unknown;
        let mut indices = indices(emit, &wanted);
        indices.values_mut().for_each(|index| *index += written.before);
        let mut writer = Writer {
            all,
            written,
            indices,
            bounds: None,
            threads: Threads::default(),
            same: HashMap::new(),
        };
        writer.look(needed && change);
        writer
    }

    /// Looks at all events of the output for what they say of bounds and of calls, if either is asked for.
    fn look(&mut self, bounds: bool) {
        let Written { emit, config, .. } = *self.written;
        let documents = self.all.documents.iter();
        let calls =
            documents.flat_map(|own| own.calls().map(|call| self.renamed(call, own.offset)));
        let wanted: BTreeSet<Ids> = calls.flatten().map(|call| (call.pid, call.tid)).collect();
        if !bounds && wanted.is_empty() {
            return;
        }
        let new = || (Bounds::default(), Threads::new(wanted.clone()));
        let found = each_event(emit, config, new, |(own, threads), event, entry| {
            if bounds {
                own.note(event, entry, self.written.shift_at(entry.place.offset()));
            }
            let place = entry.place.offset();
            let unit = emit.rewrite.as_ref().and_then(|rewrite| rewrite.unit_at(place));
            threads.note(event, unit.unwrap_or(0), |pid| renamed_pid(emit, pid, place));
        });
        let (all, threads): (Vec<Bounds>, Vec<Threads>) = found.into_iter().unzip();
        self.bounds = Bounds::unite(all, emit.order).filter(|_| bounds);
        threads.into_iter().for_each(|threads| self.threads.append(threads));
        let documents = self.all.documents.iter();
        for (document, before) in documents.filter_map(|own| Some((own, own.threads.as_ref()?))) {
            for call in document.calls() {
                let (key, new) =
                    ((document.offset, (call.pid, call.tid)), self.renamed(call, document.offset));
                if let Some(new) = new.filter(|_| !self.same.contains_key(&key)) {
                    let same = before.is_same(key.1, &self.threads, (new.pid, new.tid));
                    self.same.insert(key, same);
                }
            }
        }
    }

    /// The elements of all lists with their new keys.
    fn lists(&self, fates: &mut Fates) -> [NewList; LISTS] {
        let mut lists: [NewList; LISTS] = Default::default();
        let mut seen: [HashSet<Vec<u8>>; LISTS] = Default::default();
        for (number, document) in self.all.documents.iter().enumerate() {
            let malformed = (0..document.malformed).map(|_| Err(AnnotationDrop::Malformed));
            fates.0.extend(malformed);
            let shift = self.written.shift_at(document.offset);
            for ((own, list), seen) in document.lists.iter().zip(&mut lists).zip(&mut seen) {
                for element in own {
                    let new = element.as_ref().map_err(|&reason| reason);
                    let new = new.and_then(|element| self.renewed(element, document, shift));
                    fates.0.push(new.as_ref().map(|_| ()).map_err(|&reason| reason));
                    let new = new.ok();
                    // what two parts of one trace have is one
                    let again = new.as_ref().is_some_and(|new| number > 0 && seen.contains(new));
                    let new = new.filter(|_| !again);
                    match number {
                        0 => list.own.push(new),
                        _ => list.more.extend(new),
                    }
                }
                seen.extend(list.own.iter().flatten().chain(&list.more).cloned());
            }
        }
        lists
    }

    /// An annotation as it is in the output.
    fn renewed(
        &self,
        element: &Element<'_>,
        document: &Annotated<'_>,
        shift: Option<&Shift>,
    ) -> Result<Vec<u8>, AnnotationDrop> {
        if element.span.is_some() {
            let text = moved(element.text, shift);
            let span = super::window::span_of_range(&text);
            let outside = !self.written.whole
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

    /// The key by which the output's DevTools finds what is named.
    fn key(&self, named: &Named, document: &Annotated<'_>) -> Result<EventKey, AnnotationDrop> {
        let index = |entry: &Entry| {
            let mut entries = [Some(entry), self.written.made_of(entry)].into_iter().flatten();
            let index = entries.find_map(|entry| self.indices.get(&entry.place.offset()));
            index.copied().ok_or(AnnotationDrop::Gone)
        };
        match named {
            Named::Event(entry) => index(entry).map(EventKey::Raw),
            Named::Synthetic(_, Needs::Others) if !self.written.whole => Err(AnnotationDrop::Parts),
            Named::Synthetic(entry, _) => index(entry).map(EventKey::Synthetic),
            Named::Call(call) => self.call(*call, document).map(EventKey::Call),
        }
    }

    fn call(&self, call: CallKey, document: &Annotated<'_>) -> Result<CallKey, AnnotationDrop> {
        let new = self.renamed(call, document.offset).ok_or(AnnotationDrop::Call)?;
        let key = (document.offset, (call.pid, call.tid));
        let same = document.threads.is_none() || self.same.get(&key) == Some(&true);
        if same && self.threads.have(new) { Ok(new) } else { Err(AnnotationDrop::Call) }
    }

    /// A call with the new name of its process; `None` if DevTools finds nothing by that.
    fn renamed(&self, call: CallKey, offset: u64) -> Option<CallKey> {
        Some(CallKey { pid: renamed_pid(self.written.emit, call.pid, offset)?, ..call })
    }

    /// `modifications` of the output.
    fn text(&self, lists: &[NewList; LISTS], fates: &mut Fates) -> Vec<u8> {
        let documents = &self.all.documents;
        let base = documents[0].text;
        let applied = documents.iter().any(|own| own.applied);
        let mut out = base.to_vec();
        let mut lists = lists.iter();
        for (group, of_group) in GROUPS {
            let old = member(base, group).filter(|group| group.starts_with(b"{"));
            let mut object = old.unwrap_or(b"{}").to_vec();
            for (list, new) in of_group.iter().zip(&mut lists) {
                let array = member(&object, list.name);
                let is_array = array.is_some_and(|array| array.starts_with(b"["));
                let array = array.filter(|_| is_array).unwrap_or(b"[]");
                let new = with_elements(array, new.own.clone(), new.more.clone());
                if !is_array && (applied || new != b"[]") || new != array {
                    object = text::with_member(&object, list.name, &new);
                }
            }
            let needed = applied || object != b"{}";
            if needed && old != Some(&*object) {
                out = text::with_member(&out, group, &object);
            }
        }
        let crumbs = self.breadcrumbs(fates);
        let old = member(base, b"initialBreadcrumb");
        if let Some(crumbs) = crumbs.filter(|_| applied || old.is_some()) {
            out = text::with_member(&out, b"initialBreadcrumb", &crumbs);
        }
        out
    }

    /// The breadcrumbs of the first input that has any, within the bounds of the output.
    fn breadcrumbs(&self, fates: &mut Fates) -> Option<Vec<u8>> {
        let documents = &self.all.documents;
        let known = |own: &&Annotated<'_>| own.crumbs != Breadcrumbs::default();
        let nowhere = || Span { min: Exact::ZERO, max: Exact::ZERO };
        let Some(first) = documents
            .iter()
            .find(|own| own.crumbs.inner() > 0)
            .or_else(|| documents.iter().find(known))
        else {
            let bounds = self.bounds.clone().unwrap_or_else(nowhere);
            return Some(Breadcrumbs::default().within(Some(&bounds), None).text(None));
        };
        let all: u64 = documents.iter().map(|own| own.crumbs.inner()).sum();
        let shift = self.written.shift_at(first.offset);
        let within = first.crumbs.clone().within(self.bounds.as_ref(), shift);
        let fate =
            |number| if number < within.inner() { Ok(()) } else { Err(AnnotationDrop::Breadcrumb) };
        fates.0.extend((0..all).map(fate));
        Some(within.text(member(first.text, b"initialBreadcrumb")))
    }
}

/// The name in the output of a process of the input at a place; `None` if that is no number.
fn renamed_pid(emit: &Emit<'_, '_, '_>, pid: u64, offset: u64) -> Option<u64> {
    let rewrite = emit.rewrite.as_ref();
    let unit = rewrite.and_then(|rewrite| Some(&rewrite.units[rewrite.unit_at(offset)?]));
    let renames = unit.and_then(|unit| unit.renames.as_ref());
    let key = crate::identity::key_of(Some(pid.to_string().as_bytes()));
    match renames.and_then(|renames| renames.pid(&key)) {
        None => Some(pid),
        Some(new) => std::str::from_utf8(new).ok()?.parse().ok(),
    }
}
