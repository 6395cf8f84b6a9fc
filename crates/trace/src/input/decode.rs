//! Decodes gzip (members, zero padding), zstd (frames) and UTF-16 to UTF-8.
//!
//! ```text
//!   gzip      │ member │ member │ 0 0 0 │ member │ 0 0 │      texts of members, concatenated
//!   zstd      │ frame │ skippable │ frame │                  texts of frames, concatenated
//!   UTF-16    FF FE │ 7B 00 …                                to UTF-8; lone surrogates escaped
//! ```
//!
//! Data that breaks off is an error at that point; the caller decides whether to keep the earlier
//! bytes (see [`super::spool`]). Cost: that of zlib-rs or zstd, and a buffer of 256 KiB.

use super::sniff::{MEMBERS, Packing};
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const BUFFER: usize = 256 * 1024;

/// Whether a gzip file has data after its first member. Few programs except gzip read such data.
/// The value is known after the first member is read.
#[derive(Clone, Debug, Default)]
pub struct Beyond(Arc<AtomicBool>);

impl Beyond {
    /// Returns the name of the encoding in reports: [`MEMBERS`] if there is data after the first
    /// gzip member, else `encoding`.
    pub(crate) fn named(&self, encoding: Option<&'static str>) -> Option<&'static str> {
        if self.0.load(Ordering::Relaxed) { Some(MEMBERS) } else { encoding }
    }
}

/// Creates a reader that decodes `inner` and sets `beyond`.
pub(super) fn reader(
    packing: Packing,
    inner: Box<dyn Read + Send>,
    beyond: &Beyond,
) -> io::Result<Box<dyn Read + Send>> {
    let buffered = |inner| BufReader::with_capacity(BUFFER, inner);
    Ok(match packing {
        Packing::Plain { .. } => inner,
        Packing::Gzip => Box::new(GzipMembers::new(buffered(inner), beyond)),
        #[cfg(feature = "zstd")]
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(buffered(inner))?),
        #[cfg(not(feature = "zstd"))]
        Packing::Zstd => {
            let message = "packed with zstd, which this build cannot read (feature zstd)";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        Packing::Utf16 { big_endian } => Box::new(Utf16::new(buffered(inner), big_endian)),
    })
}

/// Returns the lengths of a zstd frame, see [`super::frame_len`].
#[cfg(feature = "zstd")]
pub(super) fn frame_len(file: &[u8]) -> Option<(usize, u64)> {
    use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};
    let packed = find_frame_compressed_size(file).ok()?;
    Some((packed, get_frame_content_size(file).ok()??))
}

/// Returns `None`, because this build cannot read zstd.
#[cfg(not(feature = "zstd"))]
pub(super) fn frame_len(_file: &[u8]) -> Option<(usize, u64)> {
    None
}

type PackedReader = BufReader<Box<dyn Read + Send>>;

/// A reader of concatenated gzip members with zeros between and after them, as tar and block
/// devices leave them.
struct GzipMembers {
    beyond: Beyond,
    /// Current member; `None` between members.
    member: Option<GzDecoder<PackedReader>>,
    between: Option<PackedReader>,
}

impl GzipMembers {
    fn new(packed: PackedReader, beyond: &Beyond) -> Self {
        GzipMembers { beyond: beyond.clone(), member: Some(GzDecoder::new(packed)), between: None }
    }

    /// Skips zeros. Returns whether another member follows.
    fn next_member(&mut self) -> io::Result<bool> {
        let Some(mut packed) = self.between.take() else { return Ok(false) };
        if !packed.fill_buf()?.is_empty() {
            self.beyond.0.store(true, Ordering::Relaxed);
        }
        match skip_zeros(&mut packed)? {
            None => Ok(false),
            Some(0x1F) => {
                self.member = Some(GzDecoder::new(packed));
                Ok(true)
            }
            Some(_) => {
                let message = "something that is not gzip follows the gzip data";
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            }
        }
    }
}

/// Skips zeros between members. Returns the next byte, or `None` at the end.
fn skip_zeros(packed: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let bytes = packed.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let zeros = bytes.iter().take_while(|&&b| b == 0).count();
        let more = bytes.get(zeros).copied();
        packed.consume(zeros);
        if more.is_some() {
            return Ok(more);
        }
    }
}

impl Read for GzipMembers {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(member) = &mut self.member {
                let count = member.read(out)?;
                if count > 0 || out.is_empty() {
                    return Ok(count);
                }
                self.between = self.member.take().map(GzDecoder::into_inner);
            }
            if !self.next_member()? {
                return Ok(0);
            }
        }
    }
}

