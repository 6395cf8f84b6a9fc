//! The number of values and the greatest value of each counter (phase C).

use crate::value::number;
use tracemill_tokenizer::{Event, Field, members};
use tracemill_trace::event::names::Names;
use tracemill_trace::spill::hash::HashMap;

/// A summary of the values of a counter.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Index of the counter's name in the table of texts.
    pub name: u32,
    /// Index of the value's key in the table of texts. The key is a member of `args`.
    pub key: u32,
    /// Pid as written.
    pub pid: Box<[u8]>,
    pub(crate) input: usize,
    /// Number of events with a value of this counter.
    pub count: u64,
    /// The greatest value.
    pub most: f64,
}

/// Input number, process, name and key of a counter.
type Id = (usize, Box<[u8]>, u32, u32);

/// Summaries of counters, in order of appearance.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) all: Vec<Counter>,
    numbers: HashMap<Id, usize>,
    bytes: u64,
}

impl Counters {
    pub(crate) fn note(&mut self, event: &Event<'_>, names: &mut Names) {
        let Some(args) = event.field(Field::Args) else { return };
        let pid = event.field(Field::Pid).unwrap_or_default();
        let name = names.written(event.field(Field::Name).unwrap_or_default());
        for (key, value) in members(args) {
            let Some(value) = number(value).filter(|value| value.is_finite()) else { continue };
            let key = names.written(key);
            let one = Counter { name, key, pid: pid.into(), input: 0, count: 1, most: value };
            self.add(one);
        }
    }

    fn add(&mut self, other: Counter) {
        let Counter { name, key, input, .. } = other;
        let next = self.all.len();
        let id = (input, other.pid.clone(), name, key);
        let at = *self.numbers.entry(id).or_insert(next);
        if at == next {
            self.bytes += (size_of::<Counter>() + size_of::<(Id, usize)>() + 80) as u64;
            return self.all.push(other);
        }
        let counter = &mut self.all[at];
        counter.count += other.count;
        counter.most = counter.most.max(other.most);
    }

    /// Adds the values of a later chunk of an input. `texts` maps text numbers of the chunk to
    /// those of the trace.
    pub(crate) fn append(&mut self, later: &Counters, input: usize, texts: &[u32]) {
        for counter in &later.all {
            let (name, key) = (texts[counter.name as usize], texts[counter.key as usize]);
            self.add(Counter { name, key, input, ..counter.clone() });
        }
    }

    pub(crate) fn heap(&self) -> u64 {
        self.bytes
    }
}
