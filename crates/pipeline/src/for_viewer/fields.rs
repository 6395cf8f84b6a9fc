//! Finds the changes to single events for a viewer, on the worker that writes them.
//!
//! These patches follow those of renaming, and see the renamed values.

use super::changes::{Change, Changes};
use super::chunk::{cut, may_be_large};
use super::escapes::with_characters;
use super::overlaps::{Edit, Overlapping, find_overlaps};
use super::scan::ViewerFacts;
use super::threads::{RenamedThreads, flow_id, local_flow_id};
use memchr::memmem;
use std::sync::Mutex;
use tracemill_join::config::{CheckFor, Config};
use tracemill_join::identity::{Rewrite, key_of};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{MergeReport, ViewerReport};
use tracemill_tokenizer::{Event, Field, FieldFinder, Tier, Validator, mend, number_text, to_text};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{member, push_micros};
use tracemill_trace::order::EntryRuns;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;
use tracemill_viewers::ids::is_big;
use tracemill_viewers::required_args::{
    DeltasInside, Need, deltas_inside, lacks, odd_thread_name, profile_id,
};
use tracemill_write::emit::OrderedEvents;
use tracemill_write::keys::edit::without;
use tracemill_write::keys::merged_keys::MergedKeys;
use tracemill_write::patch::{EventPatcher, Patcher, WrittenAt};

/// The changes for a viewer, shared by all workers.
pub(crate) struct ViewerFixups {
    viewer: CheckFor,
    threads: RenamedThreads,
    overlapping: Overlapping,
    /// Counts of the changes so far.
    done: Mutex<Changes>,
}

const SEPARATOR: &[u8] = b",\n";

impl ViewerFixups {
    /// Prepares the changes for the trace of `events` and `runs`. `changes` counts earlier changes.
    pub(crate) fn new<'e>(
        known: &ViewerFacts,
        events: &mut OrderedEvents<'e, '_, '_>,
        runs: &'e EntryRuns,
        rewrite: Option<&Rewrite>,
        mut changes: Changes,
        config: &Config,
    ) -> Result<Self, Error> {
        let mut threads = RenamedThreads::of(&known.tables, rewrite, known.viewer);
        changes.add(Change::Pids, threads.pids.len() as u64);
        changes.add(Change::Tids, threads.tids.len() as u64);
        let overlapping =
            find_overlaps(events, runs, known.has_ends, &mut threads, &mut changes, config)?;
        Ok(ViewerFixups { viewer: known.viewer, threads, overlapping, done: Mutex::new(changes) })
    }

    /// Repairs the top-level keys.
    pub(crate) fn mend_keys(&self, united: &mut MergedKeys<'_>) {
        let mut done = self.done.lock().unwrap_or_else(|e| e.into_inner());
        done.add(Change::MendedKeys, united.mend());
    }

    /// Returns the number of metadata events that name added tracks. These events come before all
    /// other events of the output.
    pub(crate) fn before(&self) -> u64 {
        self.done.lock().unwrap_or_else(|e| e.into_inner()).get(Change::Lanes)
    }

    /// Reports the changes after the last event. `span` is the first and last time of the trace.
    pub(crate) fn report(&self, report: &mut MergeReport, span: Option<(i64, i64)>) {
        let done = *self.done.lock().unwrap_or_else(|e| e.into_inner());
        report.run.viewer = ViewerReport { viewer: Some(self.viewer), changes: done.list() };
        report.run.events += done.get(Change::Parts) + done.get(Change::Lanes);
        if self.viewer == CheckFor::Devtools {
            report.run.warnings.extend(Warning::too_large(report.run.bytes, span));
        }
    }
}

impl Patcher for ViewerFixups {
    fn start(&self, tier: Tier) -> Box<dyn EventPatcher + '_> {
        Box::new(FixupFinder::new(self, tier))
    }
}

/// Finds the changes on one worker.
struct FixupFinder<'r> {
    fixups: &'r ViewerFixups,
    finder: FieldFinder,
    validator: Validator,
    changes: Changes,
    /// New pids and tids, by the old pid and tid as written.
    known: HashMap<Vec<u8>, [Option<u32>; 2]>,
    event: Vec<u8>,
}

struct PatchedEvent<'e, 'p> {
    event: &'e [u8],
    patches: &'p mut Patches,
}

impl<'e> PatchedEvent<'e, '_> {
    /// Returns a value with its patches so far.
    fn current<'x>(&'x self, value: &'x [u8]) -> &'x [u8] {
        self.patches.current(self.event, value)
    }

    fn put(&mut self, value: &[u8], text: &[u8]) {
        self.patches.replace(self.event, value, text);
    }

    /// Inserts members before all other members of the event.
    fn insert(&mut self, members: &[u8]) {
        if !members.is_empty() {
            let front = &self.event[1..1];
            let all = [self.current(front), members].concat();
            self.put(front, &all);
        }
    }
}

impl<'r> FixupFinder<'r> {
    fn new(fixups: &'r ViewerFixups, tier: Tier) -> Self {
        FixupFinder {
            fixups,
            finder: FieldFinder::new(tier),
            validator: Validator::new(tier),
            changes: Changes::default(),
            known: HashMap::default(),
            event: Vec::new(),
        }
    }
}

