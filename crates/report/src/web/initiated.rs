//! Which request made another one start (DevTools: `Initiators.getNetworkInitiator`).

use crate::web::network::{Request, requests};
use tracemill_analysis::Trace;
use tracemill_causes::{Causes, StackId};
use tracemill_trace::spill::hash::HashMap;

/// Returns the requests of a trace in the order of their first events, each with the position of
/// the request that made it start: a stylesheet, the script of its stack, or what the event names.
///
/// Cost: a pass over the stacks.
pub fn initiated_requests(trace: &Trace, causes: &Causes) -> Vec<(Request, Option<usize>)> {
    let requests = requests(trace);
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
    let initiators: Vec<Option<usize>> = requests.iter().map(initiator).collect();
    requests.into_iter().zip(initiators).collect()
}
