//! Expected output files of `tracemill split` for well-formed inputs.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::order::{SortKey, output_order};
use super::profile::{StreamKey, Value, stream_key};
use super::read::{self, Fields, Source, elements, is_string, unescape};
use super::repeated::{MARK, marked};
use super::start::start_of_fields;
use super::used::{frame_bytes, overhead, with_used_frames};
use super::{Format, default_format, keys, pages, pairing, time, write};

/// The criterion for splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the flag")]
pub enum SplitBy {
    Pid,
    Tid,
    Cat,
    /// Length of a part in nanoseconds.
    Time(i128),
    Size(u64),
    Events(u64),
}

/// An expected output file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPart {
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Number of events.
    pub events: usize,
    /// Number of metadata events.
    pub metadata: usize,
    /// Number of events repeated from other parts: open begin events, and events that identify
    /// pages.
    pub copies: usize,
}

/// An event or the anchor of a stream, and the events that are output in its place.
type Step = (usize, Vec<usize>);

type ThreadKey = (Value, Value, Option<Vec<u8>>);

struct Known<'a> {
    text: &'a str,
    fields: Fields<'a>,
    is_metadata: bool,
    stream: Option<StreamKey>,
    thread: ThreadKey,
    time: Option<i128>,
}

/// Consecutive events of a group that form a part: numbers of events and copies, and threads.
#[derive(Default)]
struct Run {
    events: Vec<usize>,
    copies: Vec<usize>,
    threads: HashSet<ThreadKey>,
    metadata: BTreeSet<usize>,
    /// First event of the group's next run.
    end: Option<usize>,
}

struct Splitter<'a> {
    known: Vec<Known<'a>>,
    /// Indices of the events other than chunks, in output order.
    order: Vec<usize>,
    /// Anchor, thread and chunks of each stream that has chunks.
    streams: Vec<(usize, ThreadKey, Vec<usize>)>,
    by: SplitBy,
    start: i64,
    overhead: u64,
    keys: Vec<(String, String)>,
    /// Events by which DevTools identifies pages and workers.
    pages: Vec<usize>,
}

/// Returns the expected parts of splitting well-formed `inputs`, in order.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn split(
    inputs: &[&[u8]],
    by: SplitBy,
    max_size: Option<u64>,
    format: Option<Format>,
) -> Result<Vec<SplitPart>, String> {
    let mut sources: Vec<Source<'_>> = Vec::new();
    for input in inputs {
        sources.extend(read::sources(input)?);
    }
    let texts: Vec<&str> = sources.iter().flat_map(|s| s.events.iter().copied()).collect();
    let known: Vec<Known<'_>> = texts.iter().map(|text| known(text, by == SplitBy::Cat)).collect();
    let cut = max_size.is_some() || !matches!(by, SplitBy::Pid | SplitBy::Tid | SplitBy::Cat);
    let usual = default_format(&sources);
    let requested = format;
    let mut format = format.unwrap_or(match usual {
        Format::Array => Format::Object,
        format => format,
    });
    let mut united = keys::unite(&sources);
    if format == Format::Array {
        united.clear();
    }
    let mut order: Vec<usize> =
        (0..known.len()).filter(|&i| known[i].stream.is_none() && !known[i].is_metadata).collect();
    order.sort_by_key(|&i| SortKey::of(&known[i].fields));
    let mut splitter = Splitter {
        streams: Vec::new(),
        order,
        by: max_size.map_or(by, SplitBy::Size),
        start: start_of_fields(known.iter().map(|known| &known.fields)).unwrap_or(0),
        overhead: 0,
        keys: united.clone(),
        pages: Vec::new(),
        known,
    };
    let plain = united.clone();
    if format != Format::Array {
        united.push((keys::free_name(&united), format!("{{\"part_of\":{}}}", splitter.whole())));
    }
    splitter.overhead = overhead(format, &united);
    splitter.find_pages();
    splitter.find_streams();
    let mut runs = Vec::new();
    for group in splitter.groups(by) {
        let is_first = runs.is_empty();
        runs.extend(splitter.runs(&group, cut, is_first));
    }
    splitter.place_metadata(&mut runs);
    splitter.repeat_pages(&mut runs);
    if runs.len() == 1 {
        united = plain;
        format = if requested.is_none() { usual } else { format };
    }
    Ok(runs.iter().map(|run| splitter.part(run, format, &united)).collect())
}

