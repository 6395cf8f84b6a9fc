//! Writes a profile as a `.cpuprofile` in V8's format: nodes first, with `children` and `hitCount`.
//!
//! ```text
//! {"nodes":[{"id":1,
//!            "callFrame":{"functionName":…,"scriptId":"0","url":"",
//!                         "lineNumber":-1,"columnNumber":-1},
//!            "hitCount":0,"children":[2,3]},
//!           …],
//!  "startTime":…,"endTime":…,"samples":[…],"timeDeltas":[…]}
//! ```
//!
//! `"nodes":[` comes first because older DevTools recognize a profile by that. Missing parts of a
//! call frame are filled in for VS Code and speedscope: url `""`, line and column −1, name `""`,
//! `scriptId` `"0"`. Other keys follow unchanged: `codeType`, `positionTicks`, `lines`, `trace_ids`
//! …
//!
//! Numbers keep their value and digits. Ids change only if two nodes share an id, or JavaScript
//! cannot represent an id. The output is always JSON: invalid text is repaired and counted
//! ([`FlawKind::Text`]), and so are values of an unexpected type ([`FlawKind::Shape`]).
//!
//! Cost: one pass per column, 8 bytes of heap per node, and 128 KiB.

use crate::tree::assembled::{Profile, SampleColumn};
use crate::tree::{Children, hits};
use tracemill_tokenizer::{Cursor, number_text, parse, validate};
use tracemill_trace::json::{
    push_element, push_integer, push_micros, push_micros_element, push_sound, push_sound_key,
};
use tracemill_trace::output::Batch;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};

/// Start and end of a profile, in the clock of the events.
#[derive(Clone, Debug)]
pub struct ProfileBounds {
    /// Start in microseconds, as written in the trace, which may be finer than nanoseconds.
    pub start: Vec<u8>,
    /// End in nanoseconds.
    pub end: i64,
}

/// Bytes buffered before they are passed to the output.
const GATHER: usize = 64 * 1024;

struct FileWriter<'b, 'o> {
    batch: &'b mut Batch<'o>,
    buffer: Vec<u8>,
    flaws: Flaws,
}

