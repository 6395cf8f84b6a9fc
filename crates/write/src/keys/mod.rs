//! Merges the top-level keys of several documents.
//!
//! | key | rule |
//! |---|---|
//! | of the first document | unchanged, including duplicates |
//! | of a later document, equal to a key of the first | written once |
//! | `stackFrames` of later documents | merged by id; on a conflict all frames of the later input get new ids ([`tracemill_join::identity`]), or are kept apart with a warning |
//! | `metadata.modifications` (DevTools' annotations) | merged into the `metadata` of the first document ([`crate::annotations`]); dropped by `split` and `filter` |
//! | `samples` of later documents | appended, with renamed processes and frames |
//! | other keys, such as `displayTimeUnit` or Kineto's `deviceProperties` | kept apart in `tracemill.inputs`: `{"index":1,"keys":{…}}` |
//!
//! `sf` and `esf` of events and `sf` of samples refer to frames; `stack` and `estack` contain
//! addresses.
//!
//! `index` numbers the documents of all inputs from 0. If the first document has a key `tracemill`,
//! the new key is named `tracemill.2`, and so on. Values stay in the input; only references to them
//! are in memory.

pub mod edit;
pub mod key_path;
pub mod merged_keys;
pub mod modifications;
pub mod numbered_metadata;
pub mod repaired_keys;

mod frames;

use crate::keys::edit::without;
pub use crate::keys::merged_keys::{MergedKeys, OutputKey};
use crate::keys::merged_keys::{STACK_FRAMES, open};
use crate::keys::modifications::modifications;
use frames::MergedFrames;
use std::borrow::Cow;
use tracemill_join::identity::{FrameNames, Rewrite, renamed_samples};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::{members, string_is, to_text};
use tracemill_trace::event::envelope::{Document, KeyValue};
use tracemill_trace::output::target::Format;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::Store;

const SAMPLES: &[u8] = b"samples";

/// Merges the keys of all documents.
pub fn unite<'p>(documents: &[Document], store: &Store<'p>) -> MergedKeys<'p> {
    unite_by(documents, store, FrameNames::default(), true)
}

/// Merges the keys of all documents and drops DevTools' annotations.
pub fn unite_without_annotations<'p>(documents: &[Document], store: &Store<'p>) -> MergedKeys<'p> {
    unite_by(documents, store, FrameNames::default(), false)
}

/// Merges the keys of all documents. Conflicting stack frames get new ids, which are added to
/// `rewrite`.
pub fn unite_renamed<'p>(
    documents: &[Document],
    store: &Store<'p>,
    rewrite: &mut Rewrite,
) -> MergedKeys<'p> {
    let keys = documents.iter().flat_map(|document| &document.keys);
    let frames = keys.filter(|key| string_is(&key.key, STACK_FRAMES));
    let all = frames.map(|key| store.slice(key.offset, key.len));
    unite_by(documents, store, FrameNames::new(rewrite, all), true)
}

fn unite_by<'p>(
    documents: &[Document],
    store: &Store<'p>,
    mut names: FrameNames<'_>,
    annotated: bool,
) -> MergedKeys<'p> {
    let value = |key: &KeyValue| store.slice(key.offset, key.len);
    let Some((first, later)) = documents.split_first() else { return MergedKeys::default() };
    let mut united = MergedKeys::of(first, later, store, &mut names, annotated);
    let known =
        if later.is_empty() { FirstValues::default() } else { FirstValues::of(first, store) };
    let first_metadata = first.keys.iter().rfind(|key| string_is(&key.key, b"metadata"));
    let first_metadata = first_metadata.map(value).unwrap_or_default();
    let mut frames = MergedFrames::default();
    let mut extras = PerInputKeys::default();
    let later = later
        .iter()
        .flat_map(|document| std::iter::repeat_n(document, 1 + document.alike as usize));
    for (index, document) in (first.alike as usize..).zip(later) {
        let mut apart = Vec::new();
        let is_known = |key: &KeyValue| known.has(&key.key, value(key));
        // samples may come before the frames that they refer to
        let is_frames = |key: &&KeyValue| string_is(&key.key, STACK_FRAMES) && !is_known(key);
        let mut maps = Vec::new();
        for key in document.keys.iter().filter(is_frames) {
            let takes = united.takes(STACK_FRAMES, value(key));
            maps.push(takes.then(|| frames.admit(&united, key, value(key), &mut names)));
        }
        let mut maps = maps.into_iter();
        let annotated = modifications(document, store).map(|(number, ..)| number);
        for (number, key) in document.keys.iter().enumerate() {
            let bytes = value(key);
            if annotated == Some(number) {
                if let Some(rest) = rest_of_metadata(bytes, first_metadata) {
                    apart.push((key, rest));
                }
                continue;
            }
            if is_frames(&key) {
                if let Some(map) = maps.next().flatten() {
                    match frames.unite(&mut united, &key.key, bytes, map) {
                        Ok(()) => continue,
                        Err(id) => united.warnings.push(Warning::FramesKeptApart {
                            document: index + 1,
                            id: to_text(id),
                        }),
                    }
                }
            } else if string_is(&key.key, SAMPLES) {
                let takes = united.takes(SAMPLES, bytes);
                let value = match united.samples {
                    Some(_) if takes => united_value(key, bytes, &names),
                    _ => first_value(key, bytes, &names),
                };
                if value.len() == 1 && is_known(key) {
                    continue;
                }
                if takes {
                    united.append(SAMPLES, &key.key, value);
                    continue;
                }
            } else if is_known(key) {
                continue;
            }
            apart.push((key, vec![Cow::Borrowed(bytes)]));
        }
        if !apart.is_empty() {
            extras.push(index + 1, apart);
        }
    }
    if let Some(value) = extras.finish() {
        let name = free_name(&united);
        united.keys.push(OutputKey { name, value });
    }
    united
}

