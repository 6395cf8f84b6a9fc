//! What is changed in an event for what it is alone: patches, found by the worker that writes it.
//!
//! They come on top of those for new names: a value that has one already gets its last one here.

use super::changes::{Change, Changes};
use super::chunk::{cut, may_be_large};
use super::overlaps::{Edit, Overlapping, find_overlaps};
use super::scan::Known;
use super::threads::{NewThreads, flow_id, local_flow_id};
use super::too_large;
use crate::check::{Need, lacks};
use crate::config::CheckFor;
use crate::config::Config;
use crate::emit::Emit;
use crate::identity::{Patch, key_of};
use crate::keys::United;
use crate::report::MergeReport;
use crate::report::ViewerReport;
use std::collections::HashMap;
use std::sync::Mutex;
use tracemill_core::error::Error;
use tracemill_core::json::member;
use tracemill_core::json::push_micros;
use tracemill_core::splice::touches;
use tracemill_tokenizer::{Event, Field, FieldFinder, Tier, Validator, mend, number_text};

/// What all workers share.
pub(crate) struct Retouch {
    viewer: CheckFor,
    threads: NewThreads,
    overlapping: Overlapping,
    /// What was changed.
    done: Mutex<Changes>,
}

/// What stands between events in the forms that viewers read.
const SEPARATOR: &[u8] = b",\n";

impl Retouch {
    /// For the trace that `emit` will write; `changes` were done before.
    pub(crate) fn new(
        known: &Known,
        emit: &Emit<'_, '_, '_>,
        mut changes: Changes,
        config: &Config,
    ) -> Result<Self, Error> {
        let renames = known.viewer == CheckFor::Perfetto;
        let mut threads = NewThreads::of(&known.census, emit.rewrite.as_ref(), renames);
        changes.add(Change::Pids, threads.pids.len() as u64);
        changes.add(Change::Tids, threads.tids.len() as u64);
        let overlapping = find_overlaps(emit, &mut threads, &mut changes, config)?;
        Ok(Retouch { viewer: known.viewer, threads, overlapping, done: Mutex::new(changes) })
    }

    /// Mends keys beside the events.
    pub(crate) fn mend_keys(&self, united: &mut United<'_>) {
        let mut done = self.done.lock().unwrap_or_else(|e| e.into_inner());
        done.add(Change::MendedKeys, united.mend());
    }

    /// Events that are written before all others: names of lanes.
    pub(crate) fn before(&self) -> u64 {
        self.done.lock().unwrap_or_else(|e| e.into_inner()).get(Change::Lanes)
    }

    /// Adds to what was changed.
    pub(crate) fn count(&self, changes: &Changes) {
        self.done.lock().unwrap_or_else(|e| e.into_inner()).append(changes);
    }

    /// Says what was changed once all is written; `span` is the first and last time of the trace.
    pub(crate) fn report(&self, report: &mut MergeReport, span: Option<(i64, i64)>) {
        let done = *self.done.lock().unwrap_or_else(|e| e.into_inner());
        report.viewer = ViewerReport { viewer: Some(self.viewer), changes: done.list() };
        report.events += done.get(Change::Parts) + done.get(Change::Lanes);
        if done.get(Change::Parts) > 0 && report.annotations.kept > 0 {
            report.warnings.push(format!(
                "{} chunks of CPU profiles were cut into more events, so that annotations may name earlier events than \
                 they did: annotate the output instead",
                done.get(Change::Chunks)
            ));
        }
        if self.viewer == CheckFor::Devtools {
            report.warnings.extend(too_large(report.bytes, span));
        }
    }
}

/// Finds what is changed; one for each worker.
pub(crate) struct Retoucher<'r> {
    retouch: &'r Retouch,
    finder: FieldFinder,
    validator: Validator,
    pub(crate) changes: Changes,
    /// New pids and tids by those as they are spelled.
    known: HashMap<Vec<u8>, [Option<u32>; 2]>,
    event: Vec<u8>,
}

