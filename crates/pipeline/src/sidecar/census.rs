//! CENSUS: what decisions on names need of a trace, which are those of a merge ([`crate::identity`]), so that one is planned without
//! reading it.
//!
//! Threads stand in LANES already: here is only which of them have nothing but metadata. Traces with too many threads, processes and streams
//! have no such section, and neither have damaged ones, of which a merge may find something else.

use crate::essential::is_start;
use crate::identity::{ProcessFindings, Processes};
use std::sync::Arc;
use tracemill_core::entry::Entry;
use tracemill_core::place::Place;
use tracemill_profile::StreamOrders;
use tracemill_tokenizer::Event;

/// Processes, threads and streams that are listed at most: which traces have the section must not depend on the memory.
const MOST: usize = 1 << 14;

/// What a worker finds in a chunk.
pub(super) struct PartCensus {
    processes: ProcessFindings,
    streams: StreamOrders,
    has_syncs: bool,
    browser: bool,
}

/// What a look at an event has found already.
pub(super) struct Looked {
    pub(super) letter: u8,
    /// Of an event that is no metadata.
    pub(super) time: Option<i64>,
    /// The number of its thread in the chunk.
    pub(super) thread: usize,
    pub(super) is_essential: bool,
    pub(super) is_profile: bool,
}

impl PartCensus {
    pub(super) fn new() -> Self {
        PartCensus {
            processes: ProcessFindings::new(Arc::default()),
            streams: StreamOrders::default(),
            has_syncs: false,
            browser: false,
        }
    }

    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>, looked: &Looked) {
        self.processes.note_numbered(event, (looked.letter, looked.time), looked.thread);
        self.has_syncs |= looked.letter == b'c';
        if looked.is_essential {
            self.browser |= is_start(event);
        }
        if looked.is_profile {
            let place = Place::new(event.offset, event.bytes.len(), 0);
            let time = looked.time.unwrap_or(i64::MIN);
            self.streams.note(event, Entry { time, place });
        }
    }
}

/// What all chunks have.
#[derive(Default)]
pub(super) struct Census {
    /// `None` if there are too many.
    pub(super) lists: Option<(Processes, StreamOrders)>,
    pub(super) has_syncs: bool,
    pub(super) browser: bool,
}

impl Census {
    pub(super) fn new() -> Self {
        Census { lists: Some(Default::default()), ..Census::default() }
    }

    pub(super) fn append(&mut self, part: PartCensus) {
        self.has_syncs |= part.has_syncs;
        self.browser |= part.browser;
        let Some((processes, streams)) = &mut self.lists else { return };
        processes.append(part.processes);
        streams.append(part.streams);
        if processes.count() + streams.begins().count() > MOST {
            self.lists = None;
        }
    }

    /// All has been read.
    pub(super) fn finish(mut self) -> Self {
        self.lists.iter_mut().for_each(|(processes, _)| processes.finish());
        self
    }
}
