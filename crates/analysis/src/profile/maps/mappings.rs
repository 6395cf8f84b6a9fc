//! Decodes the `mappings` of a source map: segments of base64 numbers, each relative to the number
//! in the previous segment.

use std::ops::Range;

/// Line and column, from 0; columns count UTF-16 units.
pub(super) type Place = (u32, u32);

/// A segment: a position in the script, and the position in a source from which it was generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) place: Place,
    /// The position in the source; `None` for generated text that has no source.
    pub(super) origin: Option<Origin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// Index in the list of sources.
    pub(super) source: u32,
    pub(super) name: Option<u32>,
    pub(super) place: Place,
}

pub(super) struct Segments<'m> {
    text: &'m [u8],
    at: usize,
    /// The line and column in the script, and the source, line, column and name, after the segments
    /// read so far.
    line: u32,
    column: i64,
    origin: [i64; 4],
}

/// The offset of a syntax error in mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken(pub(super) usize);

impl<'m> Segments<'m> {
    pub(super) fn new(text: &'m [u8]) -> Self {
        Segments { text, at: 0, line: 0, column: 0, origin: [0; 4] }
    }

    /// Reads the numbers of a segment, and returns how many there are.
    fn fields(&mut self) -> Result<([i64; 5], usize), Broken> {
        let (mut fields, mut count) = ([0; 5], 0);
        while let Some(&byte) = self.text.get(self.at)
            && !matches!(byte, b',' | b';')
        {
            let value = self.value()?;
            *fields.get_mut(count).ok_or(Broken(self.at))? = value;
            count += 1;
        }
        Ok((fields, count))
    }

    /// Reads a number: five bits per digit, least significant first; the lowest bit is the sign.
    fn value(&mut self) -> Result<i64, Broken> {
        let (mut value, mut shift) = (0i64, 0);
        loop {
            let digit = self.text.get(self.at).and_then(|&byte| digit(byte));
            // A 32-bit number has no more than seven digits.
            let Some(digit) = digit.filter(|_| shift <= 30) else { return Err(Broken(self.at)) };
            self.at += 1;
            value |= i64::from(digit & 31) << shift;
            shift += 5;
            if digit & 32 == 0 {
                return Ok(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
            }
        }
    }

    fn segment(&mut self) -> Result<Option<Segment>, Broken> {
        let start = self.at;
        let (fields, count) = self.fields()?;
        if count == 0 {
            return Ok(None);
        }
        let whole = |sum: i64| u32::try_from(sum).map_err(|_| Broken(start));
        self.column += fields[0];
        let place = (self.line, whole(self.column)?);
        if !matches!(count, 1 | 4 | 5) {
            return Err(Broken(start));
        }
        for (sum, field) in self.origin.iter_mut().zip(&fields[1..]) {
            *sum += field;
        }
        let [source, line, column, name] = self.origin;
        let origin = Origin {
            source: whole(source)?,
            place: (whole(line)?, whole(column)?),
            name: (count == 5).then(|| whole(name)).transpose()?,
        };
        Ok(Some(Segment { place, origin: (count > 1).then_some(origin) }))
    }
}

impl Iterator for Segments<'_> {
    type Item = Result<Segment, Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b';' => {
                    self.at += 1;
                    self.line += 1;
                    self.column = 0;
                }
                b',' => self.at += 1,
                _ => match self.segment() {
                    Ok(None) => {}
                    Ok(Some(segment)) => return Some(Ok(segment)),
                    Err(broken) => {
                        self.at = self.text.len();
                        return Some(Err(broken));
                    }
                },
            }
        }
        None
    }
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Finds for each wanted position the last segment on its line that begins at or before the
/// position.
///
/// Memory: one result per wanted position, whatever the size of the map.
pub(super) struct LookUp<'a> {
    /// Sorted, distinct positions.
    wanted: &'a [Place],
    /// For each position, the last segment between the previous position and this one. Each segment
    /// comes with the number of its part of the map.
    last: Vec<Option<(Segment, usize)>>,
}