/// The patches of one event.
struct Patches<'e, 'p> {
    event: &'e [u8],
    /// The first of its patches.
    first: usize,
    patches: &'p mut Vec<Patch>,
    texts: &'p mut Vec<u8>,
}

impl<'e> Patches<'e, '_> {
    fn patch_of(&self, value: &[u8]) -> Option<usize> {
        // what is missing stands nowhere
        let at = (value.as_ptr() as usize).checked_sub(self.event.as_ptr() as usize)?;
        let own = self.patches[self.first..].iter();
        own.clone().position(|p| p.old == (at..at + value.len())).map(|at| self.first + at)
    }

    /// A value as it will be written.
    fn current<'x>(&'x self, value: &'x [u8]) -> &'x [u8] {
        match self.patch_of(value) {
            Some(patch) => &self.texts[self.patches[patch].new.clone()],
            None => value,
        }
    }

    /// Writes `text` instead of `value`.
    fn put(&mut self, value: &[u8], text: &[u8]) {
        let known = self.patch_of(value);
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let new = start..self.texts.len();
        let at = value.as_ptr() as usize - self.event.as_ptr() as usize;
        match known {
            Some(patch) => self.patches[patch].new = new,
            None => self.patches.push(Patch { old: at..at + value.len(), new }),
        }
    }

    /// Writes members in front of all others.
    fn insert(&mut self, members: &[u8]) {
        if !members.is_empty() {
            let front = &self.event[1..1];
            let all = match self.patch_of(front) {
                Some(_) => [self.current(front), members].concat(),
                None => members.to_vec(),
            };
            self.put(front, &all);
        }
    }

    /// Puts the patches in order and apart from what follows them.
    fn settle(&mut self) -> &[Patch] {
        let own = &mut self.patches[self.first..];
        own.sort_unstable_by_key(|patch| (patch.old.start, patch.old.end));
        for patch in own.iter_mut() {
            if touches(&self.texts[patch.new.clone()], &self.event[patch.old.end..]) {
                let start = self.texts.len();
                self.texts.extend_from_within(patch.new.clone());
                self.texts.push(b' ');
                patch.new = start..self.texts.len();
            }
        }
        own
    }

    /// Settles the patches; returns how much longer the event becomes.
    fn finish(mut self) -> i64 {
        let own = self.settle().iter();
        own.map(|patch| patch.new.len() as i64 - patch.old.len() as i64).sum()
    }
}

impl<'r> Retoucher<'r> {
    pub(crate) fn new(retouch: &'r Retouch, tier: Tier) -> Self {
        Retoucher {
            retouch,
            finder: FieldFinder::new(tier),
            validator: Validator::new(tier),
            changes: Changes::default(),
            known: HashMap::new(),
            event: Vec::new(),
        }
    }

    /// Adds to the patches of an event, which are those from `first` on; returns how much longer it becomes with all of
    /// them. `index` is its number in the output.
    pub(crate) fn find(
        &mut self,
        event: &[u8],
        index: u64,
        first: usize,
        patches: &mut Vec<Patch>,
        texts: &mut Vec<u8>,
    ) -> i64 {
        let spans = self.finder.find(event);
        let mut found = Patches { event, first, patches, texts };
        let event = spans.of(event);
        match self.retouch.viewer {
            CheckFor::Devtools => {
                self.supply_args(&event, &mut found);
                self.supply(&event, &mut found);
                self.unquote(&event, &mut found);
            }
            CheckFor::Perfetto => {
                self.rename(&event, &mut found);
                self.rename_flow(&event, &mut found);
            }
        }
        if let Some(edit) = self.retouch.overlapping.at(index) {
            edit_overlap(&event, edit, &mut found);
        }
        self.rewrite(&event, &mut found);
        if index == 0 && !self.retouch.overlapping.names.is_empty() {
            found.put(&event.bytes[..0], &self.retouch.overlapping.names);
        }
        found.finish()
    }

