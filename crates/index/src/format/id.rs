//! Numbers of sections, and what each is.

/// What plain `info` says of the trace, and how the index was made, as JSON.
pub const META: u16 = 1;
/// Stretches of events with the times they span.
pub const GRANULES: u16 = 2;
/// Events that count wherever they stand: metadata, those without a time, and those that viewers need.
pub const PLACES: u16 = 3;
/// Intervals longer than a bound, and those that never end.
pub const SPANS: u16 = 4;
/// CPU profile streams: when they have samples.
pub const STREAMS: u16 = 5;
/// Events of CPU profile streams, by place.
pub const STREAM_EVENTS: u16 = 6;
/// The frames or members of a packed trace, where unpacking can begin.
pub const PACK: u16 = 7;
/// Names of what is drawn.
pub const NAMES: u16 = 8;
/// What is drawn has a lane: threads, then those that are none.
pub const LANES: u16 = 9;
/// Sums over stretches of time of lanes.
pub const BINS: u16 = 10;
/// Names of granules.
pub const GRANULE_NAMES: u16 = 11;

/// All sections by ascending id, each with its name. META and GRANULES are always there, what others say is read from the trace without them.
pub const ALL: [(u16, &str); 11] = [
    (META, "META"),
    (GRANULES, "GRANULES"),
    (PLACES, "PLACES"),
    (SPANS, "SPANS"),
    (STREAMS, "STREAMS"),
    (STREAM_EVENTS, "STREAM_EVENTS"),
    (PACK, "PACK"),
    (NAMES, "NAMES"),
    (LANES, "LANES"),
    (BINS, "BINS"),
    (GRANULE_NAMES, "GRANULE_NAMES"),
];

/// The name of a section, if it is known here.
pub fn name(id: u16) -> Option<&'static str> {
    ALL.iter().find(|(own, _)| *own == id).map(|(_, name)| *name)
}
