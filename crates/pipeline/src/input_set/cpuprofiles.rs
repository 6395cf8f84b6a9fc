//! `.cpuprofile` inputs as the profiles that they are: no events are made of them.

use crate::config::{Config, PidPolicy};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tracemill_core::envelope::Document;
use tracemill_core::flaws::Flaws;
use tracemill_core::read::{Expand, Expanded};
use tracemill_core::store::{Payload, Store};
use tracemill_profile::{Chunk, Identities, Identity, ProfileReader, content};
use tracemill_tokenizer::string_is;

/// A `.cpuprofile`, and whose it is taken to be. Places are those in its input.
pub(super) struct CpuprofileInput {
    payload: Arc<Payload>,
    document: Document,
    pub(super) identity: Identity,
    /// The path of its input; empty for standard input.
    pub(super) input: String,
}

impl CpuprofileInput {
    pub(super) fn store(&self) -> Store<'_> {
        Store::of_one(&self.payload)
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.document.keys.iter().any(|key| string_is(&key.key, name))
    }

    /// The value of a key; the last one counts.
    pub(super) fn member(&self, name: &[u8]) -> Option<Box<[u8]>> {
        let key = self.document.keys.iter().rev().find(|key| string_is(&key.key, name))?;
        Some(self.store().slice(key.offset, key.len).into())
    }

    /// Its nodes.
    pub(super) fn tree(&self, store: &Store<'_>) -> Chunk {
        self.decode(&[b"head", b"nodes", b"trace_ids", b"traceIds"], store)
    }

    /// Its samples, and their times.
    pub(super) fn samples(&self, store: &Store<'_>) -> Chunk {
        self.decode(&[b"samples", b"timeDeltas", b"timestamps"], store)
    }

    fn decode(&self, names: &[&[u8]], store: &Store<'_>) -> Chunk {
        let mut chunk = Chunk::default();
        for &name in names {
            let keys = &self.document.keys;
            if let Some(key) = keys.iter().rev().find(|key| string_is(&key.key, name)) {
                chunk.read_member(name, store.slice(key.offset, key.len), key.offset);
            }
        }
        chunk.finish();
        chunk
    }
}

/// Takes whole profiles out of the inputs.
pub(crate) struct CpuprofileInputs {
    reader: ProfileReader,
    config: Config,
    identities: Option<Identities>,
    pub(super) found: Vec<CpuprofileInput>,
}

impl CpuprofileInputs {
    pub(crate) fn new(config: &Config) -> Self {
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
        let said = identity.said.take();
        self.found.push(CpuprofileInput {
            payload: Arc::clone(payload),
            document: document.clone(),
            identity,
            input: path.display().to_string(),
        });
        let flaws = Arc::new(Mutex::new(Flaws::default()));
        Expanded { events: Box::new(std::io::empty()), heap: 0, flaws, said }
    }

    fn last(&mut self, _first: Option<i64>) -> Option<(&'static str, Vec<u8>)> {
        None
    }
}
