//! What a merge need not read of a trace: CENSUS and what it stands on, as [`crate::merge()`] would have found it.

use super::meta::Meta;
use super::threads::threads;
use crate::identity::{IdRanges, Process, Processes, Times, key_of};
use crate::merge::KnownInput;
use tracemill_core::envelope::{Document, KeyValue};
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_core::losses::InputReport;
use tracemill_index::{Index, IndexError, Page, census, id};
use tracemill_profile::StreamKey;
use tracemill_tokenizer::{Form, Mapped};

/// What an index says.
pub(super) struct Told {
    pub(super) input: KnownInput,
    /// Whether clocks may be told by events.
    pub(super) has_syncs: bool,
}

/// What the index of a plain trace that is called `name` says of it; `None` if not all of it is there. An error says why it is none of that
/// trace, whose text this is.
pub(super) fn told(
    index: &Index<'_>,
    meta: &Meta,
    name: &str,
    text: &Mapped,
) -> Result<Option<Told>, String> {
    let Some(input) = meta.input(name) else { return Ok(None) };
    let is_whole = input.lost() == 0 && input.unclosed == 0 && input.odd_separators == 0;
    if !is_whole || input.encoding.is_some() || input.events == 0 {
        return Ok(None);
    }
    if input.bytes != text.len() as u64 {
        return Err("its trace has another length".to_owned());
    }
    let facts = facts(index).map_err(|error| error.to_string())?;
    let document = document(index, &input, text).map_err(|error| error.to_string())?;
    let (Some(facts), Some(document)) = (facts, document) else { return Ok(None) };
    let document = document.ok_or("its keys are not those of the trace")?;
    let facts = facts.ok_or("what it says of processes is not of its threads")?;
    let Facts { span, has_syncs, browser, processes, streams } = facts;
    let report = InputReport { span, ..input };
    Ok(Some(Told {
        input: KnownInput { report, document, processes, streams, browser },
        has_syncs,
    }))
}

/// The one document; `None` in its place if the text has something else where the index says that keys stand. `None` if there are several.
fn document(
    index: &Index<'_>,
    input: &InputReport,
    text: &Mapped,
) -> Result<Option<Option<Document>>, IndexError> {
    let [Some(documents), Some(section)] = [id::DOCUMENTS, id::KEYS].map(|own| index.section(own))
    else {
        return Ok(None);
    };
    let ([entry], 1) = (&documents.pages[..], documents.rows) else { return Ok(None) };
    let page = index.page(entry)?;
    let (forms, events) = (page.numbers(0)?, page.numbers(2)?);
    let form = match forms[..] {
        [0] => Form::Array,
        [1] => Form::Object,
        [2] => Form::Ndjson,
        _ => return Ok(Some(None)),
    };
    let mut keys = Vec::new();
    let mut behind = 0;
    for entry in &section.pages {
        let page = index.page(entry)?;
        let [places, lens, names] = [1, 2, 3].map(|column| page.numbers(column));
        let (places, lens, mut names) = (places?, lens?, Texts::of(&page, names?, 4)?);
        for (offset, len) in places.into_iter().zip(lens) {
            let (Some(key), Some(end)) = (names.next(), offset.checked_add(len)) else {
                return Ok(Some(None));
            };
            if offset < behind || end > input.bytes || !stands_before(text, key, offset) {
                return Ok(Some(None));
            }
            behind = end;
            keys.push(KeyValue { key: key.into(), offset, len });
        }
    }
    let events = events.first().copied().unwrap_or(0);
    Ok(Some(Some(Document { form, keys, first: 0, events, alike: 0 })))
}

/// Whether a key stands right before the place of a value.
fn stands_before(text: &Mapped, key: &[u8], offset: u64) -> bool {
    let before = usize::try_from(offset).ok().and_then(|at| text.get(..at));
    let before = before.map(<[u8]>::trim_ascii_end).and_then(|text| text.strip_suffix(b":"));
    key.len() > 1 && before.is_some_and(|text| text.trim_ascii_end().ends_with(key))
}

/// Everything in CENSUS, with the threads of LANES.
#[derive(Default)]
struct Facts {
    span: Option<(i64, i64)>,
    has_syncs: bool,
    browser: bool,
    processes: Processes,
    streams: Vec<(StreamKey, Option<i64>)>,
}