/// A reader that converts UTF-16 to UTF-8. A lone surrogate has no UTF-8 form and becomes its JSON
/// escape, which means the same inside a string.
struct Utf16 {
    packed: PackedReader,
    big_endian: bool,
    /// A high surrogate whose low surrogate is not read yet.
    high: Option<u16>,
    ready: Vec<u8>,
    handed: usize,
    started: bool,
}

impl Utf16 {
    fn new(packed: PackedReader, big_endian: bool) -> Self {
        Utf16 { packed, big_endian, high: None, ready: Vec::new(), handed: 0, started: false }
    }

    /// Decodes a code unit; a high surrogate is kept for the next call.
    fn push(&mut self, unit: u16) {
        if let Some(high) = self.high.take() {
            if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
                return self.push_char(character);
            }
            self.push_escape(high);
        }
        match unit {
            0xD800..0xDC00 => self.high = Some(unit),
            0xDC00..0xE000 => self.push_escape(unit),
            // the byte order mark is not text
            0xFEFF if !self.started => {}
            _ => self
                .push_char(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
        self.started = true;
    }

    fn push_char(&mut self, character: char) {
        self.ready.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_escape(&mut self, unit: u16) {
        self.ready.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
    }

    /// Decodes more bytes. Returns `false` at the end.
    fn refill(&mut self) -> io::Result<bool> {
        self.ready.clear();
        self.handed = 0;
        let mut unit = [0; 2];
        let used = self.packed.fill_buf()?.len().min(BUFFER) & !1;
        if used > 0 {
            let bytes = self.packed.fill_buf()?[..used].to_vec();
            for pair in bytes.as_chunks::<2>().0 {
                self.push(self.unit(*pair));
            }
            self.packed.consume(used);
            return Ok(true);
        }
        match self.packed.read(&mut unit[..1])? {
            0 => {
                if let Some(high) = self.high.take() {
                    self.push_escape(high);
                    return Ok(true);
                }
                Ok(false)
            }
            _ => {
                self.packed.read_exact(&mut unit[1..])?;
                self.push(self.unit(unit));
                Ok(true)
            }
        }
    }

    fn unit(&self, pair: [u8; 2]) -> u16 {
        if self.big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }
}

impl Read for Utf16 {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.handed == self.ready.len() {
            if !self.refill()? {
                return Ok(0);
            }
        }
        let count = out.len().min(self.ready.len() - self.handed);
        out[..count].copy_from_slice(&self.ready[self.handed..self.handed + count]);
        self.handed += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};

    fn unpack(packing: Packing, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        reader(packing, Box::new(Cursor::new(bytes)), &Beyond::default())?.read_to_end(&mut out)?;
        Ok(out)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).expect("memory takes bytes");
        encoder.finish().expect("memory takes bytes")
    }

    #[test]
    fn gzip_members_and_padding_decode_as_one_text() {
        let (a, b) = (gzip(b"[1,"), gzip(b"2]"));
        let padded = [&a[..], &[0; 700], &b, &[0; 9]].concat();
        assert_eq!(unpack(Packing::Gzip, padded).expect("sound"), b"[1,2]");
        assert_eq!(
            unpack(Packing::Gzip, [&a[..], b"x"].concat()).map_err(|e| e.kind()),
            Err(io::ErrorKind::InvalidData)
        );
        assert!(unpack(Packing::Gzip, a[..a.len() - 3].to_vec()).is_err());
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn zstd_frames_decode_as_one_text() {
        let frame = |bytes: &[u8]| zstd::encode_all(bytes, 1).expect("memory takes bytes");
        let two = [frame(b"[1,"), frame(b"2]")].concat();
        assert_eq!(unpack(Packing::Zstd, two.clone()).expect("sound"), b"[1,2]");
        assert!(unpack(Packing::Zstd, two[..two.len() - 2].to_vec()).is_err());
    }

    #[test]
    fn utf16_decodes_in_both_byte_orders() {
        let text = "\u{FEFF}[\"aé\u{1F600}\u{FEFF}\"]";
        let plain = "[\"aé\u{1F600}\u{FEFF}\"]".as_bytes();
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(unpack(Packing::Utf16 { big_endian: false }, le.clone()).expect("sound"), plain);
        assert_eq!(unpack(Packing::Utf16 { big_endian: true }, be).expect("sound"), plain);
        let lone: Vec<u8> =
            [0xD83Du16, 0x61, 0xDE00, 0xD83D].into_iter().flat_map(u16::to_le_bytes).collect();
        let escaped = b"\\ud83da\\ude00\\ud83d";
        assert_eq!(unpack(Packing::Utf16 { big_endian: false }, lone).expect("sound"), escaped);
        assert!(unpack(Packing::Utf16 { big_endian: false }, le[..le.len() - 1].to_vec()).is_err());
    }
}