impl FileWriter<'_, '_> {
    fn flush_if_full(&mut self) -> Result<(), Error> {
        if self.buffer.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    /// Flushes like [`FileWriter::flush_if_full`], but keeps the last byte, because the caller may
    /// remove that byte.
    fn flush_but_last(&mut self) -> Result<(), Error> {
        if self.buffer.len() < GATHER {
            return Ok(());
        }
        let last = self.buffer.pop();
        self.flush()?;
        self.buffer.extend(last);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.batch.push(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Appends text that is known to be valid JSON.
    fn push(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    /// Writes a key of the profile and the value, repaired if invalid.
    fn member(&mut self, key: &[u8], value: &[u8], offset: u64) {
        let key = !push_sound_key(key, &mut self.buffer);
        self.push(":");
        let value = !push_sound(value, &mut self.buffer);
        self.flaws.add_many(FlawKind::Text, offset, u64::from(key) + u64::from(value));
    }
}

/// Writes a profile as a `.cpuprofile`. Cost: a few ns per sample and per byte of the nodes.
///
/// Values that had to be changed are added to the flaws of the profile.
///
/// # Errors
/// Returns [`Write`](tracemill_trace::run::error::ErrorKind::Write) or
/// [`BrokenPipe`](tracemill_trace::run::error::ErrorKind::BrokenPipe) if the output fails.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_trace::output::{Length, Output};
/// use tracemill_trace::output::target::OutputConfig;
/// use tracemill_trace::run::memory::Share;
/// use tracemill_trace::{EventOrder, Limits, Source};
/// use tracemill_cpuprofile::{Assembly, Router, Streams, write};
///
/// // a file goes in, becomes events, and comes out as it was
/// let text = concat!(
///     r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"#,
///     r#""hitCount":0,"children":[2]},{"id":2,"callFrame":{"functionName":"f","scriptId":"7","url":"a.js","lineNumber":3,"#,
///     r#""columnNumber":12},"hitCount":2}],"startTime":10,"endTime":30,"samples":[2,2],"timeDeltas":[5,7.5]}"#, "\n",
/// );
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let trace = tracemill_cpuprofile::open(&[Source::bytes("a.cpuprofile", text)], &limits)?.trace;
/// let mut router = Router::default();
/// trace.events(EventOrder::Input).for_each(|event| router.note(&event.fields(), event.offset));
/// let mut streams = Streams::new(limits.lease("profiles", Share::of(1, 32)), &limits);
/// streams.append(router, 0)?;
/// streams.finish()?;
/// let store = trace.store();
/// let mut whole = streams.groups()[0].assemble(&store, Assembly::All(limits.lease("samples", Share::of(1, 32))), &limits)?;
///
/// let bytes = Arc::new(Mutex::new(Vec::new()));
/// let output = Output::create(&OutputConfig::writer(Arc::clone(&bytes)), &limits, Length::Unknown)?;
/// let mut buffer = Vec::new();
/// let mut batch = output.batch(0, 0, &mut buffer);
/// write(&mut whole.profile, &whole.bounds, &mut batch)?;
/// batch.finish()?;
/// output.finish()?;
/// assert_eq!(String::from_utf8_lossy(&bytes.lock().unwrap()), text);
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub fn write(
    profile: &mut Profile<'_, '_>,
    bounds: &ProfileBounds,
    batch: &mut Batch<'_>,
) -> Result<(), Error> {
    let mut writer =
        FileWriter { batch, buffer: Vec::with_capacity(2 * GATHER), flaws: Flaws::default() };
    write_nodes(profile, &mut writer)?;
    writer.push("],\"startTime\":");
    writer.buffer.extend_from_slice(&bounds.start);
    writer.push(",\"endTime\":");
    push_micros(bounds.end, &mut writer.buffer);
    write_samples(profile, &mut writer)?;
    write_rest(profile, &mut writer)?;
    writer.push("}\n");
    writer.flush()?;
    let flaws = writer.flaws;
    profile.flaws.append(&flaws);
    Ok(())
}

fn write_nodes(profile: &Profile<'_, '_>, writer: &mut FileWriter<'_, '_>) -> Result<(), Error> {
    writer.push("{\"nodes\":[");
    let children = profile.tree.children();
    let root = profile.tree.root;
    // readers treat the first node as the root
    let others = (0..profile.tree.len() as u32).filter(|&node| node != root);
    for node in (!profile.tree.ids.is_empty()).then_some(root).into_iter().chain(others) {
        if node != root {
            writer.push(",");
        }
        write_node(profile, &children, node, writer);
        writer.flush_if_full()?;
    }
    Ok(())
}

/// Writes a node in V8's order: id, call frame, hit count, ids of its children, other keys.
///
/// The hit count is the written count, or the number of the node's samples if no count is written.
fn write_node(
    profile: &Profile<'_, '_>,
    children: &Children,
    node: u32,
    writer: &mut FileWriter<'_, '_>,
) {
    let tree = &profile.tree;
    let text = tree.texts[node as usize];
    let frame = CallFrame::of(profile.text(text));
    let mut changed = Changed::default();
    writer.push("{\"id\":");
    push_integer(tree.id(node), &mut writer.buffer);
    writer.push(",\"callFrame\":");
    frame.write(&mut writer.buffer, &mut changed);
    writer.push(",\"hitCount\":");
    let hits = hits(tree.hits[node as usize], profile.counted[node as usize]);
    push_integer(hits, &mut writer.buffer);
    let mut separator = ",\"children\":[";
    for child in children.of(node) {
        writer.push(separator);
        push_integer(tree.id(child), &mut writer.buffer);
        separator = ",";
    }
    if separator == "," {
        writer.push("]");
    }
    frame.write_others(&mut writer.buffer, &mut changed);
    changed.note(text.offset, &mut writer.flaws);
    writer.push("}");
}

type Members<'t> = Vec<(&'t [u8], &'t [u8])>;

/// The call frame of a node, parsed into the text of its values; nothing is decoded or copied.
#[derive(Default)]
pub(crate) struct CallFrame<'t> {
    pub(crate) function: Option<&'t [u8]>,
    script: Option<&'t [u8]>,
    pub(crate) url: Option<&'t [u8]>,
    pub(crate) position: [Option<&'t [u8]>; 2],
    /// Whether lines and columns count from 1, as in the old format.
    pub(crate) from_one: bool,
    others: Members<'t>,
    others_of_node: Members<'t>,
    /// Whether the whole text is valid JSON, so that values need no validation.
    sound: bool,
}

impl<'t> CallFrame<'t> {
    /// Parses the call frame of a node, from `callFrame` or, in the old format, from the node
    /// itself.
    pub(crate) fn of(node: &'t [u8]) -> Self {
        let sound = validate(node).is_ok();
        let mut frame = CallFrame { from_one: true, sound, ..CallFrame::default() };
        let mut members = Members::new();
        let mut cursor = Cursor::new(node);
        if !cursor.enter(b'{') {
            return frame;
        }
        while let Some((key, written, value)) = next_member(&mut cursor) {
            match &*key {
                b"id" | b"parent" | b"hitCount" | b"children" => {}
                b"callFrame" => {
                    frame = CallFrame { from_one: false, sound, ..CallFrame::default() };
                    frame.read(value);
                }
                _ => members.push((written, value)),
            }
        }
        if frame.from_one {
            members.retain(|&(key, value)| !frame.take(&key[1..key.len() - 1], value));
        }
        frame.others_of_node = members;
        frame
    }

    fn read(&mut self, object: &'t [u8]) {
        let mut cursor = Cursor::new(object);
        if !cursor.enter(b'{') {
            return;
        }
        while let Some((key, written, value)) = next_member(&mut cursor) {
            if !self.take(&key, value) {
                self.others.push((written, value));
            }
        }
    }

    /// Stores the value of a known key and returns true; a repeated key overwrites the earlier
    /// value.
    fn take(&mut self, key: &[u8], value: &'t [u8]) -> bool {
        let slot = match key {
            b"functionName" => &mut self.function,
            b"scriptId" => &mut self.script,
            b"url" => &mut self.url,
            b"lineNumber" => &mut self.position[0],
            b"columnNumber" => &mut self.position[1],
            _ => return false,
        };
        *slot = Some(value);
        true
    }

    /// Appends the call frame as an object: the five keys that readers expect, then other keys.
    pub(crate) fn write(&self, out: &mut Vec<u8>, changed: &mut Changed) {
        for (key, value) in [
            ("{\"functionName\":", self.function),
            (",\"scriptId\":", self.script),
            (",\"url\":", self.url),
        ] {
            out.extend_from_slice(key.as_bytes());
            match value {
                Some(string) if string.starts_with(b"\"") => self.push(string, out, changed),
                // in streams it is a number
                Some(id)
                    if key.contains("scriptId") && number_text(id, &mut Vec::new()).is_some() =>
                {
                    out.push(b'"');
                    out.extend_from_slice(id);
                    out.push(b'"');
                }
                other => {
                    changed.note_type(other);
                    let missing: &[u8] = if key.contains("scriptId") { b"\"0\"" } else { b"\"\"" };
                    out.extend_from_slice(missing);
                }
            }
        }
        for (key, value) in
            [",\"lineNumber\":", ",\"columnNumber\":"].into_iter().zip(self.position)
        {
            out.extend_from_slice(key.as_bytes());
            let number = value.and_then(position);
            if number.is_none() {
                changed.note_type(value);
            }
            push_integer(number.map_or(-1, |n| n - i64::from(self.from_one)), out);
        }
        self.push_members(&self.others, out, changed);
        out.push(b'}');
    }

    /// Appends the other keys of the node, each after a comma.
    pub(crate) fn write_others(&self, out: &mut Vec<u8>, changed: &mut Changed) {
        self.push_members(&self.others_of_node, out, changed);
        if !self.sound && changed.text + changed.types == 0 {
            // the invalid text is between the members
            changed.text = 1;
        }
    }

    fn push_members(&self, members: &Members<'_>, out: &mut Vec<u8>, changed: &mut Changed) {
        for (key, value) in members {
            out.push(b',');
            changed.text += u64::from(!self.sound && !push_sound_key(key, out));
            if self.sound {
                out.extend_from_slice(key);
            }
            out.push(b':');
            self.push(value, out, changed);
        }
    }

    fn push(&self, value: &[u8], out: &mut Vec<u8>, changed: &mut Changed) {
        if self.sound {
            out.extend_from_slice(value);
        } else {
            changed.text += u64::from(!push_sound(value, out));
        }
    }
}

/// Counts of a node's values that had to be changed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changed {
    /// Number of values that are not valid JSON.
    text: u64,
    /// Number of values whose type does not fit their key.
    types: u64,
}

impl Changed {
    /// Counts a value whose type does not fit the key; missing values and `null` are allowed.
    fn note_type(&mut self, value: Option<&[u8]>) {
        self.types += u64::from(value.is_some_and(|value| value != b"null"));
    }

    /// Adds the counts to the flaws of the node at `offset`.
    pub(crate) fn note(self, offset: u64, flaws: &mut Flaws) {
        flaws.add_many(FlawKind::Text, offset, self.text);
        flaws.add_many(FlawKind::Shape, offset, self.types);
    }
}

/// Parses a line or column: a whole number, possibly in quotes.
fn position(value: &[u8]) -> Option<i64> {
    Cursor::new(value).integer().or_else(|| {
        let mut scratch = Vec::new();
        parse(number_text(value, &mut scratch)?)
    })
}

/// A member of an object: key, key as written with quotes, and value.
type WrittenMember<'t> = (std::borrow::Cow<'t, [u8]>, &'t [u8], &'t [u8]);

fn next_member<'t>(cursor: &mut Cursor<'t>) -> Option<WrittenMember<'t>> {
    let key = cursor.next_key()?;
    let (written, _) = cursor.key();
    Some((key, written, cursor.value()))
}

