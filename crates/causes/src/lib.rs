//! Why events ran: flows, initiators and stacks, as Chrome DevTools finds them.
//!
//! In traces of other producers, flows connect slices as in the Trace Event Format, kernels have
//! their launch as initiator, and stacks continue with that of the initiator.
//!
//! ```text
//!   events ──┬─ flows ──────────┬──────────────────────┬─> initiators
//!            └─ linked by args ─┼──────────────────────┘       │
//!   flame charts ───────────────┴─ asynchronous tasks ─> stacks with the stacks of their schedulers
//! ```
//!
//! [`Causes::find`] works on a [`Trace`] that was read with [`Wanted::causes`](tracemill_analysis::Wanted). Everything that grows with
//! the trace is sorted and joined on disk beyond its lease; no map holds all events.
//!
//! ```
//! use tracemill_analysis::{ReadRules, Trace, Wanted};
//! use tracemill_causes::{Causes, EventKey};
//! use tracemill_pipeline::{Config, Source};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("trace.json");
//! # std::fs::write(&path, r#"[
//! #   {"ph":"X","name":"TimerInstall","cat":"c","pid":1,"tid":1,"ts":1,"dur":1,"args":{"data":{"timerId":7}}},
//! #   {"ph":"X","name":"TimerFire","cat":"c","pid":1,"tid":1,"ts":9,"dur":5,"args":{"data":{"timerId":7}}}]"#)?;
//!
//! let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
//! let wanted = Wanted { causes: true, ..Wanted::default() };
//! let rules = ReadRules { wanted, ..ReadRules::default() };
//! let trace = Trace::read(&[Source::Path(path)], rules, &config)?;
//! let causes = Causes::find(&trace, false)?;
//! let found = causes.initiators.iter().next().expect("the timer was installed");
//! assert_eq!(found.event.key(&trace), EventKey::Key("r-1".to_owned()));
//! assert_eq!(found.initiator.name(&trace), "TimerInstall");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod bloom_filter;
mod callers;
mod continued;
mod event_id;
mod flows;
mod initiators;
mod ordered;
mod python;
mod rows;
mod sites;
mod slice_flows;
mod sorted;
mod stacks;
mod tasks;
mod totals;

pub use event_id::{EventId, EventKey};
pub use initiators::{Initiated, InitiatorTable};
pub use rows::{Cause, CauseRow, CauseRows};
pub use sites::Site;
pub use stacks::{Level, StackId, StackOf, Stacks};
pub use totals::{CauseKind, CauseQuery, CauseTotal, totals};

use initiators::Initiators;
use ordered::Ordered;
use sorted::SortedRows;
use tasks::Jump;
use tracemill_analysis::events::causes::{CauseEvent, CauseRole};
use tracemill_analysis::value::space::Space;
use tracemill_analysis::{AsyncCallers, Trace};
use tracemill_trace::Error;
use tracemill_trace::run::memory::Share;

/// The causes of the events of a trace.
pub struct Causes {
    /// Events and their initiators.
    pub initiators: InitiatorTable,
    /// Stacks of all entries of flame charts.
    pub stacks: Stacks,
}

impl Causes {
    /// Finds initiators and stacks. With `as_devtools`, DevTools' rules apply to all traces, events
    /// that arrive late in the file cause nothing, and ids of timers and tasks count across threads.
    ///
    /// Cost: two or three walks over each flame chart, and sorts of the events that may be
    /// connected.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails, or
    /// [`tracemill_trace::ErrorKind::Exceeded`] if too many flows are open, or tasks run, at a time.
    pub fn find(trace: &Trace, as_devtools: bool) -> Result<Self, Error> {
        let space = space_of(trace);
        let by_format = !as_devtools && !trace.follows_devtools;
        let (initiators, jumps) = linked(trace, as_devtools, &space)?;
        let stacks = stacks::stacks(trace, &jumps, by_format, &space)?;
        Ok(Causes { initiators, stacks })
    }

    /// Returns the stack of an event; the empty stack if it has none. The begin of a
    /// `performance.measure` has the stack of the call with the same trace id.
    ///
    /// Cost: a search through all entries; for a measure, one through all events too.
    pub fn stack_of(&self, event: EventId, trace: &Trace) -> StackId {
        let found = event.number().and_then(|number| trace.cause_event(number));
        let measure = found.filter(|event| event.role == CauseRole::BeginMeasure && event.id != 0);
        let call = measure.and_then(|measure| {
            let is_call = |other: &CauseEvent| {
                let links = [(other.input, other.id), (measure.input, measure.id)];
                other.role == CauseRole::CallMeasure && links[0] == links[1]
            };
            trace.cause_events().filter(is_call).last()
        });
        self.stacks.of(call.map_or(event, |call| EventId::of_event(call.number, call.kind)))
    }

    /// Finds the callers of events across asynchronous tasks, or in traces of other producers,
    /// across initiators, for [`Trace::async_callers`].
    ///
    /// Cost: two or three walks over each flame chart, and sorts of the events that may be
    /// connected. Heap: the entries that scheduled tasks, and the entries around them.
    ///
    /// # Errors
    /// Returns the errors of [`Causes::find`].
    pub fn async_callers(trace: &Trace) -> Result<AsyncCallers, Error> {
        let space = space_of(trace);
        let (_, jumps) = linked(trace, false, &space)?;
        callers::callers(trace, &jumps, &space)
    }
}

fn space_of(trace: &Trace) -> Space {
    let limits = trace.limits();
    Space::new(limits.lease("causes", Share::of(1, 4)), limits.threads)
}

/// Finds initiators, and the jumps of stacks by [`tasks::Position::key`] of their entry.
fn linked(
    trace: &Trace,
    as_devtools: bool,
    space: &Space,
) -> Result<(InitiatorTable, SortedRows<1, Jump>), Error> {
    let room = trace.limits().quota("open flows and tasks", Share::of(1, 8));
    let events = Ordered::new(trace, as_devtools, space)?;
    let mut initiators = Initiators::new(space);
    initiators.link(trace, &events, as_devtools, space)?;
    if !as_devtools && !trace.follows_devtools {
        initiators.follow(&slice_flows::flows(trace, space)?)?;
        initiators.launch(trace, space)?;
        let initiators = initiators.finish(space)?;
        let jumps = continued::jumps(trace, &initiators, space)?;
        return Ok((initiators, jumps));
    }
    let flows = flows::flows(trace, &events, space, &room)?;
    initiators.follow(&flows)?;
    let jumps = tasks::tasks(trace, &flows, &mut initiators, space, &room)?;
    Ok((initiators.finish(space)?, jumps))
}
