//! One pass over all inputs for their CPU profiles, and each profile put together.

use super::assemble::{Assembler, Keep, Profile};
use super::chunk::{Chunk, ProfileSource};
use super::flaws::{FlawKind, Flaws};
use super::kept::{ChunkRef, Chunks, Kept};
use super::order::{ChunkOrder, settle};
use super::router::{Args, Found, Names, Role, Stream, Streams, decode, decode_into};
use super::write::Bounds;
use crate::config::Config;
use crate::error::Error;
use crate::json::micros;
use crate::order::{Entry, Order};
use crate::outline::{Document, Outline};
use crate::read::{Current, Reader};
use crate::scan::Collect;
use crate::store::Store;
use tracemill_tokenizer::{Event, Field, fields_of, members, number_text, string_is};

/// What is found of profiles.
pub(super) struct Collector {
    pub(super) streams: Streams,
    pub(super) names: Names,
    documents: Vec<Document>,
    /// Bytes of decoded chunks that may be kept.
    most: usize,
}

/// The findings of a stretch of an input.
#[derive(Default)]
pub(super) struct Part {
    outline: Outline,
    streams: Streams,
    names: Names,
}

impl Collect for Part {
    fn outline(&mut self) -> &mut Outline {
        &mut self.outline
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        self.outline.facts.events += 1;
        if event.is_metadata() {
            return self.names.note(event);
        }
        self.streams.note(event, self.outline.base + event.offset);
    }
}

impl Reader for Collector {
    type Part = Part;

    fn part(base: u64, _bytes: usize) -> Part {
        Part { outline: Outline::at(base), ..Part::default() }
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    fn take(&mut self, part: Part, base: u64, _current: Current<'_>) -> Result<(), Error> {
        self.streams.append(part.streams, base, self.most);
        self.names.append(part.names);
        part.outline.append_to(&mut self.documents);
        Ok(())
    }
}

impl Collector {
    pub(super) fn new(config: &Config) -> Self {
        Collector {
            streams: Streams::default(),
            names: Names::default(),
            documents: Vec::new(),
            // a small list takes more than what it holds
            most: config.shares().index as usize / 2,
        }
    }

    /// Date and time of the recording, as `yyyymmdd` and `hhmmss`, from the metadata of DevTools.
    pub(super) fn recorded(&self, store: &Store<'_>) -> Option<(String, String)> {
        let keys = self.documents.iter().flat_map(|document| &document.keys);
        let metadata = keys.filter(|key| string_is(&key.key, b"metadata"));
        metadata
            .filter_map(|key| {
                let value = store.slice(key.offset, key.len);
                let (_, start) = members(value).find(|(key, _)| string_is(key, b"startTime"))?;
                date_and_time(std::str::from_utf8(start).ok()?.trim_matches('"'))
            })
            .next()
    }
}

/// Of `2026-11-21T01:58:12.000Z`.
fn date_and_time(text: &str) -> Option<(String, String)> {
    let digits = |text: &str, separator, len| {
        let plain: String = text.split(separator).collect();
        (plain.len() == len && plain.bytes().all(|b| b.is_ascii_digit())).then_some(plain)
    };
    let (date, time) = text.split_once('T')?;
    Some((digits(date, '-', 8)?, digits(time.get(..8)?, ':', 6)?))
}

/// The events of one profile: those of a stream, less those of inputs that have a profile of the same ids of their own.
pub(super) struct Group<'c> {
    pub(super) stream: &'c Stream,
    kept: &'c [Kept],
    pub(super) heads: Vec<&'c Found>,
    pub(super) chunks: Vec<&'c Found>,
}

