//! Parses the JSON of a source map. Only the needed elements of its lists are unescaped.

use super::mappings::{Broken, LookUp, Place, Segment};
use crate::value::{elements, member, number, string};
use std::collections::BTreeMap;
use std::ops::Range;
use tracemill_tokenizer::{Cursor, validate_value};

/// A source map, in one or several parts (sections).
pub(super) struct MapText<'m> {
    /// The parts in order, each with the range of the script to which it applies.
    parts: Vec<(Range<Place>, PartText<'m>)>,
    /// Script named by the key `file`.
    pub(super) file: Option<Vec<u8>>,
}

/// Raw values of a map without sections.
#[derive(Default)]
struct PartText<'m> {
    mappings: &'m [u8],
    names: &'m [u8],
    sources: &'m [u8],
    contents: &'m [u8],
    root: &'m [u8],
    ignored: &'m [u8],
}

/// A wanted position in the script, and its position and name in a source.
pub(super) struct Found<'m> {
    pub(super) place: Place,
    pub(super) origin: Place,
    pub(super) source: FoundSource<'m>,
    pub(super) name: Option<Vec<u8>>,
}

#[derive(Clone)]
pub(super) struct FoundSource<'m> {
    /// Index of the part of the map, and index of the source in that part.
    pub(super) number: (usize, u32),
    /// Raw path, including `sourceRoot`.
    pub(super) path: Vec<u8>,
    /// Text of the source, as a raw JSON string.
    pub(super) content: Option<&'m [u8]>,
    /// Whether the map marks the source as third-party.
    pub(super) is_library: bool,
}

/// Selected elements of a list, by number.
type Picked<'m> = BTreeMap<u32, &'m [u8]>;

impl<'m> MapText<'m> {
    /// Parses a map. Cost: two passes over its text.
    ///
    /// # Errors
    /// Returns the defect as the end of a sentence.
    pub(super) fn parse(text: &'m [u8]) -> Result<Self, String> {
        let whole = text.len();
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        // An optional first line prevents execution as a script.
        let start = match text.strip_prefix(b")]}'") {
            Some(_) => text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len()),
            None => 0,
        };
        let text = text[start..].trim_ascii_start();
        validate_value(text).map_err(|defect| {
            let at = (whole - text.len()) as u64 + defect.offset;
            format!("no JSON at offset {at}: expected {}", defect.expected)
        })?;
        if Cursor::new(text).peek() != b'{' {
            return Err("no source map: expected an object".to_owned());
        }
        let sections = member(text, b"sections");
        let file = member(text, b"file").and_then(string);
        let all = (0, 0)..(u32::MAX, u32::MAX);
        let parts = match sections {
            None => vec![(all, PartText::of(text)?)],
            Some(sections) => sections_of(sections)?,
        };
        Ok(MapText { parts, file })
    }

    /// Finds the sources of sorted, distinct positions. Cost: a pass over the mappings and lists of
    /// each part.
    ///
    /// # Errors
    /// Returns the errors of [`MapText::parse`].
    pub(super) fn find(&self, wanted: &[Place]) -> Result<Vec<Option<Found<'m>>>, String> {
        let mut look_up = LookUp::new(wanted);
        for (number, (within, part)) in self.parts.iter().enumerate() {
            let mappings = string(part.mappings).ok_or("no source map: mappings is no string")?;
            let taken = look_up.take(&mappings, number, within);
            taken.map_err(|Broken(at)| format!("its mappings are broken at their byte {at}"))?;
        }
        let segments = look_up.finish();
        let mut lists = Vec::with_capacity(self.parts.len());
        for (number, (_, part)) in self.parts.iter().enumerate() {
            let of_part = segments.iter().flatten().filter(|(_, part)| *part == number);
            lists.push(part.lists(of_part.map(|(segment, _)| segment)));
        }
        let found = |(segment, part): (Segment, usize)| {
            let origin = segment.origin?;
            let source = self.parts[part].1.source(&lists[part], part, origin.source)?;
            let name = origin.name.and_then(|name| string(lists[part].names.get(&name)?));
            Some(Found { place: segment.place, origin: origin.place, source, name })
        };
        let has_origin = |(segment, _): &(Segment, usize)| segment.origin.is_some();
        let is_of_sources = segments.iter().flatten().any(has_origin);
        let all: Vec<Option<Found<'m>>> =
            segments.into_iter().map(|segment| segment.and_then(found)).collect();
        match is_of_sources && all.iter().all(Option::is_none) {
            true => Err("its mappings are of sources that it does not list".to_owned()),
            false => Ok(all),
        }
    }
}