/// `None` in their place if they are not those of the threads. `None` if sections are not there.
fn facts(index: &Index<'_>) -> Result<Option<Option<Facts>>, IndexError> {
    let (Some(section), Some(threads)) = (index.section(id::CENSUS), threads(index)?) else {
        return Ok(None);
    };
    let mut rows = Vec::new();
    for entry in &section.pages {
        let page = index.page(entry)?;
        let [kinds, flags, a, b, first, second] =
            [0, 1, 2, 3, 4, 5].map(|column| page.numbers(column));
        let (kinds, flags, a, b, first, second) = (kinds?, flags?, a?, b?, first?, second?);
        let lens = first.into_iter().zip(second).flat_map(|(first, second)| [first, second]);
        let mut texts = Texts::of(&page, lens.collect(), 6)?;
        for row in 0..page.rows() {
            let (Some(one), Some(two)) = (texts.next(), texts.next()) else {
                return Ok(Some(None));
            };
            let texts = [one.to_vec(), two.to_vec()];
            rows.push(Row { kind: kinds[row], flags: flags[row], a: a[row], b: b[row], texts });
        }
    }
    let ids = threads.all.iter().map(|thread| (&*thread.pid, &*thread.tid));
    Ok(Some(put_together(rows, &Vec::from_iter(ids))))
}

struct Row {
    kind: u64,
    flags: u64,
    a: u64,
    b: u64,
    texts: [Vec<u8>; 2],
}

impl Row {
    fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// A first and a last time; `None` if they cannot be.
    fn times(&self) -> Option<(i64, i64)> {
        let first = self.a as i64;
        Some((first, first.checked_add_unsigned(self.b)?))
    }
}

/// What rows say of these threads, given as pid and tid; `None` if they are not of these, or cannot be.
fn put_together(rows: Vec<Row>, threads: &[(&[u8], &[u8])]) -> Option<Facts> {
    let mut facts = Facts::default();
    let (mut own, mut silent) = (Vec::new(), HashSet::default());
    let (mut numbers, mut texts, mut tag) = (Vec::new(), None, 1);
    for (at, row) in rows.into_iter().enumerate() {
        if (row.kind == census::TRACE) != (at == 0) {
            return None;
        }
        match row.kind {
            census::TRACE => {
                facts.span = if row.has(census::SPAN) { Some(row.times()?) } else { None };
                facts.has_syncs = row.has(census::SYNCS);
                facts.browser = row.has(census::BROWSER);
            }
            census::PROCESS => {
                let bulk = if row.has(census::TIMES) { Some(row.times()?) } else { None };
                let (has_name, has_labels) = (row.has(census::NAME), row.has(census::LABELS));
                let [name, labels] = row.texts;
                own.push(Process {
                    name: has_name.then_some(name),
                    labels: has_labels.then_some(labels),
                    times: Times::of(bulk),
                    ..Process::default()
                });
            }
            census::LANES => {
                let end = row.a.checked_add(row.b).filter(|end| *end <= threads.len() as u64)?;
                silent.extend(row.a..end);
            }
            census::NUMBERS => {
                numbers.push((row.has(census::HEX), (row.a, row.a.checked_add(row.b)?)));
            }
            census::TEXTS if texts.is_none() && row.texts[0] <= row.texts[1] => {
                (texts, tag) = (Some(row.texts), row.a);
            }
            census::STREAM => {
                let begin = row.has(census::BEGIN).then_some(row.a as i64);
                let [key, _] = row.texts;
                facts.streams.push((key, begin));
            }
            _ => return None,
        }
    }
    let texts = texts.as_ref().map(|[first, last]| (&**first, &**last));
    let ids = IdRanges::known(numbers, texts, tag)?;
    facts.processes = Processes::known(with_threads(own, threads, &silent)?, ids);
    Some(facts)
}

/// Processes with their keys and threads; `None` if there are not as many as the threads have.
fn with_threads(
    own: Vec<Process>,
    threads: &[(&[u8], &[u8])],
    silent: &HashSet<u64>,
) -> Option<Vec<(Vec<u8>, Process)>> {
    let mut own = own.into_iter();
    let mut by_pid: Vec<(Vec<u8>, Process)> = Vec::new();
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::default();
    for (row, &(pid, tid)) in (0..).zip(threads).filter(|(_, (pid, _))| !pid.is_empty()) {
        let key = key_of(Some(pid));
        let number = match numbers.get(&key) {
            Some(number) => *number,
            None => {
                let process = Process { written: pid.to_vec(), ..own.next()? };
                by_pid.push((key.clone(), process));
                numbers.insert(key, by_pid.len() - 1);
                by_pid.len() - 1
            }
        };
        if !silent.contains(&row) {
            by_pid[number].1.threads.push(key_of(Some(tid).filter(|tid| !tid.is_empty())));
        }
    }
    own.next().is_none().then_some(by_pid)
}

/// Texts that stand one behind the other in a column of bytes.
struct Texts<'p> {
    lens: std::vec::IntoIter<u64>,
    rest: &'p [u8],
}

impl<'p> Texts<'p> {
    fn of(page: &'p Page, lens: Vec<u64>, column: usize) -> Result<Self, IndexError> {
        Ok(Texts { lens: lens.into_iter(), rest: page.bytes(column)? })
    }

    /// The next one; `None` if there is none as long as that.
    fn next(&mut self) -> Option<&'p [u8]> {
        let len = usize::try_from(self.lens.next()?).ok()?;
        let (own, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(own)
    }
}