/// All profiles, in the order in which they begin in the inputs.
pub(super) fn groups(streams: &Streams) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for (_, stream) in &streams.all {
        let kept = &*streams.kept;
        let new = || Group { stream, kept, heads: Vec::new(), chunks: Vec::new() };
        let mut current = new();
        for of_input in stream.by_input() {
            let has_head = of_input.iter().any(|found| found.role() == Role::Head);
            if has_head && !current.heads.is_empty() {
                groups.push(std::mem::replace(&mut current, new()));
            }
            let is_head = |found: &&Found| found.role() == Role::Head;
            current.heads.extend(of_input.iter().filter(is_head));
            current.chunks.reserve_exact(of_input.len());
            current.chunks.extend(of_input.iter().filter(|found| !is_head(found)));
        }
        groups.push(current);
    }
    groups
}

/// A profile with what is known beside it.
pub(super) struct Whole<'s, 'p> {
    pub(super) profile: Profile<'s, 'p>,
    pub(super) bounds: Bounds,
    /// Nanoseconds.
    pub(super) start: i64,
    pub(super) order: ChunkOrder,
}

/// Start of a profile: nanoseconds, and as it is written.
type Start = (i64, Vec<u8>);

impl<'c> Group<'c> {
    /// The thread that the profile is of, as written: that of the last `Profile` event, which counts in DevTools; else
    /// that of its first chunk.
    pub(super) fn tid(&self) -> &'c [u8] {
        self.heads.last().map_or(&self.stream.tid, |head| head.tid())
    }

    /// How many nodes its chunks bring.
    pub(super) fn nodes(&self) -> u64 {
        self.chunks.iter().map(|found| u64::from(found.counts().nodes)).sum()
    }

    /// Bytes of its chunks; as a file it takes about the same.
    pub(super) fn bytes(&self, store: &Store<'_>) -> u64 {
        self.chunks.iter().map(|found| store.len(found.entry.place)).sum()
    }

    /// When it begins, as far as one event tells.
    pub(super) fn first_time(&self) -> i64 {
        self.heads.last().or(self.chunks.first()).map_or(0, |found| found.entry.time)
    }

    /// Puts the profile together. Cost: a pass over its chunks, and another over those that were not kept decoded.
    pub(super) fn assemble<'s, 'p>(
        &self,
        store: &'s Store<'p>,
        keep: Keep,
        config: &Config,
    ) -> Result<Whole<'s, 'p>, Error> {
        let mut contents = self.contents(store);
        let mut entries: Vec<Entry> = self.chunks.iter().map(|found| found.entry).collect();
        let order = settle(&mut entries, Order(store), &mut contents);
        let counts = self.chunks.iter().fold((0, 0), |(samples, deltas), found| {
            (samples + u64::from(found.counts().samples), deltas + u64::from(found.counts().deltas))
        });
        let mut assembler = Assembler::new(store, counts, keep, &config.tmp_dir);
        for &entry in &entries {
            assembler.add(contents.get(entry), entry.place.offset())?;
        }
        self.finish(assembler, order, entries.first(), store)
    }

    /// The profile whose chunks, the first of which is `first`, were all given to `assembler`.
    pub(super) fn finish<'s, 'p>(
        &self,
        mut assembler: Assembler<'s, 'p>,
        order: ChunkOrder,
        first: Option<&Entry>,
        store: &'s Store<'p>,
    ) -> Result<Whole<'s, 'p>, Error> {
        let mut flaws = Flaws::default();
        let start = self.start(store, first, &mut flaws);
        if let (ChunkOrder::Neither, Some(first)) = (order, first) {
            flaws.add(FlawKind::Unordered, first.place.offset());
        }
        assembler.set_start(start.as_ref().map(|(start, _)| *start), self.own_start());
        let mut profile = assembler.finish()?;
        let (start, text) = start.unwrap_or_else(|| guess(&profile, &self.chunks, &mut flaws));
        profile.flaws.append(&flaws);
        // that of the latest sample, or what the stream says, if that is later
        let last = start.saturating_add(profile.extent.last);
        let end = profile.end.map_or(last, |end| end.max(last));
        let bounds = Bounds { start: text, end };
        Ok(Whole { profile, bounds, start, order })
    }

    /// What its chunks hold.
    pub(super) fn contents<'g, 's, 'p>(&'g self, store: &'s Store<'p>) -> Contents<'g, 's, 'p> {
        let (chunks, kept) = (&*self.chunks, self.kept);
        Contents { chunks, kept, store, next: 0, scratch: Chunk::default() }
    }

    /// The start: the time of the last `Profile` event, as in DevTools.
    fn start(&self, store: &Store<'_>, first: Option<&Entry>, flaws: &mut Flaws) -> Option<Start> {
        let whole = self.chunks.first().filter(|found| found.role() == Role::Whole);
        if let Some(whole) = whole {
            return whole
                .start()
                .map(|start| (start, micros(start)))
                .or_else(|| start_at(whole.entry, store));
        }
        if self.heads.len() > 1 {
            flaws.add(FlawKind::TwoProfiles, self.heads[1].entry.place.offset());
        }
        match self.heads.last() {
            Some(head) => start_at(head.entry, store),
            None => {
                let offset = first.map_or(0, |entry| entry.place.offset());
                flaws.add(FlawKind::NoProfile, offset);
                None
            }
        }
    }

    /// The start in the clock of the data.
    fn own_start(&self) -> Option<i64> {
        self.heads.last()?.start()
    }
}

