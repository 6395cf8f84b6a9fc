//! Ids of sections.

/// The report of plain `info` and build parameters, as JSON.
pub const META: u16 = 1;
/// Blocks of events with their time ranges.
pub const GRANULES: u16 = 2;
/// Events that every window needs: metadata, untimed events, and events that viewers require.
pub const PLACES: u16 = 3;
/// Slices longer than the look-back T (see [`crate::format`]), and slices without an end.
pub const SPANS: u16 = 4;
/// CPU profile streams with their time ranges.
pub const STREAMS: u16 = 5;
/// Events of CPU profile streams, by offset.
pub const STREAM_EVENTS: u16 = 6;
/// Frames or members of a packed trace, where unpacking can begin.
pub const PACK: u16 = 7;
/// Names of events, for drawing.
pub const NAMES: u16 = 8;
/// Tracks: threads first, then all other tracks.
pub const LANES: u16 = 9;
/// For each track, sums over time intervals (bins).
pub const BINS: u16 = 10;
/// Names of the events in each block.
pub const GRANULE_NAMES: u16 = 11;

/// All sections with their names, by ascending id.
///
/// META and GRANULES always exist. If another section is missing, readers use the trace.
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

/// Returns the name of the section with this id, or `None` if the id is unknown.
pub fn name(id: u16) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
}
