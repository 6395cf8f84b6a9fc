//! Compares every tier with a byte-by-byte model, on difficult blocks.

use super::*;

/// Applies the rules of the module docs byte by byte.
fn model(bytes: &[u8]) -> (Vec<usize>, Suspect) {
    let (mut at, mut in_string, mut escaped) = (Vec::new(), false, false);
    let (mut closed, mut delimiter_before) = (false, true);
    for (i, &byte) in bytes.iter().enumerate() {
        let structural = b"{}[]:".contains(&byte);
        let delimiter = structural || b" ,\t\n\r".contains(&byte);
        let known = delimiter || b"0123456789+-.aefilnAEFILNrstuy".contains(&byte);
        let quote = byte == b'"' && !escaped;
        let outside = !in_string && !quote;
        if (outside && !known)
            || (closed && !delimiter)
            || (quote && !in_string && !delimiter_before)
        {
            return (at, Some(i));
        }
        if outside && structural {
            at.push(i);
        }
        closed = quote && in_string;
        in_string ^= quote;
        escaped = byte == b'\\' && !escaped;
        delimiter_before = delimiter;
    }
    (at, None)
}

fn run(tier: Tier, bytes: &[u8], piece: usize) -> (Vec<usize>, Suspect) {
    let (mut carry, mut out, mut at) = (Carry::OUTSIDE, Positions::new(), Vec::new());
    for (index, window) in bytes.chunks(piece).enumerate() {
        let suspect = Kernel::of(tier).flatten(window, &mut carry, &mut out);
        at.extend(out.as_slice().iter().map(|&p| index * piece + usize::from(p)));
        if let Some(suspect) = suspect {
            return (at, Some(index * piece + suspect));
        }
    }
    (at, None)
}

fn check(bytes: &[u8]) {
    let expected = model(bytes);
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        for piece in [64, 128, 4096, WINDOW] {
            assert_eq!(run(tier, bytes, piece), expected, "{tier} in pieces of {piece}: {bytes:?}");
        }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % below
    }
}

#[test]
fn every_byte_alone_and_in_a_string_matches_the_model() {
    for byte in (0..=255u8).step_by(crate::EVERY) {
        check(&[byte]);
        check(&[b'{', b'"', byte, b'"', b':', b'1', b'}']);
        for at in [0, 1, 62, 63, 64, 65, 127, 128] {
            let mut bytes = vec![b' '; 200];
            bytes[at] = byte;
            check(&bytes);
        }
    }
}

#[test]
fn backslash_runs_across_block_edges_match_the_model() {
    for run in (0..140).step_by(crate::EVERY) {
        for before in [0, 1, 40, 62, 63, 64] {
            let mut bytes = b"[\"".to_vec();
            bytes.extend(std::iter::repeat_n(b'x', before));
            bytes.extend(std::iter::repeat_n(b'\\', run));
            bytes.extend_from_slice(b"\",{\"a\":[]}]                                            ");
            check(&bytes);
        }
    }
}

#[test]
fn random_bytes_match_the_model() {
    let mut random = Random(7);
    let alphabets: [&[u8]; 4] =
        [b"{}[]:,\" \\", b"\"\"\"\\\\a,: {}", b"{}[]:, 019tfn\n", b"\"a\":1,{}[] \\\"xp\xff"];
    for _ in (0..3000).step_by(crate::EVERY) {
        let alphabet = alphabets[random.next(4)];
        let len = random.next(400);
        let bytes: Vec<u8> = (0..len).map(|_| alphabet[random.next(alphabet.len())]).collect();
        check(&bytes);
    }
}

#[test]
fn positions_hold_a_window_of_structural_bytes() {
    check(&vec![b'['; WINDOW * 2 + 1]);
}

#[test]
fn tier_names_parse_back() {
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        assert_eq!(tier.name().parse(), Ok(tier));
    }
    assert!("mmx".parse::<Tier>().is_err());
}

/// Marks a window. For each byte, returns the end of a string, and the end of digits, that begin at
/// this byte.
struct Ends<'w>(&'w [u8]);

impl UsesMarks for Ends<'_> {
    type Output = Vec<(Option<usize>, Option<usize>)>;

    fn run(self, mark: impl Fn(&[u8], &mut Marks)) -> Self::Output {
        let mut marks = Marks::new();
        mark(self.0, &mut marks);
        (0..self.0.len()).map(|at| (marks.string_end(at), marks.digits_end(at))).collect()
    }
}

/// Covers every byte value, runs of every length up to two blocks, and random bytes, up to the last
/// byte of a window.
#[test]
fn marks_are_those_of_a_search_byte_by_byte() {
    let mut random = Random(5);
    let alphabet = b"\"\\\x1f\x7f\x80\xff 0123456789ab";
    let mut window: Vec<u8> = (0..=255).collect();
    for run in 1..130 {
        window.extend(vec![b'7'; run]);
        window.extend(vec![b'x'; run]);
        window.push(b'"');
    }
    window.resize_with(MARKED - 2 * BLOCK, || alphabet[random.next(alphabet.len())]);
    window.extend([b'"'; 2 * BLOCK]);
    let string_end = |at: usize| {
        let is_plain = |byte: u8| (0x20..0x80).contains(&byte) && byte != b'"' && byte != b'\\';
        at + window[at..].iter().take_while(|&&byte| is_plain(byte)).count()
    };
    let digits_end = |at: usize| {
        let count = window[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (1..57).contains(&count).then_some(at + count)
    };
    for tier in Tier::ALL.into_iter().filter(|tier| tier.is_available()) {
        let ends = Kernel::of(tier).with_marks(Ends(&window));
        for (at, &(string, digits)) in ends.iter().enumerate() {
            assert_eq!(string, Some(string_end(at)), "{tier} at {at}");
            assert_eq!(digits, digits_end(at), "{tier} at {at}");
        }
    }
}