impl<'a> LookUp<'a> {
    pub(super) fn new(wanted: &'a [Place]) -> Self {
        LookUp { wanted, last: vec![None; wanted.len()] }
    }

    /// Reads the segments of one part of a map. The part applies to the range `within` of the
    /// script.
    pub(super) fn take(
        &mut self,
        mappings: &[u8],
        part: usize,
        within: &Range<Place>,
    ) -> Result<(), Broken> {
        let mut next = 0;
        for segment in Segments::new(mappings) {
            let mut segment = segment?;
            let (line, column) = segment.place;
            let shift = if line == 0 { within.start.1 } else { 0 };
            let place = (line.saturating_add(within.start.0), column.saturating_add(shift));
            if place >= within.end {
                break;
            }
            segment.place = place;
            // Most lines have no wanted position.
            while self.wanted.get(next).is_some_and(|wanted| wanted.0 < place.0) {
                next += 1;
            }
            let Some(of_line) = self.wanted.get(next..).filter(|positions| !positions.is_empty())
            else {
                break;
            };
            if of_line[0].0 > place.0 {
                continue;
            }
            let at = next + of_line.partition_point(|wanted| *wanted < place);
            if self.wanted.get(at).is_none_or(|wanted| wanted.0 != place.0) {
                continue;
            }
            let (known, is_exact) = (&mut self.last[at], self.wanted[at] == place);
            // If several segments are exactly at a wanted position, the first counts, as in other
            // readers.
            if known
                .is_none_or(|(known, _)| known.place < place || known.place == place && !is_exact)
            {
                *known = Some((segment, part));
            }
        }
        Ok(())
    }

    /// Returns for each wanted position the segment of the source map that covers it, and the
    /// number of its part.
    pub(super) fn finish(mut self) -> Vec<Option<(Segment, usize)>> {
        for at in 1..self.wanted.len() {
            if self.last[at].is_none() && self.wanted[at - 1].0 == self.wanted[at].0 {
                self.last[at] = self.last[at - 1];
            }
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(text: &str) -> Result<Vec<Segment>, Broken> {
        Segments::new(text.as_bytes()).collect()
    }

    #[test]
    fn segments_are_sums_of_differences() {
        let of = |place, origin: Option<(u32, Place, Option<u32>)>| Segment {
            place,
            origin: origin.map(|(source, place, name)| Origin { source, name, place }),
        };
        let expected = vec![
            of((0, 0), Some((0, (0, 0), None))),
            of((0, 16), Some((0, (0, 9), Some(0)))),
            of((2, 3), None),
            of((2, 4), Some((1, (1, 0), None))),
        ];
        assert_eq!(origins("AAAA,gBAASA;;G,CCCT"), Ok(expected));
        assert_eq!(origins(""), Ok(Vec::new()));
    }

    #[test]
    fn broken_mappings_are_reported_with_their_offset() {
        for (text, at) in
            [("AA!A", 2), ("AAA", 0), ("AAAA,D", 5), ("AAAA,gggggggB", 12), ("AAAAAA", 6), ("g", 1)]
        {
            assert_eq!(origins(text), Err(Broken(at)), "{text}");
        }
    }

    #[test]
    fn finds_last_segment_before_a_position() {
        let mappings = b"UAAA,FACA,KAAC,EAAC;;AACA,gBAAC";
        let wanted: Vec<Place> = (0..4).flat_map(|line| (0..40).map(move |c| (line, c))).collect();
        let all = (0, 0)..(u32::MAX, u32::MAX);
        let mut look_up = LookUp::new(&wanted);
        look_up.take(mappings, 0, &all).expect("sound");
        let segments: Vec<Segment> =
            Segments::new(mappings).map(|segment| segment.expect("sound")).collect();
        for (place, found) in wanted.iter().zip(look_up.finish()) {
            let before = segments
                .iter()
                .filter(|segment| segment.place.0 == place.0 && segment.place <= *place);
            assert_eq!(
                found.map(|(segment, _)| segment),
                before.max_by_key(|segment| segment.place).copied()
            );
        }
    }
}