/// Returns the text `within` samples with renamed ids and shifted times, or `None` if nothing
/// changes.
fn changed_samples<'p>(
    key: &KeyValue,
    bytes: &'p [u8],
    within: &'p [u8],
    names: &FrameNames<'_>,
) -> Option<Vec<Cow<'p, [u8]>>> {
    let unit = names.unit_at(key.offset).filter(|unit| unit.changes())?;
    if !string_is(&key.key, SAMPLES) || !bytes.starts_with(b"[") {
        return None;
    }
    Some(renamed_samples(bytes, within, unit)).filter(|pieces| pieces.len() > 1)
}

/// Returns the value of a key that no earlier document has.
fn first_value<'p>(key: &KeyValue, bytes: &'p [u8], names: &FrameNames<'_>) -> Vec<Cow<'p, [u8]>> {
    let changed = changed_samples(key, bytes, bytes, names);
    changed.unwrap_or_else(|| vec![Cow::Borrowed(bytes)])
}

/// Returns the list to append to the same key of an earlier document.
fn united_value<'p>(key: &KeyValue, bytes: &'p [u8], names: &FrameNames<'_>) -> Vec<Cow<'p, [u8]>> {
    match changed_samples(key, bytes, inner(bytes), names) {
        None => vec![Cow::Borrowed(bytes)],
        Some(pieces) => {
            let mut value = vec![Cow::Owned(b"[".to_vec())];
            value.extend(pieces);
            value.push(Cow::Owned(b"]".to_vec()));
            value
        }
    }
}

/// Returns the metadata of a later document without its annotations. Returns `None` if that is
/// empty or equal to the metadata of the first document.
fn rest_of_metadata<'p>(metadata: &'p [u8], first: &'p [u8]) -> Option<Vec<Cow<'p, [u8]>>> {
    let rest = without(metadata, b"modifications")?;
    let first = without(first, b"modifications").unwrap_or_else(|| vec![first]);
    let is_same = rest.iter().copied().flatten().eq(first.iter().copied().flatten());
    let is_empty = members(metadata).all(|(key, _)| string_is(key, b"modifications"));
    (!is_same && !is_empty).then(|| rest.into_iter().map(Cow::Borrowed).collect())
}

fn plain(key: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    tracemill_tokenizer::unescape(&key[1..key.len() - 1], &mut plain);
    plain
}

/// The keys of the first document with their values.
#[derive(Default)]
struct FirstValues<'p>(HashMap<KeyHead<'p>, Vec<&'p [u8]>>);

/// The name of a key, the length of its value, and the start of the value.
type KeyHead<'v> = (Vec<u8>, usize, &'v [u8]);

impl<'p> FirstValues<'p> {
    /// Number of bytes hashed per value, because a value may be most of a trace.
    const HEAD: usize = 64;

    fn of(document: &Document, store: &Store<'p>) -> Self {
        let mut known = FirstValues::default();
        for key in &document.keys {
            let value = store.slice(key.offset, key.len);
            known.0.entry(FirstValues::look_up(&key.key, value)).or_default().push(value);
        }
        known
    }

    fn look_up<'v>(key: &[u8], value: &'v [u8]) -> KeyHead<'v> {
        (plain(key), value.len(), &value[..value.len().min(Self::HEAD)])
    }

    /// Returns whether the first document has a key with this decoded name and exactly this value.
    fn has(&self, key: &[u8], value: &'p [u8]) -> bool {
        let values = self.0.get(&FirstValues::look_up(key, value));
        values.is_some_and(|values| values.contains(&value))
    }
}

/// Returns `"tracemill"`, with a number if that name is taken.
pub fn free_name(united: &MergedKeys<'_>) -> Vec<u8> {
    free_among(united.keys.iter().map(|key| &*key.name))
}