fn phase(known: &Known<'_>, ph: &str) -> bool {
    known.fields.get("ph").is_some_and(|raw| is_string(raw, ph))
}

fn known(text: &str, categories: bool) -> Known<'_> {
    let fields = Fields::parse(text).unwrap_or_default();
    let named = |name| fields.get("name").is_some_and(|raw| is_string(raw, name));
    let is_metadata = fields.get("ph").is_some_and(|ph| is_string(ph, "M"));
    let category = || {
        let raw = fields.get("cat").unwrap_or("");
        match unescape(raw) {
            Some(text) => {
                let first = text.split(|&b| b == b',').next().unwrap_or_default().to_vec();
                [b"\"".to_vec(), first].concat()
            }
            None => format!("{:?}", Value::of(fields.get("cat"))).into_bytes(),
        }
    };
    Known {
        text,
        is_metadata,
        stream: (!is_metadata && named("ProfileChunk")).then(|| stream_key(&fields)),
        thread: (
            Value::of(fields.get("pid")),
            Value::of(fields.get("tid")),
            categories.then(category),
        ),
        time: fields.get("ts").and_then(time).map(|ts| i128::from(ts.nanos_floor())),
        fields,
    }
}

impl<'a> Splitter<'a> {
    fn find_streams(&mut self) {
        let mut chunks: Vec<(StreamKey, Vec<usize>)> = Vec::new();
        for (number, known) in self.known.iter().enumerate() {
            let Some(key) = &known.stream else { continue };
            match chunks.iter_mut().find(|(k, _)| k == key) {
                Some((_, all)) => all.push(number),
                None => chunks.push((key.clone(), vec![number])),
            }
        }
        for (key, chunks) in chunks {
            let is_head = |k: &&Known<'_>| {
                !k.is_metadata
                    && k.fields.get("name").is_some_and(|raw| is_string(raw, "Profile"))
                    && stream_key(&k.fields) == key
            };
            let head = self.known.iter().rposition(|k| is_head(&k));
            let owner = head.unwrap_or(chunks[0]);
            let mut sorted = chunks.clone();
            sorted.sort_by_key(|&i| SortKey::of(&self.known[i].fields));
            let anchor = head.unwrap_or(sorted[0]);
            self.streams.push((anchor, self.known[owner].thread.clone(), chunks));
        }
    }

    /// Groups the threads by the criterion `by`. Returns the groups in order of first appearance.
    fn groups(&self, by: SplitBy) -> Vec<Vec<ThreadKey>> {
        let mut threads: Vec<&ThreadKey> = Vec::new();
        let events = self.known.iter().filter(|k| k.stream.is_none() && !k.is_metadata);
        let all = events.map(|k| &k.thread).chain(self.streams.iter().map(|stream| &stream.1));
        for thread in all {
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        let mut groups: Vec<Vec<ThreadKey>> = Vec::new();
        for thread in threads {
            let same = |group: &&mut Vec<ThreadKey>| match by {
                SplitBy::Pid => group[0].0 == thread.0,
                SplitBy::Tid => (&group[0].0, &group[0].1) == (&thread.0, &thread.1),
                SplitBy::Cat => group[0].2 == thread.2,
                _ => true,
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(thread.clone()),
                None => groups.push(vec![thread.clone()]),
            }
        }
        if groups.is_empty() {
            groups.push(Vec::new());
        }
        groups
    }

    /// Returns the runs of a group, without metadata. The first run of the first group takes
    /// metadata that belongs to no process.
    fn runs(&self, group: &[ThreadKey], cut: bool, is_first: bool) -> Vec<Run> {
        // events, and streams at their anchors
        let mut steps: Vec<Step> = self
            .order
            .iter()
            .filter(|&&event| group.contains(&self.known[event].thread))
            .map(|&event| (event, vec![event]))
            .collect();
        for (anchor, thread, chunks) in &self.streams {
            if !group.contains(thread) {
                continue;
            }
            match steps.iter_mut().find(|step| step.0 == *anchor) {
                Some(step) => step.1.extend(chunks),
                None => steps.push((*anchor, chunks.clone())),
            }
        }
        steps.sort_by_key(|step| (SortKey::of(&self.known[step.0].fields), step.0));
        if !cut {
            let events = steps.into_iter().flat_map(|step| step.1).collect();
            let threads = group.iter().cloned().collect();
            return vec![Run { events, threads, ..Run::default() }];
        }
        let pieces = self.cut(group, &steps, is_first);
        let mut runs = Vec::new();
        for (index, (piece, copies)) in pieces.iter().enumerate() {
            let end = pieces.get(index + 1).map(|(next, _)| next[0].0);
            runs.push(Run { end, ..self.run(group, piece, copies, index == 0) });
        }
        runs
    }

    /// Cuts steps into runs. Returns each run with the begin events that are open before the run.
    fn cut<'s>(
        &self,
        group: &[ThreadKey],
        steps: &'s [Step],
        is_first: bool,
    ) -> Vec<(&'s [Step], Vec<usize>)> {
        let all: HashSet<ThreadKey> =
            self.groups(SplitBy::Events(1)).concat().into_iter().collect();
        let has_process = |i: usize| all.iter().any(|t| t.0 == self.known[i].thread.0);
        let len = |i: &usize| self.known[*i].text.len() as u64 + 2;
        let bytes = |metadata: &BTreeSet<usize>| -> u64 { metadata.iter().map(len).sum() };
        let placed = self.metadata_of(&all);
        let is_stray = |i: &usize| self.known[*i].is_metadata && !placed.contains(i);
        let strays: BTreeSet<usize> = (0..self.known.len()).filter(is_stray).collect();
        let mut metadata = self.metadata_of(&group.iter().cloned().collect());
        let of_group = |i: &&usize| group.iter().any(|t| t.0 == self.known[**i].thread.0);
        metadata.extend(strays.iter().filter(of_group));
        let of_nobody = strays.iter().copied().filter(|&i| is_first && !has_process(i)).collect();
        let overhead = self.overhead + bytes(&metadata);
        let weight = |step: &Step| {
            let bytes: usize = step.1.iter().map(|&i| self.known[i].text.len() + 2).sum();
            (step.1.len() as u64, bytes as u64)
        };
        let start = i128::from(self.start);
        let window = |step: &Step| match (self.by, self.known[step.0].time) {
            (SplitBy::Time(length), Some(time)) => (time - start).max(0) / length,
            _ => 0,
        };
        let frames = |copies: &[usize], steps: &[Step]| {
            let events = steps.iter().flat_map(|step| &step.1).chain(copies);
            let events = events.map(|&i| &self.known[i]).filter(|known| known.stream.is_none());
            frame_bytes(&self.keys, &events.map(|known| known.text).collect::<Vec<_>>())
        };
        let mut pieces = Vec::new();
        let used = overhead + bytes(&of_nobody);
        let (mut from, mut copies, mut used, mut count) = (0, Vec::new(), used, 0);
        for (at, step) in steps.iter().enumerate() {
            let (events, bytes) = weight(step);
            let full = match self.by {
                SplitBy::Size(most) => used + bytes + frames(&copies, &steps[from..=at]) > most,
                SplitBy::Events(most) => count + events > most,
                _ => at > 0 && window(step) != window(&steps[at - 1]),
            };
            if full && at > from {
                let open = self.open_before(&steps[..at]);
                pieces.push((&steps[from..at], std::mem::replace(&mut copies, open)));
                (from, used, count) = (at, overhead + self.repeated_bytes(&copies), 0);
            }
            used += bytes;
            count += events;
        }
        pieces.push((&steps[from..], copies));
        pieces
    }

    fn repeated_bytes(&self, events: &[usize]) -> u64 {
        events.iter().map(|&i| (self.known[i].text.len() + MARK.len() + 2) as u64).sum()
    }

    fn open_before(&self, steps: &[Step]) -> Vec<usize> {
        let mut stacks: HashMap<&ThreadKey, Vec<usize>> = HashMap::new();
        for &(event, _) in steps {
            let known = &self.known[event];
            if known.time.is_none() || known.stream.is_some() {
                continue;
            }
            let stack = stacks.entry(&known.thread).or_default();
            if phase(known, "B") {
                stack.push(event);
            } else if phase(known, "E") {
                let name = |event: usize| pairing::name(self.known[event].fields.get("name"));
                let names: Vec<_> = stack.iter().map(|&begin| name(begin)).collect();
                pairing::closed_by(&names, &name(event)).map(|at| stack.remove(at));
            }
        }
        let mut open: Vec<usize> = stacks.into_values().flatten().collect();
        open.sort_by_key(|&i| (SortKey::of(&self.known[i].fields), i));
        open
    }

    fn run(&self, group: &[ThreadKey], steps: &[Step], copies: &[usize], first: bool) -> Run {
        let times = || steps.iter().filter_map(|step| self.known[step.0].time);
        let span = times().min().zip(times().max());
        let lives = |thread: &&ThreadKey| {
            let order =
                || self.order.iter().map(|&i| &self.known[i]).filter(|k| k.thread == **thread);
            let (least, most) =
                (order().filter_map(|k| k.time).min(), order().filter_map(|k| k.time).max());
            let meets = match (least, most, span) {
                (Some(least), Some(most), Some((from, to))) => least <= to && from <= most,
                _ => false,
            };
            meets || first && order().any(|k| k.time.is_none())
        };
        let mut threads: HashSet<ThreadKey> = group.iter().filter(lives).cloned().collect();
        threads.extend(copies.iter().map(|&i| self.known[i].thread.clone()));
        let events: Vec<usize> = steps.iter().flat_map(|step| step.1.clone()).collect();
        for (_, thread, chunks) in &self.streams {
            if events.contains(&chunks[0]) {
                threads.insert(thread.clone());
            }
        }
        Run { events, copies: copies.to_vec(), threads, ..Run::default() }
    }

    /// Finds the first 1024 page events in output order.
    fn find_pages(&mut self) {
        let is_page = |&event: &usize| {
            let name = self.known[event].fields.get("name").unwrap_or_default();
            let is_named =
                super::slice::ESSENTIAL.iter().any(|essential| is_string(name, essential));
            is_named && self.known[event].time.is_some()
        };
        self.pages = self.order.iter().copied().filter(is_page).take(1024).collect();
        self.overhead += self.repeated_bytes(&self.pages);
    }

    /// Returns whether DevTools draws a thread, given the processes with pages.
    fn is_drawn(&self, thread: &ThreadKey, shown: &[Value]) -> bool {
        let its = self.known.iter().filter(|known| {
            known.is_metadata && (&known.thread.0, &known.thread.1) == (&thread.0, &thread.1)
        });
        let mut names = its.filter_map(|known| pages::thread_name(&known.fields));
        shown.contains(&thread.0) && !pages::is_hidden(&names.next_back().unwrap_or_default())
    }

    /// Adds to each run the events of other runs without which DevTools does not show the run.
    fn repeat_pages(&self, runs: &mut [Run]) {
        let place = |event: usize| self.order.iter().position(|&other| other == event);
        let known = self.pages.iter().map(|&page| &self.known[page]);
        let shown: Vec<Value> =
            known.flat_map(|known| pages::shown_by(&known.fields, &known.thread.0)).collect();
        for run in runs {
            if !run.threads.iter().any(|thread| self.is_drawn(thread, &shown)) {
                run.copies.sort_by_key(|&copy| place(copy));
                continue;
            }
            let end = run.end.map(|end| (SortKey::of(&self.known[end].fields), end));
            for &page in &self.pages {
                let mut processes = vec![self.known[page].thread.0.clone()];
                let data = self.known[page].fields.get("args").and_then(Fields::parse);
                let data = data.and_then(|args| args.get("data").and_then(Fields::parse));
                let data = data.unwrap_or_default();
                processes.extend(data.get("processId").map(|pid| Value::of(Some(pid))));
                for frame in data.get("frames").and_then(elements).unwrap_or_default() {
                    let frame = Fields::parse(frame).unwrap_or_default();
                    processes.extend(frame.get("processId").map(|pid| Value::of(Some(pid))));
                }
                let is_before = end.as_ref().is_none_or(|end| {
                    (&SortKey::of(&self.known[page].fields), page) < (&end.0, end.1)
                });
                let is_needed = run.threads.iter().any(|t| processes.contains(&t.0));
                let is_there = run.events.contains(&page) || run.copies.contains(&page);
                if is_before && is_needed && !is_there {
                    run.copies.push(page);
                }
            }
            run.copies.sort_by_key(|&copy| place(copy));
        }
    }

    fn is_of_thread(&self, event: usize) -> bool {
        let name = self.known[event].fields.get("name").and_then(unescape);
        name.is_some_and(|name| name.starts_with(b"thread_"))
    }

    fn metadata_of(&self, threads: &HashSet<ThreadKey>) -> BTreeSet<usize> {
        let is_of = |&i: &usize| {
            let target = &self.known[i].thread;
            self.known[i].is_metadata
                && threads.iter().any(|thread| {
                    thread.0 == target.0 && (!self.is_of_thread(i) || thread.1 == target.1)
                })
        };
        (0..self.known.len()).filter(is_of).collect()
    }

    fn place_metadata(&self, runs: &mut [Run]) {
        for run in runs.iter_mut() {
            run.metadata = self.metadata_of(&run.threads);
        }
        let placed: BTreeSet<usize> =
            runs.iter().flat_map(|s| s.metadata.iter().copied()).collect();
        for (number, known) in self.known.iter().enumerate() {
            if known.is_metadata && !placed.contains(&number) {
                let has = |s: &Run| s.threads.iter().any(|t| t.0 == known.thread.0);
                let at = runs.iter().position(has).unwrap_or(0);
                runs[at].metadata.insert(number);
            }
        }
    }

    fn whole(&self) -> String {
        let bytes: usize = self.known.iter().map(|known| known.text.len()).sum();
        let plain = || self.known.iter().filter(|k| k.stream.is_none() && !k.is_metadata);
        let times = || plain().filter_map(|k| k.time);
        let span = times().min().zip(times().max()).map_or_else(String::new, |(first, last)| {
            format!(",\"first_ns\":{first},\"last_ns\":{last}")
        });
        let events = self.known.len();
        format!("{{\"events\":{events},\"bytes\":{bytes}{span}}}")
    }

    fn part(&self, run: &Run, format: Format, united: &[(String, String)]) -> SplitPart {
        let all = run.events.iter().chain(&run.copies).chain(&run.metadata);
        let in_input_order: BTreeSet<usize> = all.copied().collect();
        let numbers: Vec<usize> = in_input_order.into_iter().collect();
        let texts: Vec<&str> = numbers.iter().map(|&i| self.known[i].text).collect();
        let order = output_order(&texts);
        let written = |&i: &usize| match run.copies.contains(&numbers[i]) {
            true => marked(texts[i]),
            false => texts[i].to_owned(),
        };
        let events: Vec<String> = order.events.iter().map(written).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        SplitPart {
            bytes: write::trace(format, &events, &with_used_frames(united, &events)),
            events: events.len(),
            metadata: run.metadata.len(),
            copies: run.copies.len(),
        }
    }
}
