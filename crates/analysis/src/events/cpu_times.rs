//! CPU times of events: `tdur` of an X event, and the difference of `tts` of a B event and its E
//! event.

use crate::value::number;
use crate::value::space::Space;
use memchr::memmem::Finder;
use std::sync::LazyLock;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::Error;
use tracemill_trace::spill::SpillArray;

/// CPU times of the events of a chunk, by event number. Those of B and E events are negative.
#[derive(Default)]
pub(crate) struct ChunkCpuTimes(Vec<(u64, f64)>);

impl ChunkCpuTimes {
    /// Adds the CPU time of the `number`th event of the chunk, if it has one.
    pub(crate) fn note(&mut self, event: &Event<'_>, number: u64) {
        static TDUR: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"tdur\""));
        static TTS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"tts\""));
        let micros = match event.phase() {
            b'X' => member(event, &TDUR),
            _ => member(event, &TTS).map(|tts| -tts),
        };
        self.0.extend(micros.map(|micros| (number, micros)));
    }
}

/// Returns the value, at least 0, of a member of an event, given a finder of its key. Does not
/// search `args`.
fn member(event: &Event<'_>, key: &Finder<'_>) -> Option<f64> {
    let bytes = event.bytes;
    let (before, after) = match (event.field(Field::Args), event.field_and_rest(Field::Args)) {
        (Some(args), Some(rest)) => (&bytes[..bytes.len() - rest.len()], &rest[args.len()..]),
        _ => (bytes, &[][..]),
    };
    let value = |part: &'_ [u8]| -> Option<f64> {
        let rest = part[key.find(part)? + key.needle().len()..].trim_ascii_start();
        let rest = rest.strip_prefix(b":")?.trim_ascii_start();
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\n' | b'\r'));
        number(&rest[..end?]).filter(|number| *number >= 0.0)
    };
    value(after).or_else(|| value(before))
}

/// CPU times in microseconds, by event number. NaN means none; a time of an unpaired B or E event
/// is negative.
#[derive(Default)]
pub(crate) struct CpuTimes(SpillArray<f64>);

impl CpuTimes {
    /// Creates an empty list in an eighth of the memory.
    pub(crate) fn new(space: &Space) -> Self {
        CpuTimes(space.array(8))
    }

    /// Adds the times of a chunk whose first event has the number `first`.
    pub(crate) fn append(&mut self, later: &ChunkCpuTimes, first: u64) -> Result<(), Error> {
        for (number, micros) in &later.0 {
            self.0.resize((first + number) as usize, f64::NAN)?;
            self.0.push(*micros)?;
        }
        Ok(())
    }

    /// Replaces the time of a B event by its CPU time up to an E event.
    pub(crate) fn pair(&mut self, begin: u64, end: u64) {
        let [from, to] = [begin, end].map(|number| self.0.get(number as usize));
        if let (Some(from), Some(to)) = (from, to) {
            self.0.set(begin as usize, from - to);
        }
    }

    /// Returns the CPU time of an event.
    #[inline]
    pub(crate) fn of(&self, number: u64) -> Option<f64> {
        self.0.get(number as usize).filter(|micros| micros.is_sign_positive() && !micros.is_nan())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::visit_event;

    #[test]
    fn cpu_times_are_members_of_the_event_but_not_of_its_args() {
        for (members, expected) in [
            (r#""tdur":12.5"#, Some(12.5)),
            (r#""tdur" : "7" ,"args":{"tdur":1}"#, Some(7.0)),
            (r#""args":{"tdur":1,"a":[{"tdur":2}]},"tdur":3"#, Some(3.0)),
            (r#""args":{"tdur":1}"#, None),
            (r#""name":"\"tdur\":5","tdur":-1"#, None),
            (r#""tdur":null,"tts":4"#, None),
        ] {
            let event = format!("{{\"ph\":\"X\",{members}}}");
            let mut found = ChunkCpuTimes::default();
            visit_event(event.as_bytes(), 0, |event| found.note(event, 9));
            assert_eq!(found.0, expected.map(|micros| (9, micros)).into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_pair_has_the_cpu_time_between_its_begin_and_end() {
        let mut all = CpuTimes::new(&Space::alone(0));
        all.append(&ChunkCpuTimes(vec![(0, -5.0), (2, -6.5), (3, 4.0)]), 1).expect("room on disk");
        all.append(&ChunkCpuTimes(vec![(1, -3.0)]), 5).expect("room on disk");
        assert_eq!(
            [0, 1, 3, 4, 6, 7].map(|at| all.of(at)),
            [None, None, None, Some(4.0), None, None]
        );
        all.pair(1, 3);
        all.pair(6, 1);
        all.pair(6, 2);
        assert_eq!([1, 2, 3, 4, 6].map(|at| all.of(at)), [Some(1.5), None, None, Some(4.0), None]);
    }
}
