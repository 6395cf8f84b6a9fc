//! Makes DevTools show all pages: keeps one `TracingStartedInBrowser`, and adds a `CommitLoad` to
//! processes that DevTools would hide.
//!
//! * Among several `TracingStartedInBrowser`, the earliest is kept, preferably one that is not
//!   synthetic. It gets the frames of all such events. Its own frames come last, because DevTools
//!   takes the last main frame.
//! * DevTools starts at that event, so the event moves if recordings without a browser begin
//!   earlier. DevTools names the main frame after its first navigation within 0.5 s, so the frame
//!   gets the URL of that navigation.
//! * In a browser trace DevTools hides processes without a page. This is right for a process of the
//!   browser's recording, if DevTools draws other processes of that recording. All other processes
//!   get a page.

use super::changes::{Change, Changes};
use super::scan::{Literal, PageTable};
use std::collections::{BTreeMap, BTreeSet};
use tracemill_join::identity::{Rewrite, key_of};
use tracemill_tokenizer::{Field, fields_of};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{elements, member, push_micros};
use tracemill_trace::spill::hash::HashSet;

/// Nanoseconds after the trace start within which a navigation names the main frame.
const SOON: i64 = 500_000_000;

pub(super) struct TraceStart {
    pub(super) bytes: Vec<u8>,
    /// Whether the event is synthetic, made for CPU profiles.
    pub(super) synthetic: bool,
}

/// The page tables of all inputs.
pub(super) struct InputPages<'c> {
    /// Offset and table of each input.
    pub(super) tables: &'c [(u64, PageTable)],
    pub(super) rewrite: &'c Rewrite,
    /// Offsets of the synthetic inputs.
    pub(super) synthetic: HashSet<u64>,
}

