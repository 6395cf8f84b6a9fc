//! Writes pprof's `profile.proto`: one sample for each row, with its number of events and its self
//! time, and one location for each frame.

use crate::proto::Message;
use crate::stacks::{Stacks, step};
use std::io::{self, Write};
use tracemill_trace::spill::hash::HashMap;

/// Field numbers of `Profile`.
mod profile {
    pub(crate) const SAMPLE_TYPE: u32 = 1;
    pub(crate) const SAMPLE: u32 = 2;
    pub(crate) const LOCATION: u32 = 4;
    pub(crate) const FUNCTION: u32 = 5;
    pub(crate) const STRING_TABLE: u32 = 6;
    pub(crate) const DURATION_NANOS: u32 = 10;
    pub(crate) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

/// Interned texts. The first text is empty, as the format requires.
struct Strings {
    all: Vec<String>,
    index: HashMap<String, u64>,
}

impl Strings {
    fn new() -> Self {
        Strings { all: vec![String::new()], index: HashMap::from_iter([(String::new(), 0)]) }
    }

    fn number(&mut self, text: &str) -> u64 {
        if let Some(&number) = self.index.get(text) {
            return number;
        }
        let number = self.all.len() as u64;
        self.all.push(text.to_owned());
        self.index.insert(text.to_owned(), number);
        number
    }
}

/// Writes the profile without compression.
pub(crate) fn write(stacks: &Stacks, out: &mut dyn Write) -> io::Result<()> {
    let mut strings = Strings::new();
    let (mut all, mut message, mut inner) =
        (Message::default(), Message::default(), Message::default());
    for (kind, unit) in [("events", "count"), ("time", "nanoseconds")] {
        message.clear();
        message.number(1, strings.number(kind));
        message.number(2, strings.number(unit));
        all.field(profile::SAMPLE_TYPE, message.bytes());
    }
    write_samples(stacks, &mut strings, out)?;
    out.write_all(all.bytes())?;
    for (at, frame) in (1..).zip(&stacks.frames) {
        all.clear();
        message.clear();
        message.number(1, at);
        inner.clear();
        inner.number(1, at);
        inner.number(2, frame.line.unwrap_or(0) as u64);
        inner.number(3, frame.column.unwrap_or(0) as u64);
        message.field(4, inner.bytes());
        all.field(profile::LOCATION, message.bytes());
        message.clear();
        message.number(1, at);
        let name = strings.number(&frame.name);
        message.number(2, name);
        message.number(3, name);
        message.number(4, strings.number(&frame.url));
        message.number(5, frame.line.unwrap_or(0) as u64);
        all.field(profile::FUNCTION, message.bytes());
        out.write_all(all.bytes())?;
    }
    all.clear();
    let length = stacks.trees.iter().map(|tree| tree.length).max().unwrap_or(0);
    all.number(profile::DURATION_NANOS, length);
    all.number(profile::DEFAULT_SAMPLE_TYPE, strings.number("time"));
    for text in &strings.all {
        all.field(profile::STRING_TABLE, text.as_bytes());
        out.write_all(all.bytes())?;
        all.clear();
    }
    Ok(())
}

/// Writes the samples. A sample may refer to a location that is written later, so samples need not
/// be kept.
fn write_samples(stacks: &Stacks, strings: &mut Strings, out: &mut dyn Write) -> io::Result<()> {
    let key = strings.number("thread");
    let (mut path, mut one) = (Vec::new(), Message::default());
    let (mut message, mut label) = (Message::default(), Message::default());
    for tree in &stacks.trees {
        label.clear();
        label.number(1, key);
        label.number(2, strings.number(&tree.title));
        for line in stacks.lines(tree) {
            step(&mut path, &line);
            message.clear();
            // A sample lists the innermost frame first.
            message.numbers(1, path.iter().rev().map(|&frame| u64::from(frame) + 1));
            message.numbers(2, [line.count, line.own as u64]);
            message.field(3, label.bytes());
            one.clear();
            one.field(profile::SAMPLE, message.bytes());
            out.write_all(one.bytes())?;
        }
        path.clear();
    }
    Ok(())
}
