//! Columns: numbers in few bytes, and back.

/// How a column stands in its page.
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

/// Numbers in the encoding that takes the fewest bytes; of several the one with the lowest number.
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

/// Bytes that numbers take.
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

/// A small number for a small one of either sign: the sign is the lowest bit.
pub fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// What [`zigzag`] was given.
pub fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

fn runs(numbers: &[u64]) -> impl Iterator<Item = u64> {
    numbers.chunk_by(|a, b| a == b).flat_map(|run| [run[0], run.len() as u64])
}

/// The numbers of a column of so many rows; `None` if its bytes are not exactly those.
pub(crate) fn decode(encoding: Encoding, bytes: &[u8], rows: usize) -> Option<Vec<u64>> {
    if encoding == Encoding::Bytes {
        return None;
    }
    // each number takes a byte at least; of runs the rows are held against what is allowed before
    let mut numbers = Vec::with_capacity(rows.min(bytes.len()));
    let mut rest = bytes;
    let mut before = 0_u64;
    while !rest.is_empty() {
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
        if numbers.len() > rows {
            return None;
        }
    }
    (numbers.len() == rows).then_some(numbers)
}

/// A number of 64 bits as LEB128.
fn varint(rest: &mut &[u8]) -> Option<u64> {
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