impl InputPages<'_> {
    /// Returns the recording of the input at an offset.
    fn recording(&self, base: u64) -> usize {
        self.rewrite.unit_at(base).map_or(0, |unit| self.rewrite.units[unit].recording)
    }

    /// Returns a pid as it will be written.
    pub(super) fn renamed(&self, base: u64, pid: &[u8]) -> Literal {
        let unit = self.rewrite.unit_at(base).map(|unit| &self.rewrite.units[unit]);
        let renames = unit.and_then(|unit| unit.renames.as_ref());
        let new = renames.and_then(|renames| renames.pid(&key_of(Some(pid))));
        new.map_or_else(|| pid.to_vec(), Vec::clone)
    }

    /// Returns the recordings with a matching table, except synthetic ones.
    fn recordings(&self, is: impl Fn(&PageTable) -> bool) -> BTreeSet<usize> {
        let real = self
            .tables
            .iter()
            .filter(|(base, tables)| !self.synthetic.contains(base) && is(tables));
        real.map(|(base, _)| self.recording(*base)).collect()
    }

    /// Merges several `TracingStartedInBrowser`, given in output order, into one event. Returns
    /// `None` if no such event has data.
    pub(super) fn start(
        &self,
        mut starts: Vec<TraceStart>,
        changes: &mut Changes,
    ) -> Option<Vec<u8>> {
        let all = starts.len();
        starts.retain(|start| data_of(&start.bytes).is_some());
        changes.add(Change::BareStarts, (all - starts.len()) as u64);
        changes.add(Change::Starts, starts.len().saturating_sub(1) as u64);
        let best = (0..starts.len()).min_by_key(|&at| starts[at].synthetic)?;
        let chosen = starts.remove(best);
        let mut patches = Patches::default();
        unite_frames(&chosen.bytes, &starts, &mut patches);
        let browsers = self.recordings(|tables| tables.has_start);
        let others =
            self.tables.iter().filter(|(base, _)| !browsers.contains(&self.recording(*base)));
        let lanes =
            others.flat_map(|(_, tables)| tables.threads.values().flat_map(BTreeMap::values));
        let first = lanes.filter_map(|lane| lane.drawn).min();
        let spans = fields_of(&chosen.bytes);
        let event = spans.of(&chosen.bytes);
        if let (Some(first), Some(ts)) = (first, event.ts())
            && first < ts.floor
        {
            let mut text = Vec::new();
            push_micros(first, &mut text);
            patches.field(&event, Field::Ts, &text);
            self.name_frames(&chosen.bytes, ts.floor, &mut patches);
            changes.one(Change::StartMoved);
        }
        Some(patches.apply(&chosen.bytes))
    }

    /// Gives main frames the URLs that they would have if the trace started at `begin`.
    fn name_frames(&self, start: &[u8], begin: i64, patches: &mut Patches) {
        let frames = data_of(start).and_then(|data| member(data, b"frames"));
        elements(frames.unwrap_or_default()).for_each(|frame| {
            let navigations = member(frame, b"frame").into_iter().flat_map(|id| {
                self.tables.iter().filter_map(move |(_, tables)| tables.navigations.get(id))
            });
            let first =
                navigations.min().filter(|navigation| navigation.time.saturating_sub(begin) < SOON);
            if let (Some(first), Some(old)) = (first, member(frame, b"url")) {
                patches.replace(start, old, &first.url);
            }
        });
    }

    /// Returns the recordings of browsers in which DevTools draws a process with a page or a whole
    /// CPU profile.
    fn browsers(&self) -> BTreeSet<usize> {
        let mut browsers = self.recordings(|tables| tables.is_browser);
        let mut pages: BTreeSet<(usize, Vec<u8>)> = BTreeSet::new();
        for (base, tables) in self.tables {
            let key = |pid: &Literal| (self.recording(*base), key_of(Some(pid)));
            pages.extend(tables.pages.iter().map(key));
        }
        let is_drawn = |&recording: &usize| {
            self.tables.iter().filter(|(base, _)| self.recording(*base) == recording).any(
                |(_, tables)| {
                    tables.has_whole_profile
                        || tables.threads.iter().any(|(pid, threads)| {
                            threads.values().any(|thread| thread.drawn.is_some())
                                && pages.contains(&(recording, key_of(Some(pid))))
                        })
                },
            )
        };
        browsers.retain(is_drawn);
        browsers
    }

    /// Returns a `CommitLoad` for each process that DevTools would hide wrongly.
    pub(super) fn loads(&self, changes: &mut Changes) -> Vec<Vec<u8>> {
        if !self.tables.iter().any(|(_, tables)| tables.is_browser) {
            return Vec::new();
        }
        let browsers = self.browsers();
        let shown: HashSet<Vec<u8>> = self
            .tables
            .iter()
            .flat_map(|(base, tables)| tables.pages.iter().map(|pid| self.renamed(*base, pid)))
            .map(|pid| key_of(Some(&pid)))
            .collect();
        // time, pid and tid of the first event of each process
        let mut hidden: BTreeMap<Vec<u8>, (i64, Literal, Literal)> = BTreeMap::new();
        for (base, tables) in self.tables {
            if browsers.contains(&self.recording(*base)) {
                continue;
            }
            for (pid, threads) in &tables.threads {
                let pid = self.renamed(*base, pid);
                let key = key_of(Some(&pid));
                let drawn = threads.iter().filter_map(|(tid, lane)| Some((lane.drawn?, tid)));
                let Some((first, tid)) = drawn.min() else { continue };
                if shown.contains(&key) || inner(&pid).is_none() {
                    continue;
                }
                let page = (first, pid, tid.clone());
                match hidden.get_mut(&key) {
                    Some(known) => *known = page.min(std::mem::take(known)),
                    None => drop(hidden.insert(key, page)),
                }
            }
        }
        changes.add(Change::Pages, hidden.len() as u64);
        hidden.into_values().map(|(first, pid, tid)| load(first, &pid, &tid)).collect()
    }
}

/// Returns the content of a string pid, or a numeric pid unchanged. Returns `None` for any other
/// value.
fn inner(pid: &[u8]) -> Option<&[u8]> {
    match pid {
        [b'"', inner @ .., b'"'] => Some(inner),
        [b'-' | b'0'..=b'9', ..] => Some(pid),
        _ => None,
    }
}

