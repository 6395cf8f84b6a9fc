//! gzip unpacked from the middle: from where one of its blocks begins, with the text before it that the block may refer to.
//!
//! ```text
//!   file     member:  head │ block │ block │ block │ … │ checksum, length
//!   bits                           ^ begins within a byte: so many bits of the one before belong to it
//!   text              ├────────────┼───────────────
//!   window                 └ 32 KiB┘  what the block may copy from
//! ```
//!
//! This takes an inflate that can stop where a block ends and begin there again, which flate2 does not offer: so miniz_oxide does it, and only here, where
//! stretches of packed files are read by an index, and where the index finds those borders ([`Inflate::each_block`]). Checksums cover whole members, so
//! they are not looked at: what is read by an index has checksums of its own.
//!
//! Heap: 256 KiB of text, and the decoder's state.

use super::decode::skip_zeros;
use flate2::bufread::GzDecoder;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY,
};
use miniz_oxide::inflate::core::{BlockBoundaryState, DecompressorOxide, decompress};
use std::io::{self, BufRead, Read};

/// How far a block looks back.
pub(crate) const WINDOW: usize = 32 << 10;
/// Text in memory: the window, and as much that is new. A power of two, as the library needs it.
const RING: usize = 256 << 10;
/// Behind the blocks of a member: checksum and length.
const TRAILER: usize = 8;

/// Unpacks members one behind the other. Checksums are not looked at.
pub(crate) struct Inflate<R> {
    packed: Counted<R>,
    state: Box<DecompressorOxide>,
    /// Text, the next of which goes to `out`.
    ring: Vec<u8>,
    out: usize,
    /// Bytes before `out` that were not given away.
    ready: usize,
    /// Whether the next bytes are blocks of a member.
    is_inside: bool,
    /// Whether steps end where blocks do.
    stops: bool,
}

impl<R: BufRead> Inflate<R> {
    /// From the begin of a member on.
    pub(crate) fn new(packed: R) -> Self {
        Inflate {
            packed: Counted { packed, used: 0 },
            state: Box::default(),
            ring: vec![0; RING],
            out: 0,
            ready: 0,
            is_inside: false,
            stops: false,
        }
    }

    /// From a block on that begins so many bits before the end of the byte before `packed`; its window is the text before it.
    pub(crate) fn resume(packed: R, (bits, byte): (u8, u8), window: &[u8]) -> Self {
        let bits = bits.min(7);
        let bit_buf = ((u16::from(byte) << bits) >> 8) as u8;
        let at = BlockBoundaryState { num_bits: bits, bit_buf, ..BlockBoundaryState::default() };
        let mut inflate = Inflate::new(packed);
        *inflate.state = DecompressorOxide::from_block_boundary_state(&at);
        let window = &window[window.len().saturating_sub(WINDOW)..];
        inflate.ring[..window.len()].copy_from_slice(window);
        inflate.out = window.len();
        inflate.is_inside = true;
        inflate
    }

    /// Skips zeros and the head of a member; false at the end.
    fn next_member(&mut self) -> io::Result<bool> {
        if skip_zeros(&mut self.packed)?.is_none() {
            return Ok(false);
        }
        if GzDecoder::new(&mut self.packed).header().is_none() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        *self.state = DecompressorOxide::default();
        self.is_inside = true;
        Ok(true)
    }

    /// Unpacks up to what there is room for, or to the end of a block. What was unpacked before must have been given away.
    fn step(&mut self) -> io::Result<TINFLStatus> {
        self.out %= RING;
        let bytes = self.packed.fill_buf()?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let stops = if self.stops { TINFL_FLAG_STOP_ON_BLOCK_BOUNDARY } else { 0 };
        let flags = TINFL_FLAG_HAS_MORE_INPUT | stops;
        let done = decompress(&mut self.state, bytes, &mut self.ring, self.out, flags);
        let (status, used, new) = done;
        self.packed.consume(used);
        self.out += new;
        self.ready = new;
        if (status as i32) < 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if status == TINFLStatus::Done {
            self.is_inside = false;
            self.packed.read_exact(&mut [0; TRAILER])?;
        }
        Ok(status)
    }

    /// Gives `visit` all places where blocks begin, with the text before them: offset in the text, offset in
    /// the file, and how many bits before that; none says that the head of its member stands there.
    pub(crate) fn each_block(
        mut self,
        mut visit: impl FnMut(u64, u64, Option<u8>, &Text<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.stops = true;
        let mut text = 0;
        loop {
            let member = self.packed.used;
            if !self.is_inside {
                if !self.next_member()? {
                    return Ok(());
                }
                let before = Text { ring: &self.ring, out: self.out };
                visit(text, member, None, &before)?;
            }
            let status = self.step()?;
            text += self.ready as u64;
            if status == TINFLStatus::BlockBoundary
                && let Some(at) = self.state.block_boundary_state()
            {
                let before = Text { ring: &self.ring, out: self.out };
                visit(text, self.packed.used, Some(at.num_bits), &before)?;
            }
        }
    }
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.ready == 0 {
            if !self.is_inside && !self.next_member()? {
                return Ok(0);
            }
            self.step()?;
        }
        let count = to.len().min(self.ready);
        let from = self.out - self.ready;
        to[..count].copy_from_slice(&self.ring[from..from + count]);
        self.ready -= count;
        Ok(count)
    }
}

