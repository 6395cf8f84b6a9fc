//! `.cpuprofile` inputs, read as profiles without converting them to events.

use crate::config::{Config, PidPolicy};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tracemill_cpuprofile::{Chunk, Identities, Identity, ProfileReader, content};
use tracemill_tokenizer::{Cursor, string_is};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::read::{Expand, Expanded};
use tracemill_trace::run::flaws::Flaws;
use tracemill_trace::store::{Payload, Store};

/// A `.cpuprofile` and its process. Offsets are relative to the start of the input.
pub(super) struct CpuprofileInput {
    payload: Arc<Payload>,
    document: Document,
    pub(super) identity: Identity,
    /// Path of the input; empty for standard input.
    pub(super) input: String,
}

impl CpuprofileInput {
    pub(super) fn store(&self) -> Store<'_> {
        Store::of_one(&self.payload)
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.document.keys.iter().any(|key| string_is(&key.key, name))
    }

    /// Returns a copy of the last value of a key, or `None` if the key is missing.
    pub(super) fn member(&self, name: &[u8]) -> Option<Box<[u8]>> {
        Some(self.value(name, &self.store())?.0.into())
    }

    pub(super) fn tree(&self, store: &Store<'_>) -> Chunk {
        let mut chunk = Chunk::default();
        for name in [&b"head"[..], b"nodes", b"trace_ids", b"traceIds"] {
            if let Some((value, offset)) = self.value(name, store) {
                chunk.read_member(name, value, offset);
            }
        }
        chunk
    }

    /// Decodes the samples and their time deltas, at most `most` at a time. Absolute times come
    /// last, in one chunk.
    pub(super) fn samples<'s>(
        &self,
        store: &'s Store<'_>,
        most: usize,
    ) -> impl Iterator<Item = Chunk> + Send + use<'s> {
        let [mut ids, mut deltas] =
            [&b"samples"[..], b"timeDeltas"].map(|name| self.list(name, store));
        let mut times = self.value(b"timestamps", store);
        std::iter::from_fn(move || {
            let mut chunk = Chunk::default();
            let used = [
                chunk.read_samples(ids.0, ids.1, most),
                chunk.read_deltas(deltas.0, deltas.1, most),
            ];
            for (list, used) in [&mut ids, &mut deltas].into_iter().zip(used) {
                *list = (&list.0[used..], list.1 + used as u64);
            }
            if chunk.samples.is_empty() && chunk.deltas.is_empty() {
                let (value, offset) = times.take()?;
                chunk.read_member(b"timestamps", value, offset);
                chunk.finish();
            }
            Some(chunk)
        })
    }

    /// Returns the text inside a list and its offset; empty if the value is not a list.
    fn list<'s>(&self, name: &[u8], store: &'s Store<'_>) -> (&'s [u8], u64) {
        let (value, offset) = self.value(name, store).unwrap_or_default();
        let mut cursor = Cursor::new(value);
        let start = if cursor.enter(b'[') { cursor.offset() } else { value.len() };
        (&value[start..], offset + start as u64)
    }

    /// Returns the last value of a key and its offset, or `None` if the key is missing.
    fn value<'s>(&self, name: &[u8], store: &'s Store<'_>) -> Option<(&'s [u8], u64)> {
        let key = self.document.keys.iter().rev().find(|key| string_is(&key.key, name))?;
        Some((store.slice(key.offset, key.len), key.offset))
    }
}

/// Collects `.cpuprofile` inputs during a scan, so that they are not expanded into events.
pub struct CpuprofileInputs {
    reader: ProfileReader,
    config: Config,
    identities: Option<Identities>,
    pub(super) found: Vec<CpuprofileInput>,
}

impl CpuprofileInputs {
    /// Creates a collector with the rules of a run.
    pub fn new(config: &Config) -> Self {
        let one_process = config.identity.pid == PidPolicy::One;
        let reader = ProfileReader::new(&config.profiles, one_process, false);
        CpuprofileInputs { reader, config: config.clone(), identities: None, found: Vec::new() }
    }

    fn identities(&self, paths: &mut dyn Iterator<Item = &Path>) -> Identities {
        let one_process = self.config.identity.pid == PidPolicy::One;
        Identities::new(paths, &self.config.profiles, one_process)
    }
}

impl Expand for CpuprofileInputs {
    fn begin(&mut self, paths: &mut dyn Iterator<Item = &Path>) {
        self.identities = Some(self.identities(paths));
    }

    fn may_take(&self, first: &[u8]) -> bool {
        self.reader.may_take(first)
    }

    fn takes(&self, document: &Document) -> bool {
        self.reader.takes(document)
    }

    fn expand(&mut self, path: &Path, payload: &Arc<Payload>, document: &Document) -> Expanded {
        let content = content(document, &Store::of_one(payload));
        let none = self.identities(&mut std::iter::empty());
        let mut identity = self.identities.get_or_insert(none).next(path, &content);
        let place = identity.place.take();
        self.found.push(CpuprofileInput {
            payload: Arc::clone(payload),
            document: document.clone(),
            identity,
            input: path.display().to_string(),
        });
        let flaws = Arc::new(Mutex::new(Flaws::default()));
        Expanded { events: Box::new(std::io::empty()), heap: 0, flaws, place }
    }

    fn last(&mut self, _first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}
