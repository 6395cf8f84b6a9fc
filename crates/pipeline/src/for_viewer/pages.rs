//! By what DevTools knows a browser's pages: one `TracingStartedInBrowser`, and a `CommitLoad` for each process that it would
//! hide otherwise.
//!
//! * Of several `TracingStartedInBrowser` the last would give begin and main frame. The earliest stays, those that were made
//!   for CPU profiles behind all others, and gets the frames of all: its own last, since the last main frame counts.
//! * DevTools begins where it stands. Recordings that are not of a browser may begin earlier: then it moves. The main frame is
//!   called after its first navigation, if that is within half a second of the begin: so that it still is, it gets that URL.
//! * In the trace of a browser processes without a page are hidden. That is meant for those of the browser's own
//!   recording (its GPU process has a track of its own), if others of it are drawn; all other processes get a page.

use super::changes::{Change, Changes};
use super::scan::{Literal, PageTable};
use std::collections::{BTreeMap, BTreeSet};
use tracemill_join::identity::{Rewrite, key_of};
use tracemill_tokenizer::{Field, fields_of};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{elements, member, push_micros};
use tracemill_trace::spill::hash::HashSet;

/// Nanoseconds from the begin of the trace within which a navigation gives the main frame its URL.
const SOON: i64 = 500_000_000;

/// A `TracingStartedInBrowser`, as it will be written.
pub(super) struct TraceStart {
    pub(super) bytes: Vec<u8>,
    /// Whether it was made for CPU profiles.
    pub(super) made: bool,
}

/// What all inputs have of it.
pub(super) struct InputPages<'c> {
    /// Per input: where it stands, and who is in it.
    pub(super) tables: &'c [(u64, PageTable)],
    pub(super) rewrite: &'c Rewrite,
    /// Places at which made inputs stand.
    pub(super) made: HashSet<u64>,
}

impl InputPages<'_> {
    /// The number of the recording that the input at a place is of.
    fn recording(&self, base: u64) -> usize {
        self.rewrite.unit_at(base).map_or(0, |unit| self.rewrite.units[unit].recording)
    }

    /// A pid as it will be written.
    pub(super) fn renamed(&self, base: u64, pid: &[u8]) -> Literal {
        let unit = self.rewrite.unit_at(base).map(|unit| &self.rewrite.units[unit]);
        let renames = unit.and_then(|unit| unit.renames.as_ref());
        let new = renames.and_then(|renames| renames.pid(&key_of(Some(pid))));
        new.map_or_else(|| pid.to_vec(), Vec::clone)
    }

    /// Recordings with an event that `is` finds, those for CPU profiles left out.
    fn recordings(&self, is: impl Fn(&PageTable) -> bool) -> BTreeSet<usize> {
        let real =
            self.tables.iter().filter(|(base, tables)| !self.made.contains(base) && is(tables));
        real.map(|(base, _)| self.recording(*base)).collect()
    }

    /// The one `TracingStartedInBrowser` of several, in the order of the output.
    pub(super) fn start(
        &self,
        mut starts: Vec<TraceStart>,
        changes: &mut Changes,
    ) -> Option<Vec<u8>> {
        let all = starts.len();
        starts.retain(|start| data_of(&start.bytes).is_some());
        changes.add(Change::BareStarts, (all - starts.len()) as u64);
        changes.add(Change::Starts, starts.len().saturating_sub(1) as u64);
        let best = (0..starts.len()).min_by_key(|&at| starts[at].made)?;
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

    /// Gives main frames the URLs that they would have if the trace began at `begin`.
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

    /// Recordings of browsers of which a process with a page, or a whole CPU profile, is drawn.
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

    /// A `CommitLoad` for each process that would be hidden for no reason of its own.
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
        // first event of each process: when, and on which thread
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
                let own = (first, pid, tid.clone());
                match hidden.get_mut(&key) {
                    Some(known) => *known = own.min(std::mem::take(known)),
                    None => drop(hidden.insert(key, own)),
                }
            }
        }
        changes.add(Change::Pages, hidden.len() as u64);
        hidden.into_values().map(|(first, pid, tid)| load(first, &pid, &tid)).collect()
    }
}

/// What a pid is called: the inside of a string, a number as it is.
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

/// `args.data` of an event, if it is an object.
fn data_of(event: &[u8]) -> Option<&[u8]> {
    let data = member(fields_of(event).field(event, Field::Args)?, b"data");
    data.filter(|data| data.starts_with(b"{"))
}

/// Puts the frames of others before those of `chosen`, each once.
fn unite_frames(chosen: &[u8], others: &[TraceStart], patches: &mut Patches) {
    let Some(data) = data_of(chosen) else { return };
    let own = member(data, b"frames");
    let mut seen: HashSet<&[u8]> = HashSet::default();
    let mut before = Vec::new();
    elements(own.unwrap_or_default()).for_each(|frame| {
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
    match own {
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

    fn start(frames: &str, ts: u64, made: bool) -> TraceStart {
        let bytes = format!(
            r#"{{"name":"TracingStartedInBrowser","ts":{ts},"args":{{"data":{{"x":1{frames}}}}}}}"#
        );
        TraceStart { bytes: bytes.into_bytes(), made }
    }

    #[test]
    fn frames_are_united_and_the_earliest_counts() {
        let rewrite = Rewrite::default();
        let pages = InputPages { tables: &[], rewrite: &rewrite, made: HashSet::default() };
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
            pages.start(vec![TraceStart { bytes: empty, made: false }], &mut changes).is_none()
        );
    }
}