/// Writes the samples and their parallel lists, one list after the other.
fn write_samples(profile: &Profile<'_, '_>, writer: &mut FileWriter<'_, '_>) -> Result<(), Error> {
    let [lines, columns] = profile.has_positions();
    let lists = [
        (true, "samples", SampleColumn::Nodes),
        (true, "timeDeltas", SampleColumn::Steps),
        (lines, "lines", SampleColumn::Position(0)),
        (columns, "columns", SampleColumn::Position(1)),
    ];
    for (_, key, wanted) in lists.into_iter().filter(|(has, ..)| *has) {
        writer.push(",\"");
        writer.push(key);
        writer.push("\":[");
        if !write_plain_list(profile, wanted, writer)? {
            write_list(profile, wanted, writer)?;
        }
        // each element ends with a comma
        if writer.buffer.last() == Some(&b',') {
            writer.buffer.pop();
        }
        writer.push("]");
    }
    Ok(())
}

/// Writes a list directly from the column; returns false if samples must be checked one by one.
fn write_plain_list(
    profile: &Profile<'_, '_>,
    wanted: SampleColumn,
    writer: &mut FileWriter<'_, '_>,
) -> Result<bool, Error> {
    let Some(columns) = profile.columns() else { return Ok(false) };
    match wanted {
        SampleColumn::Nodes => columns.nodes.blocks(|block| {
            let ids = block.iter().map(|&node| profile.tree.id(node));
            ids.for_each(|id| push_element(id, &mut writer.buffer));
            writer.flush_but_last()
        })?,
        SampleColumn::Steps => columns.steps.blocks(|block| {
            block.iter().for_each(|&step| push_micros_element(step, &mut writer.buffer));
            writer.flush_but_last()
        })?,
        SampleColumn::Position(which) => {
            let Some(positions) = columns.positions[which] else { return Ok(true) };
            positions.blocks(|block| {
                block.iter().for_each(|&position| push_position(position, &mut writer.buffer));
                writer.flush_but_last()
            })?;
        }
    }
    Ok(true)
}

