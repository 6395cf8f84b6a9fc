//! Writes metadata events with equal bytes once: either only those in several output files of one
//! split, or all.
//!
//! In merged output files of a split, metadata may be most of the text. So hashes and places are
//! sorted, on disk if needed, and duplicates are removed from the list in a second pass. The first
//! file that has an event keeps it.

use std::hash::BuildHasher;
use tracemill_join::config::Config;
use tracemill_join::identity::Rewrite;
use tracemill_join::identity::parts::InputParts;
use tracemill_tokenizer::Tier;
use tracemill_trace::order::{ExternalSorter, Lists, METADATA, Order, SortedRecords};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::Store;
use tracemill_trace::store::place::Place;
use tracemill_write::keys::numbered_metadata::NumberedMetadata;
use tracemill_write::patch::event_rewriter::EventRewriter;

/// Metadata events without duplicates.
pub(crate) struct Deduplicated {
    pub(crate) lists: Lists,
    /// Number of the dropped events.
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// Drops metadata events with the same bytes as an earlier event in another part of the same split.
/// If the rules say so, drops metadata events with the same bytes as any earlier event.
pub(crate) fn deduplicate(
    lists: Lists,
    store: &Store<'_>,
    rewrite: &Rewrite,
    parts: &InputParts,
    config: &Config,
) -> Result<Deduplicated, Error> {
    let (all, order) = (config.identity.dedup_metadata, Order(store));
    if !all && parts.is_empty() {
        return Ok(Deduplicated { lists, events: 0, bytes: 0 });
    }
    let lease = config.limits.lease("metadata events by hash and by number", Share::of_index(1, 4));
    let sorter = || ExternalSorter::new(lease.divided(2), config.limits.threads);
    let tier = config.limits.tier.unwrap_or_else(Tier::best);
    let mut patched = EventRewriter::new(&[rewrite], tier);
    let mut written = |place: Place| patched.apply(store.event(place), place.offset()).to_vec();

    let hasher = std::hash::RandomState::new();
    let mut by_hash = sorter();
    for (number, place) in (0..).zip(lists.of(METADATA)) {
        let whole = parts.whole_at(place.offset()).filter(|_| !all);
        if !all && whole.is_none() {
            continue;
        }
        let key = hasher.hash_one((whole, written(place)));
        by_hash.push(NumberedMetadata { key, number, place }, order)?;
    }
    let by_hash: SortedRecords<NumberedMetadata> = by_hash.finish(order)?;

    let mut result = Deduplicated { lists, events: 0, bytes: 0 };
    let mut by_number = sorter();
    // distinct events with the current hash, usually one
    let (mut hash, mut different) = (None, Vec::<Place>::new());
    for listed in by_hash.sorted(order) {
        if hash.replace(listed.key) != Some(listed.key) {
            different.clear();
        }
        if !different.is_empty() {
            let (event, offset) = (written(listed.place), listed.place.offset());
            let is_same = |earlier: &&Place| {
                let whole = || parts.whole_at(earlier.offset()) == parts.whole_at(offset);
                (all || whole()) && written(**earlier) == event
            };
            if let Some(first) = different.iter().find(is_same) {
                if all || parts.number(first.offset()) != parts.number(offset) {
                    result.events += 1;
                    result.bytes += store.len(listed.place);
                    by_number.push(NumberedMetadata { key: listed.number, ..listed }, order)?;
                }
                continue;
            }
        }
        different.push(listed.place);
    }
    let by_number = by_number.finish(order)?;
    let mut gone = by_number.sorted(order).map(|listed| listed.number).peekable();
    let mut number = 0..;
    let stays = |_| {
        let number = number.next();
        gone.next_if(|&gone| Some(gone) == number).is_none()
    };
    result.lists = result.lists.retain(METADATA, &config.limits.tmp_dir, stays)?;
    Ok(result)
}
