//! Unpacks traces, and finds the events of an output.
//!
//! Relies on strings, brackets and layout only, because events may contain invalid JSON such as
//! `NaN`.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use tracemill_trace::output::target::Format;

/// The parts of an output.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) events: Vec<&'a [u8]>,
    /// The text outside the events: the keys after them, or the first line of NDJSON.
    pub(crate) keys: &'a [u8],
}

impl<'a> Output<'a> {
    /// Parses an output, and asserts its layout.
    #[track_caller]
    pub(crate) fn parse(format: Format, bytes: &'a [u8]) -> Self {
        let opening: &[u8] = match format {
            Format::Object => b"{\"traceEvents\":[\n",
            Format::Array => b"[\n",
            Format::Ndjson => return Self::lines(bytes),
        };
        let mut rest = bytes.strip_prefix(opening).expect("the opening of the format");
        let mut events = Vec::new();
        while rest.first() == Some(&b'{') {
            let (event, after) = rest.split_at(object_end(rest).expect("events are closed"));
            events.push(event);
            rest = after.strip_prefix(b",\n").or(after.strip_prefix(b"\n")).expect("a line end");
        }
        let keys = rest.strip_prefix(b"]").expect("the end of the events");
        assert!(keys.ends_with(if format == Format::Object { b"}\n" } else { b"\n" }));
        Output { events, keys }
    }

    fn lines(bytes: &'a [u8]) -> Self {
        assert!(bytes.is_empty() || bytes.ends_with(b"\n"), "the last line has an end");
        let mut events: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
        let header = events.first().is_some_and(|line| line.starts_with(b"{\"tracemill\":{"));
        let keys = if header { events.remove(0) } else { b"" };
        let events = events.into_iter().map(|line| &line[..line.len() - 1]).collect();
        Output { events, keys }
    }
}

pub(crate) fn object_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut at) = (0_usize, false, 0);
    while at < text.len() {
        match text[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the first of `wanted` that `events` does not contain as often.
pub(crate) fn missing<'a>(
    wanted: impl IntoIterator<Item = &'a [u8]>,
    events: &[&[u8]],
) -> Option<&'a [u8]> {
    let mut held: HashMap<&[u8], usize> = HashMap::new();
    for event in events {
        *held.entry(event).or_default() += 1;
    }
    wanted.into_iter().find(|event| match held.get_mut(event) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    })
}

/// Returns the text of a file, decompressed and in UTF-8, up to where compression breaks off.
pub(crate) fn text_of(path: &Path) -> Vec<u8> {
    let bytes = crate::run::read(path);
    let mut text = Vec::new();
    let unpacked = match bytes[..] {
        [0x1f, 0x8b, ..] => {
            flate2::bufread::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut text).is_ok()
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            zstd::Decoder::new(&bytes[..]).and_then(|mut d| d.read_to_end(&mut text)).is_ok()
        }
        [0xff, 0xfe, ..] => return utf16(&bytes[2..], u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(&bytes[2..], u16::from_be_bytes),
        _ => return bytes,
    };
    assert!(unpacked || !text.is_empty(), "{}: nothing could be unpacked", path.display());
    text
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units: Vec<u16> = bytes.as_chunks().0.iter().map(|&pair| unit(pair)).collect();
    String::from_utf16(&units).expect("sound UTF-16").into_bytes()
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || text.windows(part.len()).any(|window| window == part)
}

pub(crate) fn show(bytes: &[u8], at: usize) -> String {
    let from = at.saturating_sub(200).min(bytes.len());
    String::from_utf8_lossy(&bytes[from..(at + 200).min(bytes.len())]).into_owned()
}

/// Replaces DevTools' annotations in an output by an empty object, like the reference.
pub(crate) fn without_annotations(output: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"\"modifications\":";
    let (mut out, mut rest) = (Vec::new(), output);
    while let Some(at) = rest.windows(NAME.len()).position(|window| window == NAME) {
        let value = at + NAME.len();
        let space = rest[value..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some(len) = object_end(&rest[value + space..]) else { break };
        out.extend_from_slice(&rest[..value + space]);
        out.extend_from_slice(b"{}");
        rest = &rest[value + space + len..];
    }
    [&out[..], rest].concat()
}

/// Asserts that two outputs are equal, and shows where they differ.
#[track_caller]
pub(crate) fn assert_same(what: &str, expected: &[u8], got: &[u8]) {
    let differs = expected.iter().zip(got).position(|(a, b)| a != b);
    let shorter = expected.len().min(got.len());
    if let Some(at) = differs.or((expected.len() != got.len()).then_some(shorter)) {
        let (expected, got) = (show(expected, at), show(got, at));
        panic!("{what}: differ at byte {at}\n--- expected\n{expected}\n--- got\n{got}");
    }
}
