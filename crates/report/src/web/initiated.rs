//! Which request made another one start (DevTools: `Initiators.getNetworkInitiator`).

use crate::web::network::{Request, requests};
use std::sync::OnceLock;
use tracemill_analysis::Trace;
use tracemill_causes::{Cause, Causes, EventId, Level, StackId};
use tracemill_trace::spill::hash::HashMap;

/// Returns the requests of a trace in the order of their first events, each with the position of
/// the request that made it start: a stylesheet, the script of its stack, or what the event names.
///
/// Cost: a pass over the stacks.
pub fn initiated_requests(trace: &Trace, causes: &Causes) -> Vec<(Request, Option<usize>)> {
    let requests = requests(trace);
    let initiated = initiated(trace, causes, &requests);
    requests.into_iter().zip(initiated.into_iter().map(|found| found.initiator)).collect()
}

/// Maximum number of causes in a chain, as in DevTools.
const CHAIN: usize = 10;
/// Maximum number of levels of a stack.
const LEVELS: usize = 100;

/// The causes and effects of an event, as DevTools shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// The initiator, its initiator, and so on.
    pub causes: Vec<EventId>,
    /// Events that the event started.
    pub started: Vec<EventId>,
    /// Calls around the event, and those of the tasks that scheduled them.
    pub stack: Vec<Level>,
}

/// Finds the causes and effects of single events.
#[derive(Default)]
pub struct ReasonFinder {
    /// The request that made another one start, by the number of the event that sends the latter.
    requests: OnceLock<HashMap<u64, EventId>>,
}

impl ReasonFinder {
    /// Returns the causes and effects of an event. `causes` must always be those of `trace`.
    ///
    /// Cost: [`Causes::stack_of`]; for the first event that sends a request, a pass over the stacks.
    pub fn find(&self, event: EventId, trace: &Trace, causes: &Causes) -> Reasons {
        let Causes { initiators, stacks } = causes;
        let mut chain = initiators.chain(event, CHAIN);
        if let Some(sent) = event.number().filter(|_| event.name(trace) == "ResourceSendRequest") {
            let requests = self.requests.get_or_init(|| initiators_of_requests(trace, causes));
            chain.splice(0..0, requests.get(&sent).copied());
        }
        let stack = stacks.levels(causes.stack_of(event, trace), trace, LEVELS);
        Reasons { causes: chain, started: initiators.started_by(event).collect(), stack }
    }
}

fn initiators_of_requests(trace: &Trace, causes: &Causes) -> HashMap<u64, EventId> {
    let requests = initiated_requests(trace, causes);
    let of = |(request, initiator): &(Request, Option<usize>)| {
        let initiator = EventId::of_key(trace, &requests[(*initiator)?].0.key)?;
        Some((request.sent, initiator))
    };
    requests.iter().filter_map(of).collect()
}

/// The initiator of a request.
struct Initiated {
    /// Position of the request that made it start.
    initiator: Option<usize>,
    /// Stack of the event that sent the request.
    stack: StackId,
}

/// Adds to requests of a trace what made them start.
pub(crate) fn add_initiators(trace: &Trace, causes: &Causes, listed: &mut [Request]) {
    let all = requests(trace);
    let found: HashMap<&str, Initiated> =
        all.iter().map(|request| &*request.key).zip(initiated(trace, causes, &all)).collect();
    for request in listed {
        let Some(Initiated { initiator, stack }) = found.get(&*request.key) else { continue };
        let initiator = initiator.map(|at| &all[at]);
        let site = causes.stacks.innermost_site(*stack);
        let is_known = initiator.is_some() || site.is_some();
        request.started_by = is_known.then(|| Cause {
            name: initiator.map(|request| request.url.clone()),
            key: initiator.map(|request| request.key.clone()),
            site,
        });
    }
}

fn initiated(trace: &Trace, causes: &Causes, requests: &[Request]) -> Vec<Initiated> {
    let mut by_url: HashMap<&str, Vec<usize>> = HashMap::default();
    for (at, request) in requests.iter().enumerate() {
        by_url.entry(&request.url).or_default().push(at);
    }
    let mut stacks: HashMap<u64, Option<StackId>> =
        requests.iter().map(|request| (request.sent, None)).collect();
    for entry in causes.stacks.entries.iter() {
        if let Some(stack) = entry.event.number().and_then(|number| stacks.get_mut(&number)) {
            *stack = Some(entry.stack);
        }
    }
    let initiator = |request: &Request| {
        let named = request.initiator_url.as_deref().and_then(|url| by_url.get(url)?.last());
        let named = named.copied();
        if named.is_some_and(|at| requests[at].mime == "text/css") {
            return named;
        }
        let script = stacks[&request.sent].and_then(|stack| {
            let levels = causes.stacks.levels(stack, trace, 2);
            levels.into_iter().nth(1)?.sites.into_iter().next()
        });
        let Some(script) = script else { return named };
        let of_url = by_url.get(&*script.url.unwrap_or_default())?;
        of_url.iter().rev().copied().find(|&at| requests[at].start < request.start)
    };
    let stack = |request: &Request| stacks[&request.sent].unwrap_or_default();
    let found = |request| Initiated { initiator: initiator(request), stack: stack(request) };
    requests.iter().map(found).collect()
}