/// What the chunks of a profile hold: kept, or decoded again.
pub(super) struct Contents<'g, 's, 'p> {
    chunks: &'g [&'g Found],
    kept: &'g [Kept],
    store: &'s Store<'p>,
    /// The number of the chunk that will probably be asked for.
    next: usize,
    scratch: Chunk,
}

impl Chunks for Contents<'_, '_, '_> {
    fn get(&mut self, entry: Entry) -> ChunkRef<'_> {
        let place = |found: &Found| found.entry.place.offset();
        let offset = entry.place.offset();
        // they are asked for in an order that is nearly always that of the input
        let found = self.chunks.get(self.next).filter(|found| place(found) == offset);
        let at = match found {
            Some(_) => self.next,
            None => self.chunks.partition_point(|found| place(found) < offset),
        };
        self.next = at + 1;
        self.of(self.chunks[at])
    }
}

impl Contents<'_, '_, '_> {
    /// What one of the chunks holds.
    pub(super) fn of(&mut self, found: &Found) -> ChunkRef<'_> {
        if let Args::Kept(_, stretch, number) = found.args {
            return self.kept[stretch as usize].get(number, &mut self.scratch);
        }
        let event = self.store.event(found.entry.place);
        let offset = found.entry.place.offset();
        decode_into(&fields_of(event).of(event), offset, &mut self.scratch);
        self.scratch.view()
    }
}

/// Without a `Profile` event: what the chunks say, else the first chunk's time less its steps.
fn guess(profile: &Profile<'_, '_>, chunks: &[&Found], flaws: &mut Flaws) -> Start {
    let own = profile.start.filter(|&start| start > 0);
    let start = own.unwrap_or_else(|| {
        let Some(first) = chunks.first() else { return 0 };
        flaws.add(FlawKind::NoStart, first.entry.place.offset());
        first.entry.time.max(0).saturating_sub(first.counts().duration).max(1000)
    });
    (start, micros(start))
}

/// The time of an event, if it has one.
pub(super) fn start_at(entry: Entry, store: &Store<'_>) -> Option<Start> {
    let event = store.event(entry.place);
    let value = fields_of(event).field(event, Field::Ts)?;
    let mut scratch = Vec::new();
    let text = number_text(value, &mut scratch)?;
    Some((tracemill_tokenizer::nanos(text)?.floor, text.to_vec()))
}

pub(super) fn decode_again(entry: Entry, store: &Store<'_>) -> Chunk {
    let event = store.event(entry.place);
    decode(&fields_of(event).of(event), entry.place.offset())
}

/// Where a profile came from, and what it holds.
pub(super) fn source_of(whole: &Whole<'_, '_>, group: &Group<'_>) -> Option<ProfileSource> {
    whole.profile.source.or(group.heads.last().and_then(|head| head.source()))
}
