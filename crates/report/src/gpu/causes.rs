//! The operators and lines of Python that launch kernels.
//!
//! ```text
//!   kernels ──────────── launches ──┐ joined by event number ─> sums by kernel, operator and function
//!   flame charts ─ calls that launch┘
//! ```

use super::launched::launched;
use crate::found::{Kernel, ReportRules};
use tracemill_analysis::Trace;
use tracemill_analysis::events::kinds::NO_CAT;
use tracemill_causes::{Cause, Causes, EventId};
use tracemill_trace::order::{Keyed, SortedByKey};
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::{Error, record};

record! {
    /// A kernel with a launch.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Launched {
        /// Number of the launch among all events.
        launch: u64,
        /// Number of the kernel in the list.
        kernel: u32,
        /// Nanoseconds.
        dur: i64,
    }
}

record! {
    /// A call that launches kernels.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Launcher {
        /// Number among all events.
        number: u64,
        caller: Caller,
    }
}

record! {
    /// The code around a launch.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Caller {
        /// Number of the text of the innermost operator's name.
        operator: Option<u32>,
        /// Number of the innermost function with a file.
        frame: Option<u32>,
    }
}

impl Keyed for Launched {
    type Key = (u64, u32, i64);

    fn key(&self) -> Self::Key {
        (self.launch, self.kernel, self.dur)
    }
}

impl Keyed for Launcher {
    type Key = u64;

    fn key(&self) -> u64 {
        self.number
    }
}

/// Adds to kernels the operator and function that launch most of their time.
///
/// Cost: the flame charts of all threads, and sorts of the kernels and their launches.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if there are too many callers.
pub(crate) fn add_launches(
    trace: &Trace,
    threads: &[usize],
    rules: &ReportRules,
    causes: &Causes,
    kernels: &mut [Kernel],
) -> Result<(), Error> {
    let room = trace.limits().quota("callers of kernels", Share::of(1, 8));
    let names = trace.names();
    let listed: HashMap<&[u8], u32> =
        (0u32..).zip(&*kernels).map(|(at, kernel)| (kernel.name.as_bytes(), at)).collect();
    let mut launches = trace.space().sorter(4);
    let mut is_launch = vec![false; trace.kinds().len()];
    for event in launched(trace, threads, rules.devices, rules.window)?.0.iter() {
        let Some(launch) = event.launch else { continue };
        if let Some(&kernel) = listed.get(names.bytes_of(event.name)) {
            is_launch[launch.kind as usize] = true;
            launches.push(Launched { launch: launch.number, kernel, dur: event.dur })?;
        }
    }
    let launchers = launchers(trace, causes, &is_launch)?;
    let mut launchers = launchers.iter().peekable();
    let mut sums: HashMap<(u32, Caller), i128> = HashMap::default();
    for Launched { launch, kernel, dur } in launches.finish()?.iter() {
        while launchers.next_if(|call| call.number < launch).is_some() {}
        let call = launchers.peek().filter(|call| call.number == launch);
        let caller = call.map_or_else(Caller::default, |call| call.caller);
        *sums.entry((kernel, caller)).or_default() += i128::from(dur);
        room.check(sums.capacity() as u64 * 48, "callers of kernels")?;
    }
    let mut sums: Vec<((u32, Caller), i128)> = sums.into_iter().collect();
    sums.sort_by_key(|((kernel, caller), sum)| (*kernel, std::cmp::Reverse(*sum), *caller));
    for of_kernel in sums.chunk_by(|a, b| a.0.0 == b.0.0) {
        let (kernel, Caller { operator, frame }) = of_kernel[0].0;
        let is_known = operator.is_some() || frame.is_some();
        kernels[kernel as usize].launched_by = is_known.then(|| Cause {
            name: operator.map(|operator| names.text(operator)),
            key: None,
            site: frame.map(|frame| causes.stacks.site_of(frame)),
        });
    }
    Ok(())
}

/// Returns the calls of some kinds, by number.
fn launchers(
    trace: &Trace,
    causes: &Causes,
    is_launch: &[bool],
) -> Result<SortedByKey<Launcher>, Error> {
    let names = trace.names();
    let is_cpu_op = |cat: u32| cat != NO_CAT && names.bytes_of(cat) == b"cpu_op";
    let is_operator: Vec<bool> = trace.kinds().iter().map(|kind| is_cpu_op(kind.cat)).collect();
    let mut launchers = trace.space().sorter(4);
    for (number, thread) in trace.threads.iter().enumerate() {
        let track = trace.track(thread)?;
        let mut stacks = causes.stacks.of_thread(number).peekable();
        // The innermost operator around and including each open entry.
        let mut open: Vec<Option<u32>> = Vec::new();
        for placed in track.entries() {
            let entry = placed.entry;
            open.truncate(placed.depth as usize);
            let around = open.last().copied().flatten();
            let kind = (!entry.is_call()).then_some(entry.kind as usize);
            let operator = kind.filter(|&kind| is_operator[kind]);
            open.push(operator.map(|kind| trace.kinds()[kind].name).or(around));
            let id = EventId::of_entry(&entry, number);
            let stack = stacks.next_if(|row| row.event == id).map(|row| row.stack);
            let Some(number) = kind.filter(|&kind| is_launch[kind]).and(entry.event_number())
            else {
                continue;
            };
            let frame = stack.and_then(|stack| causes.stacks.innermost(stack));
            launchers.push(Launcher { number, caller: Caller { operator: around, frame } })?;
        }
    }
    launchers.finish()
}
