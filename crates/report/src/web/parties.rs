//! Main-thread time and transferred bytes by company (DevTools: `ThirdParties` insight).

use crate::web::Visit;
use tracemill_analysis::events::entities::Owner;
use tracemill_analysis::tree::By;
use tracemill_analysis::tree::views::{BottomUp, BottomUpRules, Identify};
use tracemill_analysis::{
    Entries, GroupBy, TableRules, Thread, ThreadKind, Trace, Track, View, Window,
};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// A company, domain or extension whose scripts or requests a page uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Party {
    /// Name of the company ([`Trace::entities`]). If unknown, the root domain.
    pub name: String,
    /// Whether the party owns the page.
    pub is_first: bool,
    /// Whether the name is that of a listed company or an extension.
    pub is_known: bool,
    /// Self time of the party's functions and events on the main thread, in milliseconds.
    pub own: f64,
    /// Bytes transferred over the network.
    pub bytes: f64,
}

/// Returns the parties of each of the first `most` visits, in DevTools' order. `track` is the main
/// thread of the page. Cost: a walk over the track for each visit.
pub(crate) fn parties(
    trace: &Trace,
    track: &Track<'_>,
    visits: &[Visit],
    tables: TableRules,
    most: usize,
    room: &Quota,
) -> Result<Vec<Vec<Party>>, Error> {
    let view = View::new(track, TableRules { entries: Entries::All, ..tables });
    let of = |visit: &Visit| {
        trace.limits().cancel.check()?;
        let window = Window { from: visit.bounds.0 / 1000.0, to: visit.bounds.1 / 1000.0 };
        let first = trace.entities.owner(visit.first_party.as_bytes());
        parties_of(trace, &view, trace.clock().sums(window), first, tables.as_devtools, room)
    };
    visits.iter().take(most).map(of).collect()
}

/// Returns the main thread of the page, in the first process that shows the main frame.
pub(crate) fn main_thread(trace: &Trace) -> Option<usize> {
    let is_own = |url: &[u8]| url.starts_with(b"about:") || url.starts_with(b"chrome:");
    let is_main = |pid: &[u8]| {
        let page = trace.meta().page(pid);
        page.is_some_and(|known| known.is_on_main_frame && !known.url.as_deref().is_none_or(is_own))
    };
    let first = trace.threads.iter().find(|thread| is_main(&thread.pid))?;
    let is_it = |thread: &Thread| thread.pid == first.pid && thread.kind == ThreadKind::Main;
    trace.threads.iter().position(is_it)
}

/// Returns the parties within a window, in milliseconds, or exact nanoseconds.
fn parties_of(
    trace: &Trace,
    view: &View<'_>,
    window: Window,
    first: Option<Owner>,
    as_devtools: bool,
    room: &Quota,
) -> Result<Vec<Party>, Error> {
    let ids = view.ids(GroupBy::ThirdParty).by_owner();
    // DevTools' tree drops entries that overlap their parent, but these sums include them.
    let space = trace.space_of_rows();
    let rules = BottomUpRules { levels: 1, forced: true, as_devtools, clock: trace.clock() };
    let mut tree = BottomUp::new(&ids, window, rules, &space);
    view.all_entries().for_each(|entry| tree.note_cached(&entry));
    view.walk_all(window, &mut tree, room)?;
    let mut rows = tree.finish(false);
    rows.group(|entry| ids.group(entry), true);
    let top = rows.depth_first(By::Start, 1, false, |_| true);
    let party = |(row, _): (u32, u32)| {
        let row = rows.get(row);
        let owner = ids.owner(&row.entry)?;
        Some(Party {
            name: String::from_utf8_lossy(&owner.name).into_owned(),
            is_first: first.as_ref() == Some(&owner),
            is_known: owner.is_known,
            own: trace.clock().ms(row.own),
            bytes: row.bytes,
        })
    };
    Ok(top.filter_map(party).collect())
}