fn load(first: i64, pid: &[u8], tid: &[u8]) -> Vec<u8> {
    let name = inner(pid).unwrap_or_default();
    let mut out = Vec::new();
    let pieces: [&[u8]; 9] = [
        b"{\"args\":{\"data\":{\"frame\":\"FRAME",
        name,
        b"\",\"isMainFrame\":false,\"isOutermostMainFrame\":false,\"name\":\"\",\"page\":\"FRAME",
        name,
        b"\",\"url\":\"process:",
        name,
        b"\"}},\"cat\":\"devtools.timeline\",\"dur\":0,\"name\":\"CommitLoad\",\"ph\":\"X\",\"pid\":",
        pid,
        b",\"tid\":",
    ];
    pieces.iter().for_each(|piece| out.extend_from_slice(piece));
    out.extend_from_slice(if tid.is_empty() { b"0" } else { tid });
    out.extend_from_slice(b",\"ts\":");
    push_micros(first, &mut out);
    out.push(b'}');
    out
}

/// Returns `args.data` of an event, or `None` if it is not an object.
fn data_of(event: &[u8]) -> Option<&[u8]> {
    let data = member(fields_of(event).field(event, Field::Args)?, b"data");
    data.filter(|data| data.starts_with(b"{"))
}

/// Inserts the frames of the events `others` before the frames of `chosen`, without duplicates.
fn unite_frames(chosen: &[u8], others: &[TraceStart], patches: &mut Patches) {
    let Some(data) = data_of(chosen) else { return };
    let list = member(data, b"frames");
    let mut seen: HashSet<&[u8]> = HashSet::default();
    let mut before = Vec::new();
    elements(list.unwrap_or_default()).for_each(|frame| {
        seen.insert(frame);
    });
    for other in others {
        let frames = data_of(&other.bytes).and_then(|data| member(data, b"frames"));
        elements(frames.unwrap_or_default()).for_each(|frame| {
            if seen.insert(frame) {
                before.extend_from_slice(frame);
                before.push(b',');
            }
        });
    }
    if before.is_empty() {
        return;
    }
    match list {
        Some(frames @ [b'[', rest @ ..]) if rest.trim_ascii_start() != b"]" => {
            patches.insert_behind(chosen, &frames[..1], &before);
        }
        Some(frames) => {
            before.pop();
            patches.replace(chosen, frames, &[b"[", &*before, b"]"].concat());
        }
        None => {
            before.pop();
            let comma: &[u8] = if data[1..].trim_ascii_start() == b"}" { b"" } else { b"," };
            let frames = [b"\"frames\":[", &*before, b"]", comma].concat();
            patches.insert_behind(chosen, &data[..1], &frames);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(frames: &str, ts: u64, synthetic: bool) -> TraceStart {
        let bytes = format!(
            r#"{{"name":"TracingStartedInBrowser","ts":{ts},"args":{{"data":{{"x":1{frames}}}}}}}"#
        );
        TraceStart { bytes: bytes.into_bytes(), synthetic }
    }

    #[test]
    fn earliest_start_gets_the_frames_of_all() {
        let rewrite = Rewrite::default();
        let pages = InputPages { tables: &[], rewrite: &rewrite, synthetic: HashSet::default() };
        let mut changes = Changes::default();
        let starts = vec![
            start(r#","frames":[{"m":1}]"#, 1, true),
            start(r#","frames":[{"a":1}, {"b":1}]"#, 2, false),
            start(r#","frames":[{"c":1},{"a":1}]"#, 3, false),
            start("", 4, false),
        ];
        let one = pages.start(starts, &mut changes).unwrap();
        let expected = start(r#","frames":[{"m":1},{"c":1},{"a":1}, {"b":1}]"#, 2, false);
        assert_eq!(String::from_utf8(one), String::from_utf8(expected.bytes));
        assert_eq!(changes.list()[0].1, 3);
        let starts = vec![start("", 1, false), start(r#","frames":[{"a":1}]"#, 2, false)];
        let one = pages.start(starts, &mut changes).unwrap();
        let expected = r#"{"name":"TracingStartedInBrowser","ts":1,"args":{"data":{"frames":[{"a":1}],"x":1}}}"#;
        assert_eq!(String::from_utf8(one).unwrap(), expected);
        let empty = b"{\"args\":{}}".to_vec();
        assert!(
            pages
                .start(vec![TraceStart { bytes: empty, synthetic: false }], &mut changes)
                .is_none()
        );
    }
}