/// The needed elements of the lists in a part of a map.
struct Lists<'m> {
    names: Picked<'m>,
    sources: Picked<'m>,
    contents: Picked<'m>,
    ignored: Vec<f64>,
}

impl<'m> PartText<'m> {
    fn of(map: &'m [u8]) -> Result<Self, String> {
        let version = member(map, b"version").and_then(number);
        if version != Some(3.0) {
            return Err("no source map of version 3".to_owned());
        }
        let mut part = PartText::default();
        let mut cursor = Cursor::new(map);
        cursor.enter(b'{');
        while let Some(key) = cursor.next_key() {
            let value = cursor.value();
            match &*key {
                b"mappings" => part.mappings = value,
                b"names" => part.names = value,
                b"sources" => part.sources = value,
                b"sourcesContent" => part.contents = value,
                b"sourceRoot" => part.root = value,
                b"ignoreList" => part.ignored = value,
                b"x_google_ignoreList" if part.ignored.is_empty() => part.ignored = value,
                _ => {}
            }
        }
        if !part.mappings.starts_with(b"\"") || !part.sources.starts_with(b"[") {
            return Err("no source map: mappings or sources are missing".to_owned());
        }
        Ok(part)
    }

    fn lists<'s>(&self, segments: impl Iterator<Item = &'s Segment>) -> Lists<'m> {
        let (mut names, mut sources) = (Picked::new(), Picked::new());
        for origin in segments.filter_map(|segment| segment.origin) {
            sources.insert(origin.source, b"");
            names.extend(origin.name.map(|name| (name, &b""[..])));
        }
        let mut contents = sources.clone();
        pick(self.names, &mut names);
        pick(self.sources, &mut sources);
        pick(self.contents, &mut contents);
        let ignored = elements(self.ignored).filter_map(number).collect();
        Lists { names, sources, contents, ignored }
    }

    fn source(&self, lists: &Lists<'m>, part: usize, source: u32) -> Option<FoundSource<'m>> {
        let name = string(lists.sources.get(&source)?)?;
        let path = match string(self.root).filter(|root| !root.is_empty()) {
            Some(root) if root.ends_with(b"/") => [root, name].concat(),
            Some(root) => [&*root, b"/", &*name].concat(),
            None => name,
        };
        let content = lists.contents.get(&source).copied();
        let is_library = lists.ignored.contains(&f64::from(source));
        let content = content.filter(|content| content.starts_with(b"\""));
        Some(FoundSource { number: (part, source), path, content, is_library })
    }
}

/// Sets the elements with wanted numbers from an array. Missing elements stay empty.
fn pick<'m>(array: &'m [u8], wanted: &mut Picked<'m>) {
    let mut cursor = Cursor::new(array);
    let Some(&last) = wanted.keys().last() else { return };
    if !cursor.enter(b'[') {
        return;
    }
    let mut number = 0;
    while number <= last && cursor.next_element() {
        let value = cursor.value();
        if let Some(slot) = wanted.get_mut(&number) {
            *slot = value;
        }
        number += 1;
    }
}

/// Parses a map with sections. The section of each part ends where the next one begins.
fn sections_of(sections: &[u8]) -> Result<Vec<(Range<Place>, PartText<'_>)>, String> {
    let mut starts: Vec<Place> = Vec::new();
    let mut parts = Vec::new();
    for section in elements(sections) {
        let offset = member(section, b"offset").unwrap_or_default();
        let part = |key: &[u8]| {
            let value = member(offset, key).and_then(number)?;
            (value >= 0.0 && value.fract() == 0.0 && value < f64::from(u32::MAX))
                .then_some(value as u32)
        };
        let start = part(b"line").zip(part(b"column")).ok_or("a section of it has no offset")?;
        if starts.last().is_some_and(|last| *last > start) {
            return Err("its sections are not in order".to_owned());
        }
        let map = member(section, b"map").ok_or("a section of it has no map")?;
        if member(map, b"sections").is_some() {
            return Err("a section of it has sections".to_owned());
        }
        starts.push(start);
        parts.push(PartText::of(map)?);
    }
    let ends = starts.iter().skip(1).copied().chain([(u32::MAX, u32::MAX)]).collect::<Vec<_>>();
    let ranges = starts.into_iter().zip(ends).map(|(start, end)| start..end);
    Ok(ranges.zip(parts).collect())
}