/// Writes a list sample by sample, without the samples that refer to no node.
fn write_list(
    profile: &Profile<'_, '_>,
    wanted: SampleColumn,
    writer: &mut FileWriter<'_, '_>,
) -> Result<(), Error> {
    for sample in profile.samples(wanted) {
        match wanted {
            SampleColumn::Nodes => push_element(profile.tree.id(sample.node), &mut writer.buffer),
            SampleColumn::Steps => push_micros_element(sample.delta, &mut writer.buffer),
            SampleColumn::Position(_) => push_position(sample.position, &mut writer.buffer),
        }
        writer.flush_but_last()?;
    }
    Ok(())
}

/// Appends a line or column as a list element, with a comma.
#[inline]
fn push_position(position: i64, out: &mut Vec<u8>) {
    match u64::try_from(position) {
        Ok(position) => push_element(position, out),
        Err(_) => {
            push_integer(position, out);
            out.push(b',');
        }
    }
}

/// Writes `trace_ids` (samples named by programs), then all unknown keys, unchanged.
fn write_rest(profile: &Profile<'_, '_>, writer: &mut FileWriter<'_, '_>) -> Result<(), Error> {
    let mut separator = ",\"trace_ids\":{";
    for &(key, node) in &profile.trace_ids {
        writer.push(separator);
        let changed = !push_sound_key(profile.text(key), &mut writer.buffer);
        writer.flaws.add_many(FlawKind::Text, key.offset, u64::from(changed));
        writer.push(":");
        push_integer(profile.tree.id(node), &mut writer.buffer);
        writer.flush_if_full()?;
        separator = ",";
    }
    if separator == "," {
        writer.push("}");
    }
    for extra in &profile.extras {
        writer.push(",");
        writer.member(profile.text(extra.key), profile.text(extra.value), extra.value.offset);
        writer.flush_if_full()?;
    }
    Ok(())
}