fn free_among<'k>(keys: impl Iterator<Item = &'k [u8]>) -> Vec<u8> {
    let taken: HashSet<Vec<u8>> =
        keys.map(plain).filter(|key| key.starts_with(b"tracemill")).collect();
    let mut name = "tracemill".to_owned();
    let mut number = 2;
    while taken.contains(name.as_bytes()) {
        name = format!("tracemill.{number}");
        number += 1;
    }
    format!("\"{name}\"").into_bytes()
}

/// Builder of `{"inputs":[{"index":1,"keys":{…}},…]}`, with few pieces because an input may consist
/// of many small documents.
#[derive(Default)]
struct PerInputKeys<'p> {
    value: Vec<Cow<'p, [u8]>>,
    /// Text that is not part of the value yet.
    buffer: Vec<u8>,
}

impl<'p> PerInputKeys<'p> {
    /// Maximum length of input values that are copied rather than borrowed.
    const SHORT: usize = 64;
    /// Length at which a synthetic piece is complete.
    const PIECE: usize = 1 << 20;

    fn push(&mut self, index: usize, keys: Vec<(&KeyValue, Vec<Cow<'p, [u8]>>)>) {
        let is_first = self.value.is_empty() && self.buffer.is_empty();
        let before = if is_first { "{\"inputs\":[" } else { "," };
        let opening = format!("{before}{{\"index\":{index},\"keys\":{{");
        self.buffer.extend_from_slice(opening.as_bytes());
        for (number, (key, bytes)) in keys.into_iter().enumerate() {
            self.buffer.extend_from_slice(if number > 0 { b"," } else { b"" });
            self.buffer.extend_from_slice(&key.key);
            self.buffer.push(b':');
            for piece in bytes {
                match piece {
                    Cow::Borrowed(input) if input.len() > Self::SHORT => {
                        self.flush();
                        self.value.push(piece);
                    }
                    _ => self.buffer.extend_from_slice(&piece),
                }
            }
        }
        self.buffer.extend_from_slice(b"}}");
        if self.buffer.len() >= Self::PIECE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.value.extend((!buffer.is_empty()).then_some(Cow::Owned(buffer)));
    }

    /// Returns the value, if any keys were added.
    fn finish(mut self) -> Option<Vec<Cow<'p, [u8]>>> {
        if self.value.is_empty() && self.buffer.is_empty() {
            return None;
        }
        self.buffer.extend_from_slice(b"]}");
        self.flush();
        Some(self.value)
    }
}

impl<'p> MergedKeys<'p> {
    /// Returns the keys of the first document, prepared for merging the keys of `later` documents.
    fn of(
        first: &Document,
        later: &[Document],
        store: &Store<'p>,
        names: &mut FrameNames<'_>,
        annotated: bool,
    ) -> Self {
        let mut united = MergedKeys::default();
        for key in &first.keys {
            let bytes = store.slice(key.offset, key.len);
            if string_is(&key.key, STACK_FRAMES) {
                names.admit(bytes, key.offset, false);
            }
            let value = first_value(key, bytes, names);
            united.keys.push(OutputKey { name: key.key.to_vec(), value });
        }
        if annotated {
            united.find_modifications(first, later, store);
        } else if let Some((number, metadata, _)) = modifications(first, store) {
            let left = without(metadata, b"modifications").into_iter().flatten();
            united.keys[number].value = left.map(Cow::Borrowed).collect();
        }
        united.stack_frames = united.position(STACK_FRAMES);
        united.samples = united.position(SAMPLES);
        united
    }

    /// Returns a warning about keys that the format cannot hold.
    pub fn lost_to(&self, format: Format) -> Option<Warning> {
        if format != Format::Array || self.keys.is_empty() {
            return None;
        }
        let names = self.keys.iter().map(|key| String::from_utf8_lossy(&key.name).into_owned());
        Some(Warning::KeysLost(names.collect()))
    }

    /// Adds `value` to `metadata`, under the name `tracemill` or the next free name. Creates
    /// `metadata` if needed.
    pub fn note(&mut self, value: Vec<u8>) {
        const METADATA: &[u8] = b"metadata";
        let Some(at) = self.position(METADATA) else {
            let name = b"\"metadata\"".to_vec();
            let value = [b"{\"tracemill\":", &*value, b"}"].concat();
            return self.keys.push(OutputKey { name, value: vec![Cow::Owned(value)] });
        };
        let whole = &mut self.keys[at].value;
        if !is_within(whole, *b"{}") {
            let name = free_name(self);
            return self.keys.push(OutputKey { name, value: vec![Cow::Owned(value)] });
        }
        let metadata = &*whole.concat();
        let name = free_among(members(metadata).map(|(key, _)| key));
        let close = open(whole);
        whole.push(Cow::Owned([&*name, b":", &*value].concat()));
        whole.push(Cow::Owned(close));
    }

