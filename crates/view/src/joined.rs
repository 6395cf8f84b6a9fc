//! Several inputs shown as one trace: what a merge of them would keep apart, or move, and is shown as it is written.

use foldhash::fast::FixedState;
use std::collections::HashMap;
use tracemill_pipeline::Scanned;

/// Which inputs have which pids, as written.
#[derive(Default)]
pub(crate) struct Owners {
    inputs: HashMap<Box<[u8]>, Vec<u32>, FixedState>,
    pairs: u64,
}

impl Owners {
    /// Notes a pid of an input; inputs come in order.
    pub(crate) fn note(&mut self, pid: &[u8], input: usize) {
        let input = input as u32;
        match self.inputs.get_mut(pid) {
            Some(inputs) if inputs.last() == Some(&input) => return,
            Some(inputs) => inputs.push(input),
            None => drop(self.inputs.insert(pid.into(), vec![input])),
        }
        self.pairs += 1;
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> u64 {
        self.inputs.len() as u64 * 100 + self.pairs * 8
    }

    /// What is shown as one and is not, or beside each other and was not, as a sentence without its full stop; `None` if a merge would change neither
    /// pids nor times.
    pub(crate) fn said(&self, scanned: &Scanned) -> Option<String> {
        let name = |input: u32| scanned.inputs()[input as usize].name.as_str();
        let is_other = |pid: &[u8], input: u32| scanned.place(input as usize).pid(pid) != pid;
        let clashes = self.inputs.iter().filter_map(|(pid, inputs)| {
            let first = *inputs.first()?;
            let other = inputs.iter().skip(1).find(|&&input| is_other(pid, input))?;
            Some((first, *other, String::from_utf8_lossy(pid)))
        });
        let mut clashes: Vec<_> = clashes.collect();
        clashes.sort_unstable();
        let pids = clashes.first().map(|(first, other, pid)| {
            let more = match clashes.len() - 1 {
                0 => String::new(),
                1 => " (as with 1 more pid)".to_owned(),
                more => format!(" (as with {more} more pids)"),
            };
            format!(
                "{} and {} both have pid {pid}: shown as one process{more}",
                name(*first),
                name(*other)
            )
        });
        let inputs = 0..scanned.inputs().len() as u32;
        let is_moved = |&input: &u32| scanned.place(input as usize).moved(0.0) != 0.0;
        let moved: Vec<u32> = inputs.filter(is_moved).collect();
        let clocks = moved.first().map(|&input| {
            let more = match moved.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            format!(
                "{}{more} has a clock of its own: its times are shown as they are written",
                name(input)
            )
        });
        let said: Vec<String> = pids.into_iter().chain(clocks).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}
