//! Metadata events that are equal to the byte, written once: those that several parts of one trace have, or all.
//!
//! Parts of a trace repeat its metadata, so that merged they may be most of what there is: hashes and places are sorted, on
//! disk beyond their share, and what comes after an equal one is taken out of the list in a second walk. Each part has all
//! equal ones of the whole, so those of the first part that has any stay.

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

/// What is left of metadata events when those that are equal to the byte are written once.
pub(crate) struct Deduplicated {
    pub(crate) lists: Lists,
    /// Events left out, and their bytes as they stand.
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

/// Leaves out metadata events that are written with the bytes of an earlier one: of an earlier part of their trace, or of any
/// if that is asked for.
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
    // different ones of the hash at hand: one, as a rule
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
