//! Encodes columns of numbers compactly, and decodes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Bytes = 0,
    Varint = 1,
    Delta = 2,
    Runs = 3,
}

impl Encoding {
    pub(crate) fn of(number: u8) -> Option<Self> {
        Some(match number {
            0 => Encoding::Bytes,
            1 => Encoding::Varint,
            2 => Encoding::Delta,
            3 => Encoding::Runs,
            _ => return None,
        })
    }
}

/// Encodes numbers in the smallest encoding; among equal sizes, in the one with the lowest number.
pub(crate) fn encode(numbers: &[u64]) -> (Encoding, Vec<u8>) {
    let all = [
        (Encoding::Varint, len_of(numbers.iter().copied())),
        (Encoding::Delta, len_of(deltas(numbers))),
        (Encoding::Runs, len_of(runs(numbers))),
    ];
    let best = all.into_iter().min_by_key(|&(_, len)| len);
    let (encoding, len) = best.unwrap_or((Encoding::Varint, 0));
    let bytes = match encoding {
        Encoding::Bytes | Encoding::Varint => varints(numbers.iter().copied(), len),
        Encoding::Delta => varints(deltas(numbers), len),
        Encoding::Runs => varints(runs(numbers), len),
    };
    (encoding, bytes)
}

fn len_of(numbers: impl Iterator<Item = u64>) -> usize {
    let len = |number: u64| (u64::BITS - (number | 1).leading_zeros()).div_ceil(7);
    numbers.map(|number| len(number) as usize).sum()
}

fn varints(numbers: impl Iterator<Item = u64>, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    for mut number in numbers {
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    debug_assert_eq!(bytes.len(), len, "as many as were counted");
    bytes
}

fn deltas(numbers: &[u64]) -> impl Iterator<Item = u64> {
    let mut before = 0;
    numbers.iter().map(move |&number| {
        let delta = number.wrapping_sub(before) as i64;
        before = number;
        zigzag(delta)
    })
}

/// Maps signed numbers to unsigned numbers with the sign in the lowest bit.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Reverses [`zigzag`].
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn runs(numbers: &[u64]) -> impl Iterator<Item = u64> {
    numbers.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as u64])
}

/// Decodes a column of `rows` numbers. Returns `None` if `bytes` are not such a column.
pub(crate) fn decode(encoding: Encoding, bytes: &[u8], rows: usize) -> Option<Vec<u64>> {
    if encoding == Encoding::Bytes {
        return None;
    }
    // each number takes at least a byte; the caller limits the rows of runs
    let mut numbers = Vec::with_capacity(rows.min(bytes.len()));
    let mut rest = bytes;
    let mut before = 0_u64;
    while !rest.is_empty() && numbers.len() <= rows {
        let number = varint(&mut rest)?;
        match encoding {
            Encoding::Bytes | Encoding::Varint => numbers.push(number),
            Encoding::Delta => {
                before = before.wrapping_add_signed(unzigzag(number));
                numbers.push(before);
            }
            Encoding::Runs => {
                let count = usize::try_from(varint(&mut rest)?).ok()?;
                let room = rows - numbers.len();
                if count == 0 || count > room {
                    return None;
                }
                numbers.resize(numbers.len() + count, number);
            }
        }
    }
    (numbers.len() == rows).then_some(numbers)
}

/// Reads a LEB128 number of 64 bits.
#[inline(always)]
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let Some(&eight) = rest.first_chunk::<8>() else { return varint_by_bytes(rest) };
    let word = u64::from_le_bytes(eight);
    // the highest bit of a byte means that more bytes follow
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return varint_by_bytes(rest);
    }
    *rest = &rest[ends.trailing_zeros() as usize / 8 + 1..];
    let bits = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    // join 7-bit groups in pairs, then 14-bit, then 28-bit
    let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
    let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
    Some(bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4)
}

/// Does the same as [`varint`], for numbers of more than 8 bytes and near the end of `rest`.
#[cold]
fn varint_by_bytes(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && byte > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_varint_equals_bytewise_varint() {
        let same = |bytes: &[u8]| {
            let (mut fast, mut bytewise) = (bytes, bytes);
            let read = varint(&mut fast);
            assert_eq!(read, varint_by_bytes(&mut bytewise), "{bytes:x?}");
            if read.is_some() {
                assert_eq!(fast, bytewise, "{bytes:x?}");
            }
            read
        };
        for shift in 0..64 {
            for number in [1 << shift, u64::MAX >> shift, 0x0123_4567_89ab_cdef >> shift] {
                let mut bytes = varints([number].into_iter(), len_of([number].into_iter()));
                let len = bytes.len();
                bytes.extend([0x80, 0xff, 0x01, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80]);
                (0..bytes.len()).for_each(|end| {
                    same(&bytes[..end]);
                });
                assert_eq!(same(&bytes), Some(number), "{len} bytes");
            }
        }
        for padded in [&[0x81, 0x00, 1, 2, 3, 4, 5, 6][..], &[0x80; 12], &[0xff; 16]] {
            same(padded);
        }
    }
}