    /// Name, category and args are there; instants are of phase `I`.
    fn supply(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        let mut missing = Vec::new();
        let is_metadata = event.is_metadata();
        // args that were supplied by the name are there
        let fields = if lacks(event).is_some() { 2 } else { 3 };
        let rows = [
            (Field::Name, Change::Names, &b"\"\""[..], false),
            (Field::Cat, Change::Cats, b"\"\"", is_metadata),
            (Field::Args, Change::Args, b"{}", false),
        ];
        for (field, change, value, optional) in rows.into_iter().take(fields) {
            let is_text = field != Field::Args;
            match event.field_and_rest(field).map(|rest| rest[0]) {
                Some(b'"') if is_text => {}
                Some(b'{') if !is_text => {}
                None if optional => {}
                None => {
                    missing.extend_from_slice(format!("\"{}\":", field.key()).as_bytes());
                    missing.extend_from_slice(value);
                    missing.push(b',');
                    self.changes.one(change);
                }
                Some(_) => {
                    let old = event.field(field).unwrap_or_default();
                    if old == b"null" {
                        found.put(old, value);
                        self.changes.one(change);
                    } else if is_text {
                        found.put(old, &quoted(old));
                        self.changes.one(change);
                    }
                }
            }
        }
        found.insert(&missing);
        if event.is_string(Field::Ph, b"i")
            && let Some(phase) = event.field(Field::Ph)
        {
            found.put(phase, b"\"I\"");
            self.changes.one(Change::Instants);
        }
    }

    /// What DevTools reads of args by the name of the event is there.
    fn supply_args(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        let Some(Need { object, member: needed }) = lacks(event) else { return };
        let own = needed.map_or_else(String::new, |(name, value)| format!("\"{name}\":{value}"));
        let is_object = |value: &&[u8]| value.starts_with(b"{");
        let Some(args) = event.field(Field::Args).filter(is_object) else {
            // other args are nothing to DevTools
            let args = format!("{{\"{object}\":{{{own}}}}}");
            match event.field(Field::Args) {
                Some(other) => found.put(other, args.as_bytes()),
                None => found.insert(format!("\"args\":{args},").as_bytes()),
            }
            return self.changes.one(Change::PageArgs);
        };
        let data = member(args, object.as_bytes());
        let in_data = data.and_then(|data| member(data, needed?.0.as_bytes()));
        match (data, in_data) {
            (Some(data), Some(old)) if is_object(&data) => {
                found.put(old, needed.map_or("", |(_, value)| value).as_bytes());
            }
            (Some(data), None) if is_object(&data) => insert_into(data, &own, found),
            (Some(other), _) => found.put(other, format!("{{{own}}}").as_bytes()),
            (None, _) => insert_into(args, &format!("\"{object}\":{{{own}}}"), found),
        }
        self.changes.one(Change::PageArgs);
    }

    /// Times are numbers.
    fn unquote(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        for field in [Field::Ts, Field::Dur] {
            if event.field_and_rest(field).is_none_or(|rest| rest[0] != b'"') {
                continue;
            }
            let Some(value) = event.field(field) else { continue };
            let mut scratch = Vec::new();
            if let Some(number) = number_text(found.current(value), &mut scratch) {
                let number = number.to_vec();
                found.put(value, &number);
                self.changes.one(Change::QuotedTimes);
            }
        }
    }

    /// pid and tid fit.
    fn rename(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        let threads = &self.retouch.threads;
        if threads.is_empty() {
            return;
        }
        let [pid, tid] = [Field::Pid, Field::Tid].map(|f| event.field(f).unwrap_or_default());
        let as_written = [found.current(pid), b"\0", tid].concat();
        let pid_now = found.current(pid).to_vec();
        let new = *self.known.entry(as_written).or_insert_with(|| {
            let key = key_of(Some(&pid_now));
            let lane = [&*key, &*key_of(Some(tid))].concat();
            [threads.pids.get(&key).copied(), threads.tids.get(&lane).copied()]
        });
        for (value, new) in [pid, tid].into_iter().zip(new) {
            if let Some(new) = new {
                found.put(value, new.to_string().as_bytes());
            }
        }
    }

