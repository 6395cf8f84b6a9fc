//! Whom the main thread works for, and whose bytes come over the network: `ThirdParties` of DevTools' insights.

use crate::web::Visit;
use tracemill_analysis::events::entities::Owner;
use tracemill_analysis::tree::By;
use tracemill_analysis::tree::views::{BottomUp, Identify};
use tracemill_analysis::{
    Entries, GroupBy, TableRules, Thread, ThreadKind, Trace, Track, View, Window,
};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// A company, a domain or an extension with scripts or requests of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Party {
    /// What it is called: a company of [`Trace::entities`], else a root domain.
    pub name: String,
    /// Whether the page is its own.
    pub is_first: bool,
    /// Whether it is a company of the list, or an extension.
    pub is_known: bool,
    /// Self time of its functions and events on the main thread, in milliseconds.
    pub own: f64,
    /// Bytes that the network brought of it.
    pub bytes: f64,
}

/// Those of each of the `most` first visits, in the order of DevTools; `track` is that of the main thread of the page.
/// Cost: a walk over it for each visit up to the end of that.
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

/// The main thread of the page: of the first process with the main frame.
pub(crate) fn main_thread(trace: &Trace) -> Option<usize> {
    let is_own = |url: &[u8]| url.starts_with(b"about:") || url.starts_with(b"chrome:");
    let is_main = |pid: &[u8]| {
        let page = trace.meta().page(pid);
        page.is_some_and(|own| own.is_on_main_frame && !own.url.as_deref().is_none_or(is_own))
    };
    let first = trace.threads.iter().find(|own| is_main(&own.pid))?;
    let is_it = |thread: &Thread| thread.pid == first.pid && thread.kind == ThreadKind::Main;
    trace.threads.iter().position(is_it)
}

/// Those within a window of sums.
fn parties_of(
    trace: &Trace,
    view: &View<'_>,
    window: Window,
    first: Option<Owner>,
    as_devtools: bool,
    room: &Quota,
) -> Result<Vec<Party>, Error> {
    let ids = view.ids(GroupBy::ThirdParty).by_owner();
    // in DevTools only the tree leaves out what has no place
    let space = trace.space_of_rows();
    let mut tree = BottomUp::new(&ids, window, (1, true), (as_devtools, trace.clock()), &space);
    view.all_entries().for_each(|own| tree.note_cached(&own));
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
