//! Lanes: a thread, the async operations of a category in a process, a series of a counter. And what they are called.

use crate::text::content;
use tracemill_core::hash::HashMap;
use tracemill_core::json::member;
use tracemill_tokenizer::{Event, Field, number_text, parse, to_text};

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneKind {
    /// Intervals and moments of a thread.
    Thread,
    /// Async operations of a category.
    Async,
    /// Values over time.
    Counter,
    /// Calls made of the samples of a thread's CPU profile.
    Calls,
}

impl LaneKind {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            LaneKind::Thread => "thread",
            LaneKind::Async => "async",
            LaneKind::Counter => "counter",
            LaneKind::Calls => "calls",
        }
    }
}

/// What tells a lane from others: ids as they are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LaneKey {
    pub(crate) kind: LaneKind,
    pub(crate) pid: Box<[u8]>,
    /// Of threads the tid, of async lanes the category, of counters name, 0xFF and series.
    pub(crate) own: Box<[u8]>,
    /// Whose ids these are, until it is known what the inputs are beside each other; then 0.
    pub(crate) input: u32,
}

/// Lanes in the order of their first events.
#[derive(Default)]
pub(crate) struct LaneTable {
    pub(crate) all: Vec<LaneKey>,
    numbers: HashMap<LaneKey, u32>,
    last: u32,
}

impl LaneTable {
    /// The number of a lane: that of the event before, if it is the same.
    #[inline]
    pub(crate) fn number(&mut self, kind: LaneKind, pid: &[u8], own: &[u8]) -> u32 {
        if let Some(last) = self.all.get(self.last as usize)
            && (last.kind, &*last.pid, &*last.own) == (kind, pid, own)
        {
            return self.last;
        }
        self.last = self.add(LaneKey { kind, pid: pid.into(), own: own.into(), input: 0 });
        self.last
    }

    pub(crate) fn add(&mut self, key: LaneKey) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.all.push(key);
        }
        number
    }

    /// Takes over the lanes of a stretch of an input; gives their numbers here.
    pub(crate) fn append(&mut self, other: LaneTable, input: u32) -> Vec<u32> {
        other.all.into_iter().map(|key| self.add(LaneKey { input, ..key })).collect()
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        // both copies of a key, and its entry in the table
        let texts = self.all.iter().map(|key| key.pid.len() + key.own.len() + 16);
        texts.sum::<usize>() as u64 * 2 + self.all.len() as u64 * 100
    }
}

/// What metadata says of a process or a thread: the last word counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    pub(crate) name: Option<String>,
    pub(crate) sort_index: Option<f64>,
    pub(crate) labels: Option<String>,
}

impl Note {
    fn take(&mut self, later: Note) {
        self.name = later.name.or(self.name.take());
        self.sort_index = later.sort_index.or(self.sort_index);
        self.labels = later.labels.or(self.labels.take());
    }
}

/// A pid and a tid as written; of processes the tid is `None`.
type Owner = (Box<[u8]>, Option<Box<[u8]>>);

/// All that metadata says.
#[derive(Default)]
pub(crate) struct Notes(HashMap<Owner, Note>);

impl Notes {
    pub(crate) fn note(&mut self, event: &Event<'_>) {
        let is = |name: &[u8]| event.is_string(Field::Name, name);
        let args = event.field(Field::Args).unwrap_or_default();
        let text = |key: &[u8]| {
            let mut scratch = Vec::new();
            let text = member(args, key).map(|value| to_text(content(value, &mut scratch)));
            text.map(|text| text.chars().take(crate::text::NAME_MOST).collect::<String>())
        };
        let number = || {
            let mut scratch = Vec::new();
            number_text(member(args, b"sort_index")?, &mut scratch).and_then(parse::<f64>)
        };
        let (of_process, note) = if is(b"process_name") {
            (true, Note { name: text(b"name"), ..Note::default() })
        } else if is(b"thread_name") {
            (false, Note { name: text(b"name"), ..Note::default() })
        } else if is(b"process_sort_index") {
            (true, Note { sort_index: number(), ..Note::default() })
        } else if is(b"thread_sort_index") {
            (false, Note { sort_index: number(), ..Note::default() })
        } else if is(b"process_labels") {
            (true, Note { labels: text(b"labels"), ..Note::default() })
        } else {
            return;
        };
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let owner = (pid.into(), (!of_process).then(|| tid.into()));
        self.0.entry(owner).or_default().take(note);
    }

    pub(crate) fn append(&mut self, later: Notes) {
        #[expect(clippy::iter_over_hash_type, reason = "each note is of an owner of its own")]
        for (owner, note) in later.0 {
            self.0.entry(owner).or_default().take(note);
        }
    }

    /// The same of processes that have other pids.
    pub(crate) fn renamed(self, pid: impl Fn(&[u8]) -> Box<[u8]>) -> Self {
        let renamed = self.0.into_iter().map(|((own, tid), note)| ((pid(&own), tid), note));
        Notes(renamed.collect())
    }

    pub(crate) fn of(&self, pid: &[u8], tid: Option<&[u8]>) -> Note {
        self.0.get(&(pid.into(), tid.map(Into::into))).cloned().unwrap_or_default()
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        self.0.len() as u64 * 300
    }
}
