//! Encodes chunks of CPU profiles as rows of numbers.
//!
//! ```text
//!   stream 0   chunk 10 … 95 µs, ids 1 … 4      chunk 95 … 180 µs, ids 5 … 7     stored as 0, 0
//!   stream 1                   chunk 7 … 99 µs
//! ```
//!
//! Times and ids mostly continue those of the stream's previous chunk. So they are stored as
//! differences from the expected value, mostly 0. Times in whole microseconds are stored in
//! microseconds.

use crate::format::{streams, unzigzag, zigzag};
use tracemill_cpuprofile::Skim;
use tracemill_trace::spill::hash::HashMap;

/// Positions of times in the array that [`Skim::numbers`] returns.
const TIMES: [usize; 3] = [2, 3, 4];

/// Expected time and least id of the next chunk, by stream.
#[derive(Default)]
pub(super) struct Expected(HashMap<u64, (i64, u64)>);

impl Expected {
    /// Returns the expected time and least id of the next chunk of a stream. `duration` is the sum
    /// of the chunk's steps.
    fn next(&self, stream: u64, duration: i64) -> (i64, u64) {
        let (time, id) = self.0.get(&stream).copied().unwrap_or_default();
        (time.wrapping_add(duration), id)
    }

    fn note(&mut self, stream: u64, time: i64, numbers: &[u64; 7]) {
        let last = self.0.entry(stream).or_default();
        last.0 = time;
        if numbers[6] > 0 {
            last.1 = numbers[5].wrapping_add(numbers[6]);
        }
    }

    /// Encodes the next event of a stream as eight columns. `time` is in nanoseconds. `skim` is the
    /// summary of a chunk; it is `None` for other events.
    pub(super) fn encode(&mut self, stream: u64, time: i64, skim: Option<Skim>) -> [u64; 8] {
        let mut numbers = skim.map_or([0; 7], |skim| skim.numbers());
        let (at, id) = self.next(stream, numbers[2] as i64);
        self.note(stream, time, &numbers);
        let later = time.wrapping_sub(at);
        let is_micros = later % 1000 == 0 && TIMES.iter().all(|&at| numbers[at] as i64 % 1000 == 0);
        let unit = if is_micros { 1000 } else { 1 };
        TIMES.iter().for_each(|&at| numbers[at] = zigzag(numbers[at] as i64 / unit));
        numbers[0] |= if skim.is_some() { streams::CHUNK } else { 0 };
        numbers[0] |= if is_micros { streams::MICROS } else { 0 };
        numbers[5] = if numbers[6] > 0 { zigzag(numbers[5].wrapping_sub(id) as i64) } else { 0 };
        let [kind, samples, duration, low, rest, least, ids] = numbers;
        [zigzag(later / unit), kind, samples, duration, low, rest, least, ids]
    }

    /// Reverses [`Expected::encode`]. Returns `None` if the numbers are invalid.
    pub(super) fn decode(
        &mut self,
        stream: u64,
        [later, mut numbers @ ..]: [u64; 8],
    ) -> Option<(i64, Option<Skim>)> {
        let unit = if numbers[0] & streams::MICROS != 0 { 1000 } else { 1 };
        let time_of = |number: u64| unzigzag(number).wrapping_mul(unit);
        TIMES.iter().for_each(|&at| numbers[at] = time_of(numbers[at]) as u64);
        let (at, id) = self.next(stream, numbers[2] as i64);
        let time = at.wrapping_add(time_of(later));
        if numbers[6] > 0 {
            numbers[5] = id.wrapping_add(unzigzag(numbers[5]) as u64);
        }
        self.note(stream, time, &numbers);
        match numbers[0] & streams::CHUNK {
            0 => Some((time, None)),
            _ => Skim::of_numbers(numbers).map(|skim| (time, Some(skim))),
        }
    }
}