impl EventPatcher for FixupFinder<'_> {
    fn patch(&mut self, event: &[u8], at: WrittenAt, patches: &mut Patches) {
        let spans = self.finder.find(event);
        let mut found = PatchedEvent { event, patches };
        let event = spans.of(event);
        self.rename(&event, &mut found);
        match self.fixups.viewer {
            CheckFor::Devtools => {
                self.quote_ids(&event, &mut found);
                self.move_deltas(&event, &mut found);
                self.supply_args(&event, &mut found);
                self.supply(&event, &mut found);
                self.unquote(&event, &mut found);
                if let Some(name) = odd_thread_name(&event) {
                    found.put(name, &quoted(name));
                    self.changes.one(Change::ThreadNames);
                }
                if let Some(id) = profile_id(&event) {
                    found.insert(&[b"\"id\":", &*id, b","].concat());
                    self.changes.one(Change::ProfileIds);
                }
            }
            CheckFor::Perfetto => {
                self.rename_flow(&event, &mut found);
            }
        }
        if let Some(edit) = self.fixups.overlapping.at(at.index) {
            edit_overlap(&event, edit, &mut found);
        }
        self.rewrite(&event, &mut found);
        if at.index == 0 && !self.fixups.overlapping.names.is_empty() {
            found.put(&event.bytes[..0], &self.fixups.overlapping.names);
        }
    }

    fn finish(&mut self) {
        let mut done = self.fixups.done.lock().unwrap_or_else(|e| e.into_inner());
        done.append(&std::mem::take(&mut self.changes));
    }
}

impl FixupFinder<'_> {
    /// Adds missing name, category and args, and changes phase `i` to `I`.
    fn supply(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let mut missing = Vec::new();
        let is_metadata = event.is_metadata();
        // `supply_args` adds the args of such events
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

    /// Adds the args that DevTools requires of events with this name.
    fn supply_args(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let Some(Need { object, member: needed }) = lacks(event) else { return };
        let text = needed.map_or_else(String::new, |(name, value)| format!("\"{name}\":{value}"));
        let is_object = |value: &&[u8]| value.starts_with(b"{");
        let Some(args) = event.field(Field::Args).filter(is_object) else {
            // DevTools ignores args that are not objects
            let args = format!("{{\"{object}\":{{{text}}}}}");
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
            (Some(data), None) if is_object(&data) => insert_into(data, &text, found),
            (Some(other), _) => found.put(other, format!("{{{text}}}").as_bytes()),
            (None, _) => insert_into(args, &format!("\"{object}\":{{{text}}}"), found),
        }
        self.changes.one(Change::PageArgs);
    }

    /// Turns ids that JavaScript would round into strings.
    fn quote_ids(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let id2 = event.field(Field::Id2);
        let of_id2 = ["global", "local"].map(|reach| member(id2?, reach.as_bytes()));
        let ids = [event.field(Field::Id), event.field(Field::BindId)].into_iter().chain(of_id2);
        for id in ids.flatten() {
            let now = found.current(id).to_vec();
            if is_big(&now) {
                found.put(id, &quoted(&now));
                self.changes.one(Change::BigIds);
            }
        }
    }

    /// Moves time steps of CPU profiles to where DevTools reads them.
    fn move_deltas(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let Some(DeltasInside { data, profile, lists }) = deltas_inside(event) else { return };
        let (mut rest, mut moved) = (profile.to_vec(), Vec::new());
        for (name, list) in lists {
            rest = without(&rest, name.as_bytes()).map_or(rest.clone(), |slices| slices.concat());
            moved.push(format!("\"{name}\":{}", to_text(list)));
        }
        insert_into(data, &moved.join(","), found);
        found.put(profile, &rest);
        self.changes.one(Change::Deltas);
    }

    /// Turns quoted times into numbers.
    fn unquote(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
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

    /// Replaces pids and tids that are too large for the viewer.
    fn rename(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let threads = &self.fixups.threads;
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

    /// Changes flow ids to numbers in `id`.
    fn rename_flow(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
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

    /// Splits chunks, repairs JSON and replaces escapes. These changes replace the event as a
    /// whole.
    fn rewrite(&mut self, event: &Event<'_>, found: &mut PatchedEvent<'_, '_>) {
        let is_perfetto = self.fixups.viewer == CheckFor::Perfetto;
        let cuts = !is_perfetto && may_be_large(event);
        let escapes = is_perfetto && memmem::find(event.bytes, b"\\u").is_some();
        let sound = self.validator.check(event.bytes).is_ok();
        if sound && !cuts && !escapes {
            return;
        }
        self.apply(event.bytes, found);
        let mut changed = false;
        // events with several possible meanings were dropped while reading
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
        if escapes && let Some(text) = with_characters(&self.event) {
            self.event = text;
            self.changes.one(Change::Escapes);
            changed = true;
        }
        if !changed {
            return;
        }
        found.patches.clear();
        let text = std::mem::take(&mut self.event);
        found.put(event.bytes, &text);
        self.event = text;
    }

    /// Writes the event with its patches so far into `self.event`.
    fn apply(&mut self, bytes: &[u8], found: &mut PatchedEvent<'_, '_>) {
        found.patches.put_in_order(bytes);
        self.event.clear();
        found.patches.append_to(bytes, &mut self.event);
    }
}

/// Inserts a member at the start of an object in the event.
fn insert_into(object: &[u8], member: &str, found: &mut PatchedEvent<'_, '_>) {
    let is_empty = object[1..].trim_ascii_start().starts_with(b"}");
    let comma = if is_empty { "" } else { "," };
    found.put(&object[1..1], format!("{member}{comma}").as_bytes());
}

/// Returns a JSON string with the text of a value.
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

fn edit_overlap(event: &Event<'_>, edit: Edit, found: &mut PatchedEvent<'_, '_>) {
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