    /// Ids of flows are numbers in `id`.
    fn rename_flow(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        if let Some(id) = event.field(Field::BindId)
            && let Some(new) = flow_id(found.current(id))
        {
            found.put(id, &new);
            self.changes.one(Change::FlowIds);
        }
        if !matches!(event.phase(), b's' | b't' | b'f') {
            return;
        }
        if let Some(id) = event.field(Field::Id) {
            if let Some(new) = flow_id(found.current(id)) {
                found.put(id, &new);
                self.changes.one(Change::FlowIds);
            }
            return;
        }
        let Some(id2) = event.field(Field::Id2) else { return };
        let id = match (member(id2, b"global"), member(id2, b"local")) {
            (Some(id), _) => {
                let id = found.current(id);
                flow_id(id).unwrap_or_else(|| id.to_vec())
            }
            (None, Some(id)) => {
                let pid = event.field(Field::Pid).unwrap_or_default();
                local_flow_id(found.current(id), found.current(pid))
            }
            (None, None) => return,
        };
        found.insert(&[b"\"id\":", &*id, b","].concat());
        self.changes.one(Change::FlowId2);
    }

    /// Cuts what is too large, and mends what is not JSON: the event as a whole.
    fn rewrite(&mut self, event: &Event<'_>, found: &mut Patches<'_, '_>) {
        let cuts = self.retouch.viewer == CheckFor::Devtools && may_be_large(event);
        let sound = self.validator.check(event.bytes).is_ok();
        if sound && !cuts {
            return;
        }
        self.apply(event.bytes, found);
        let mut changed = false;
        // what has no one meaning was lost when it was read
        if !sound && let Ok(Some(mended)) = mend(&self.event) {
            self.event = mended;
            self.changes.one(Change::Mended);
            changed = true;
        }
        let spans = tracemill_tokenizer::fields_of(&self.event);
        if cuts && let Some((parts, count)) = cut(&spans.of(&self.event), SEPARATOR) {
            self.event = parts;
            self.changes.one(Change::Chunks);
            self.changes.add(Change::Parts, count - 1);
            changed = true;
        }
        if !changed {
            return;
        }
        found.patches.truncate(found.first);
        let text = std::mem::take(&mut self.event);
        found.put(event.bytes, &text);
        self.event = text;
    }

    /// Puts the event with its patches so far into `self.event`.
    fn apply(&mut self, bytes: &[u8], found: &mut Patches<'_, '_>) {
        found.settle();
        self.event.clear();
        let mut at = 0;
        for patch in &found.patches[found.first..] {
            self.event.extend_from_slice(&bytes[at..patch.old.start]);
            self.event.extend_from_slice(&found.texts[patch.new.clone()]);
            at = patch.old.end;
        }
        self.event.extend_from_slice(&bytes[at..]);
    }
}

/// Writes a member in front of all others of an object in the event.
fn insert_into(object: &[u8], member: &str, found: &mut Patches<'_, '_>) {
    let is_empty = object[1..].trim_ascii_start().starts_with(b"}");
    let comma = if is_empty { "" } else { "," };
    found.put(&object[1..1], format!("{member}{comma}").as_bytes());
}

/// A JSON value as the string that holds its text.
fn quoted(value: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in value {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => out.push(b' '),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

fn edit_overlap(event: &Event<'_>, edit: Edit, found: &mut Patches<'_, '_>) {
    let mut text = Vec::new();
    let field = match edit {
        Edit::Tid(tid) => {
            text.extend_from_slice(tid.to_string().as_bytes());
            Field::Tid
        }
        Edit::Dur(ns) => {
            push_micros(ns, &mut text);
            Field::Dur
        }
    };
    match event.field(field) {
        Some(value) => found.put(value, &text),
        None => {
            let member = format!("\"{}\":", field.key());
            found.insert(&[member.as_bytes(), &*text, b","].concat());
        }
    }
}
