//! Numbers of sections.

/// What plain `info` says of the trace, and how the index was made, as JSON.
pub const META: u16 = 1;
/// Documents: their forms and events.
pub const DOCUMENTS: u16 = 2;
/// Keys beside the events.
pub const KEYS: u16 = 3;
/// Stretches of events with the times they span.
pub const GRANULES: u16 = 4;
/// Threads.
pub const LANES: u16 = 5;
/// Events that count wherever they stand: metadata, those without a time, and those that viewers need.
pub const PLACES: u16 = 6;
/// Intervals longer than a bound, and those that never end.
pub const SPANS: u16 = 7;
/// All of these.
pub const ALL: [u16; 7] = [META, DOCUMENTS, KEYS, GRANULES, LANES, PLACES, SPANS];

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
        _ => return None,
    })
}
