//! Numbers of sections, and what each is.

use crate::Section;

/// What plain `info` says of the trace, and how the index was made, as JSON.
pub const META: u16 = 1;
/// Documents: their forms and events.
pub const DOCUMENTS: u16 = 2;
/// Keys beside the events.
pub const KEYS: u16 = 3;
/// Stretches of events with the times they span.
pub const GRANULES: u16 = 4;
/// Threads: their ids, and how much they have of what.
pub const LANES: u16 = 5;
/// Events that count wherever they stand: metadata, those without a time, and those that viewers need.
pub const PLACES: u16 = 6;
/// Intervals longer than a bound, and those that never end.
pub const SPANS: u16 = 7;
/// CPU profile streams: when they have samples.
pub const STREAMS: u16 = 8;
/// Events of CPU profile streams, by place.
pub const STREAM_EVENTS: u16 = 9;
/// The frames or members of a packed trace, where unpacking can begin.
pub const PACK: u16 = 13;
/// Names of what is drawn.
pub const NAMES: u16 = 15;
/// Lanes that are no threads.
pub const TRACKS: u16 = 16;
/// Sums over stretches of time of lanes.
pub const BINS: u16 = 17;
/// Names of granules.
pub const GRANULE_NAMES: u16 = 18;
/// All sections, by ascending id.
pub const ALL: [Section; 14] = [
    section(META),
    section(DOCUMENTS),
    section(KEYS),
    section(GRANULES),
    section(LANES),
    section(PLACES),
    section(SPANS),
    section(STREAMS),
    section(STREAM_EVENTS),
    section(PACK),
    section(NAMES),
    section(TRACKS),
    section(BINS),
    section(GRANULE_NAMES),
];

/// The section of this id as it is written and read here.
///
/// Sections that are not critical are for some questions only, which a reader without them answers from the trace. The version counts up when
/// readers of the one before would be wrong. So it is 2 of META; of LANES, SPANS and PACK, which have fewer columns; of the granules, whose times are without those of CPU profiles, and of the groups, where
/// an id `5` is not `"5"`; and of streams and their events, of which less is said.
pub const fn section(id: u16) -> Section {
    let critical = matches!(id, META | DOCUMENTS | KEYS | GRANULES | LANES | PLACES | SPANS | PACK);
    let version = match id {
        META | GRANULES | LANES | SPANS | STREAMS | PACK => 2,
        STREAM_EVENTS => 3,
        _ => 1,
    };
    Section { id, critical, version }
}

/// The name of a section, if it is known here.
pub fn name(id: u16) -> Option<&'static str> {
    Some(match id {
        META => "META",
        DOCUMENTS => "DOCUMENTS",
        KEYS => "KEYS",
        GRANULES => "GRANULES",
        LANES => "LANES",
        PLACES => "PLACES",
        SPANS => "SPANS",
        STREAMS => "STREAMS",
        STREAM_EVENTS => "STREAM_EVENTS",
        PACK => "PACK",
        NAMES => "NAMES",
        TRACKS => "TRACKS",
        BINS => "BINS",
        GRANULE_NAMES => "GRANULE_NAMES",
        _ => return None,
    })
}
