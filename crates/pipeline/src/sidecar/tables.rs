//! Small tables as sections: documents, keys, threads, places.

use super::build::Built;
use super::look::Listed;
use super::pages::{Rows, TEXT_MOST};
use std::io;
use tracemill_core::envelope::Document;
use tracemill_core::thread_table::ids_of_key;
use tracemill_index::{Writer, id};
use tracemill_tokenizer::Form;

/// Whether documents can be told one by one, and their keys have room. Neighbours that look alike may have been counted as one,
/// depending on where the input was cut.
pub(super) fn documents_fit(built: &Built) -> bool {
    let look = |document: &Document| {
        let keys = document.keys.iter().map(|key| (key.key.clone(), key.len));
        (document.form, keys.collect::<Vec<_>>())
    };
    let mut keys = built.documents.iter().flat_map(|document| &document.keys);
    let mut neighbours = built.documents.windows(2);
    built.documents.iter().all(|document| document.alike == 0)
        && neighbours.all(|pair| look(&pair[0]) != look(&pair[1]))
        && keys.all(|key| key.key.len() <= TEXT_MOST)
}

/// Whether the ids of all threads have room.
pub(super) fn threads_fit(built: &Built) -> bool {
    built.threads.entries().all(|thread| thread.key.len() <= TEXT_MOST)
}

pub(super) fn documents<W: io::Write>(built: &Built, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::section(id::DOCUMENTS))?;
    let mut rows = Rows::new();
    for document in &built.documents {
        let form = match document.form {
            Form::Array => 0,
            Form::Object => 1,
            Form::Ndjson => 2,
            Form::Plain => 3,
        };
        rows.push([form, document.first, document.events], &[], to)?;
    }
    rows.end_page(to)
}

pub(super) fn keys<W: io::Write>(built: &Built, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::section(id::KEYS))?;
    let mut rows = Rows::new();
    for (number, document) in built.documents.iter().enumerate() {
        for key in &document.keys {
            let row = [number as u64, key.offset, key.len, key.key.len() as u64];
            rows.push(row, &[&key.key], to)?;
        }
    }
    rows.end_page(to)
}

pub(super) fn threads<W: io::Write>(built: &Built, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::section(id::LANES))?;
    let mut rows = Rows::new();
    for thread in built.threads.entries() {
        let (pid, tid) = ids_of_key(thread.key);
        rows.push([pid.len() as u64, tid.len() as u64], &[pid, tid], to)?;
    }
    rows.end_page(to)
}

pub(super) fn places<W: io::Write>(built: &Built, to: &mut Writer<W>) -> io::Result<()> {
    to.section(id::section(id::PLACES))?;
    let mut rows = Rows::new();
    for Listed { place, len, kinds, sum } in built.places.iter() {
        rows.push([place, len, kinds, u64::from(sum)], &[], to)?;
    }
    rows.end_page(to)
}
