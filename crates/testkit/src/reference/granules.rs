//! Computes the blocks of an index naively: tries each block gap from the smallest on, cuts the
//! events into blocks, and counts the blocks.

use super::time;

/// A block of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granule {
    /// Start of the first event.
    pub place: usize,
    /// End of the last event.
    pub end: usize,
    /// Number of events.
    pub events: usize,
    /// Least and greatest time, excluding metadata and samples of CPU profiles.
    pub times: Option<(i64, i64)>,
}

/// Returns the blocks of a well-formed input, and the exponent of the block gap, a power of two.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn granules(input: &[u8]) -> Result<(Vec<Granule>, u32), String> {
    let events: Vec<(usize, usize, Option<i64>)> = super::events(input)?
        .into_iter()
        .map(|event| {
            let phase = event.ph.as_deref().and_then(super::string_content);
            let time = event.ts.as_deref().and_then(time).map(|ts| ts.nanos_floor());
            let name = event.name.as_deref().and_then(super::string_content);
            let is_counted = match phase.as_deref() {
                Some(b"M") => false,
                Some(b"P") => !matches!(name.as_deref(), Some(b"Profile" | b"ProfileChunk")),
                _ => true,
            };
            let time = time.filter(|_| is_counted);
            (event.span.start, event.span.end, time)
        })
        .collect();
    let times = || events.iter().filter_map(|event| event.2);
    let range = times().max().zip(times().min()).map_or(0, |(a, b)| a.abs_diff(b));
    let spans_all = |k: u32| (1_u128 << k) * 4096 >= u128::from(range);
    let least = (0..64).find(|&k| spans_all(k)).expect("times have 64 bits");
    for k in least..64 {
        let all = cut(&events, 1 << k);
        if all.len() <= input.len() / 4096 + 1 || k == 63 {
            return Ok((all, k));
        }
    }
    unreachable!("the last one is taken")
}

fn cut(events: &[(usize, usize, Option<i64>)], jump: u64) -> Vec<Granule> {
    let mut all: Vec<Granule> = Vec::new();
    for (number, &(place, end, time)) in events.iter().enumerate() {
        let before = events[..number].last();
        let time_before = events[..number].iter().rev().find_map(|event| event.2);
        let jumps = time.zip(time_before).is_some_and(|(now, last)| now.abs_diff(last) > jump);
        let other_block = before.is_none_or(|before| before.0 >> 16 != place >> 16);
        if jumps || other_block {
            all.push(Granule { place, end, events: 0, times: None });
        }
        let granule = all.last_mut().expect("the first event begins one");
        (granule.end, granule.events) = (end, granule.events + 1);
        if let Some(time) = time {
            let (least, greatest) = granule.times.unwrap_or((time, time));
            granule.times = Some((least.min(time), greatest.max(time)));
        }
    }
    all
}