/// The text before a block.
pub(crate) struct Text<'a> {
    ring: &'a [u8],
    out: usize,
}

impl Text<'_> {
    /// Its last bytes: as many as a block looks back, or all of `text` bytes if these are fewer.
    pub(crate) fn window(&self, text: u64) -> Vec<u8> {
        let len = usize::try_from(text).map_or(WINDOW, |text| text.min(WINDOW));
        let (behind, before) = self.ring.split_at(self.out);
        let at_end = len.saturating_sub(behind.len());
        let mut window = before[before.len() - at_end..].to_vec();
        window.extend_from_slice(&behind[behind.len() - (len - at_end)..]);
        window
    }
}

/// Counts what is used of a reader.
struct Counted<R> {
    packed: R,
    used: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.packed.read(to)?;
        self.used += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.packed.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.used += bytes as u64;
        self.packed.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{BufReader, Write};
    use tracemill_testkit::Rng;

    /// Members of any levels, with names, flushes and zeros between them.
    fn members(rng: &mut Rng) -> (Vec<u8>, Vec<u8>) {
        let (mut file, mut text) = (Vec::new(), Vec::new());
        for _ in 0..1 + rng.below(4) {
            let level = Compression::new(rng.below(10) as u32);
            let mut head = flate2::GzBuilder::new();
            if rng.below(2) == 0 {
                head = head.filename("a.json").comment("c").extra(vec![7; rng.below(300) as usize]);
            }
            let mut member: GzEncoder<Vec<u8>> = head.write(Vec::new(), level);
            for _ in 0..rng.below(40) {
                let words =
                    ["{\"name\":\"f\"},", "0123456789", "\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"];
                for _ in 0..rng.below(3000) {
                    let word = words[rng.below(4) as usize].as_bytes();
                    member.write_all(word).expect("memory");
                    text.extend_from_slice(word);
                }
                if rng.below(3) == 0 {
                    member.flush().expect("memory");
                }
            }
            file.extend(member.finish().expect("memory"));
            file.resize(file.len() + rng.below(3) as usize * 100, 0);
        }
        (file, text)
    }

    #[test]
    fn from_every_block_on_the_text_is_that_from_the_begin() {
        let mut places = [0, 0];
        for seed in 0..12 {
            let rng = &mut Rng::new(seed);
            let (file, text) = members(rng);
            let sized = |bytes| BufReader::with_capacity(1 + 977 * (seed as usize % 3), bytes);
            let mut all = Vec::new();
            Inflate::new(sized(&file[..])).read_to_end(&mut all).expect("sound");
            assert!(all == text, "seed {seed}");
            let each = Inflate::new(sized(&file[..])).each_block(|at, packed, bits, before| {
                let from = &file[packed as usize..];
                let mut rest = Vec::new();
                let at = at as usize;
                let read = match bits {
                    None => Inflate::new(from).read_to_end(&mut rest),
                    Some(bits) => {
                        let window = before.window(at as u64);
                        assert!(text[..at].ends_with(&window) && window.len() == at.min(WINDOW));
                        let byte = file[packed as usize - 1];
                        Inflate::resume(from, (bits, byte), &window).read_to_end(&mut rest)
                    }
                };
                places[usize::from(bits.is_none())] += 1;
                read.expect("sound");
                assert!(rest == text[at..], "seed {seed}, {at}");
                Ok(())
            });
            each.expect("sound");
        }
        assert!(places[0] > 40 && places[1] > 20, "{places:?}");
    }

    #[test]
    fn what_is_cut_or_changed_ends_with_an_error_or_other_text() {
        let rng = &mut Rng::new(5);
        let (file, _) = members(rng);
        let read = |bytes: &[u8]| Inflate::new(bytes).read_to_end(&mut Vec::new());
        let cut =
            (0..200).filter(|_| read(&file[..rng.below(file.len() as u64) as usize]).is_err());
        assert!(cut.count() > 150);
        for _ in 0..400 {
            let mut changed = file.clone();
            let at = rng.below(file.len() as u64) as usize;
            changed[at] ^= 1 << rng.below(8);
            // no more is asked than that it ends
            _ = read(&changed);
            _ = Inflate::resume(&changed[at..], (rng.below(9) as u8, 7), &[])
                .read_to_end(&mut Vec::new());
        }
    }
}