    /// Puts DevTools' annotations into a piece of their own, or inserts an empty piece if only
    /// later documents have some.
    fn find_modifications(&mut self, first: &Document, later: &[Document], store: &Store<'p>) {
        if let Some((number, metadata, text)) = modifications(first, store) {
            let start = text.as_ptr() as usize - metadata.as_ptr() as usize;
            let pieces = [&metadata[..start], text, &metadata[start + text.len()..]];
            self.keys[number].value = pieces.map(Cow::Borrowed).into();
            self.modifications = Some((number, 1));
            return;
        }
        if later.iter().any(|document| modifications(document, store).is_some()) {
            self.modifications = Some(self.place_for_modifications());
        }
    }

    /// Inserts an empty piece for DevTools' annotations into `metadata`, which is created if
    /// needed.
    fn place_for_modifications(&mut self) -> (usize, usize) {
        let is_object = |at: &usize| is_within(&self.keys[*at].value, *b"{}");
        let at = self.position(b"metadata").filter(is_object).unwrap_or_else(|| {
            let value = vec![Cow::from(&b"{}"[..])];
            self.keys.push(OutputKey { name: b"\"metadata\"".to_vec(), value });
            self.keys.len() - 1
        });
        let whole = &mut self.keys[at].value;
        let close = open(whole);
        whole.push(Cow::Owned(b"\"modifications\":".to_vec()));
        let place = (at, whole.len());
        whole.extend([Cow::Owned(Vec::new()), Cow::Owned(close)]);
        place
    }

    /// Sets the text of DevTools' annotations.
    pub(crate) fn put_modifications(&mut self, text: Vec<u8>) {
        let (key, piece) = self.modifications.unwrap_or_else(|| self.place_for_modifications());
        self.keys[key].value[piece] = Cow::Owned(text);
    }

    /// Returns a copy for one of several output files. `replaced` is the index of a key and its new
    /// value.
    pub fn for_part(&self, replaced: Option<(usize, Vec<u8>)>) -> Self {
        let (at, mut value) = replaced.unzip();
        let key =
            |(number, key): (usize, &OutputKey<'p>)| match value.take_if(|_| at == Some(number)) {
                Some(value) => OutputKey { name: key.name.clone(), value: vec![Cow::Owned(value)] },
                None => key.clone(),
            };
        let keys = self.keys.iter().enumerate().map(key).collect();
        MergedKeys { warnings: Vec::new(), keys, ..*self }
    }

    fn position(&self, name: &[u8]) -> Option<usize> {
        self.keys.iter().rposition(|key| string_is(&key.name, name))
    }

    /// Returns the stored index of the key `name`, into which later documents are merged.
    fn shared(&mut self, name: &[u8]) -> &mut Option<usize> {
        if name == SAMPLES { &mut self.samples } else { &mut self.stack_frames }
    }

    /// Returns whether `value` can be merged with the stored value of the key `name`, because both
    /// values have the right brackets.
    fn takes(&mut self, name: &[u8], value: &'p [u8]) -> bool {
        let brackets = if name == SAMPLES { *b"[]" } else { *b"{}" };
        let shared = self.shared(name).map(|at| &*self.keys[at].value);
        is_within(&[Cow::Borrowed(value)], brackets)
            && shared.is_none_or(|shared| is_within(shared, brackets))
    }

    /// Appends the content of an array or object to the key `name`. If there is no such key, adds
    /// one with the name `written`.
    fn append(&mut self, name: &[u8], written: &[u8], mut value: Vec<Cow<'p, [u8]>>) {
        let next = self.keys.len();
        let at = *self.shared(name).get_or_insert(next);
        if at == next {
            self.keys.push(OutputKey { name: written.to_vec(), value });
            return;
        }
        if let [Cow::Borrowed(bytes)] = value[..] {
            let more = inner(bytes);
            if more.is_empty() {
                return;
            }
            value = vec![Cow::Borrowed(more)];
        } else {
            // `united_value` has added brackets
            value.pop();
            value.remove(0);
            if value.iter().all(|piece| piece.is_empty()) {
                return;
            }
        }
        let whole = &mut self.keys[at].value;
        let close = open(whole);
        whole.extend(value);
        whole.push(Cow::Owned(close));
    }
}

/// Returns whether a value starts and ends with these brackets. A damaged value may have text after
/// its closing bracket.
fn is_within(value: &[Cow<'_, [u8]>], [open, close]: [u8; 2]) -> bool {
    let first = value.first().and_then(|piece| piece.first());
    let last = value.last().and_then(|piece| piece.last());
    first == Some(&open) && last == Some(&close)
}

/// Returns the content of an array or object, trimmed.
fn inner(value: &[u8]) -> &[u8] {
    value[1..value.len() - 1].trim_ascii()
}
