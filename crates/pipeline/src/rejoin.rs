//! Parts of one trace, all at once or some of them: its metadata and stack frames as the whole had them.
//!
//! Several parts have a metadata event of a thread that lives in all of them, and each part has of `stackFrames` what its
//! events name. All of these carry their numbers in the whole ([`crate::parts`]), so that they come in its order, each once.

use crate::numbered_metadata::Listed;
use crate::parts::{Numbers, PartStatement, frames_of};
use std::ops::Range;
use std::path::Path;
use tracemill_core::envelope::Document;
use tracemill_core::error::Error;
use tracemill_core::order::{ExternalSorter, Lists, METADATA, Order};
use tracemill_core::store::Store;
use tracemill_tokenizer::{Form, string_is};

/// Bytes of stack frames that are put into the order of the whole at most; `split` takes no more apart.
const FRAMES_MOST: usize = 8 << 20;

/// What all documents are together.
#[derive(Debug)]
pub(crate) struct Rejoined {
    /// As of one part; its numbers are all that there are.
    statement: PartStatement,
    /// For each document: where its events stand, and the numbers of its metadata.
    metadata: Vec<(Range<u64>, Numbers)>,
    /// The value of `stackFrames`.
    frames: Option<Vec<u8>>,
}

/// What is left of metadata events.
pub(crate) struct RemainingMetadata {
    pub(crate) lists: Lists,
    /// Events that more than one part had, and their bytes.
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

impl Rejoined {
    /// Joins documents by what each says, and where; `None` if they are not different parts of one trace. If all of them were parts
    /// of an array, the first has the form of an array again.
    pub(crate) fn of(
        statements: Vec<(PartStatement, u64)>,
        documents: &mut [Document],
        store: &Store<'_>,
    ) -> Option<Self> {
        let (first, _) = statements.first()?;
        let is_same = |(own, _): &(PartStatement, u64)| {
            (&own.of, own.parts, own.array) == (&first.of, first.parts, first.array)
        };
        let numbers = Numbers::united(statements.iter().map(|(own, _)| &own.numbers));
        let count: u64 = statements.iter().map(|(own, _)| own.numbers.count()).sum();
        let is_alone = documents.iter().all(|document| document.alike == 0);
        if !is_alone || !statements.iter().all(is_same) || count != numbers.count() {
            return None;
        }
        let all = |of: fn(&PartStatement) -> Option<&Numbers>| {
            let lists: Option<Vec<&Numbers>> = statements.iter().map(|(own, _)| of(own)).collect();
            lists.map(|lists| Numbers::united(lists.into_iter()))
        };
        let metadata = all(|own| own.metadata.as_ref());
        let frames = all(|own| own.frames.as_ref())
            .and_then(|all| Some((take_frames(&statements, documents, store)?, all)));
        let statement = PartStatement {
            of: first.of.clone(),
            parts: first.parts,
            array: first.array,
            numbers,
            metadata: metadata.clone(),
            frames: frames.as_ref().map(|frames| frames.1.clone()),
        };
        let ranges = ranges(&statements, documents);
        let own = statements.into_iter().filter_map(|(own, _)| own.metadata);
        let rejoined = Rejoined {
            metadata: metadata.map_or_else(Vec::new, |_| ranges.into_iter().zip(own).collect()),
            frames: frames.map(|frames| frames.0),
            statement,
        };
        if rejoined.statement.array && rejoined.still_a_part().is_none() {
            documents[0].form = Form::Array;
        }
        Some(rejoined)
    }

    /// What the output says of itself, if parts are missing.
    pub(crate) fn still_a_part(&self) -> Option<&PartStatement> {
        (self.statement.numbers.count() < self.statement.parts).then_some(&self.statement)
    }

    /// The stack frames of the whole, if the parts have them in numbers.
    pub(crate) fn take_frames(&mut self) -> Option<Vec<u8>> {
        self.frames.take()
    }

    /// Metadata events in the order of the whole, each once; those that no part says that it has come behind them. All stay as
    /// they are where a part does not have what it says.
    pub(crate) fn metadata(
        &self,
        lists: Lists,
        store: &Store<'_>,
        sorter: ExternalSorter<Listed>,
        tmp_dir: &Path,
    ) -> Result<RemainingMetadata, Error> {
        let mut left = RemainingMetadata { lists, events: 0, bytes: 0 };
        let mut numbers: Vec<_> = self.metadata.iter().map(|(_, own)| own.iter()).collect();
        let (order, mut sorter) = (Order(store), sorter);
        for (number, place) in (0..).zip(left.lists.of(METADATA)) {
            let of = self.metadata.partition_point(|(range, _)| range.end <= place.offset());
            let key = numbers.get_mut(of).and_then(Iterator::next).unwrap_or(u64::MAX);
            sorter.push(Listed { key, number, place }, order)?;
        }
        if numbers.iter_mut().any(|rest| rest.next().is_some()) || self.metadata.is_empty() {
            return Ok(left);
        }
        let sorted = sorter.finish(order)?;
        let mut before: Option<u64> = None;
        let (mut events, mut bytes) = (0, 0);
        let once = sorted.sorted(order).filter(|listed| {
            let again = listed.key != u64::MAX && before == Some(listed.key);
            before = Some(listed.key);
            events += u64::from(again);
            bytes += if again { store.len(listed.place) } else { 0 };
            !again
        });
        left.lists = left.lists.replace(METADATA, tmp_dir, once.map(|listed| listed.place))?;
        (left.events, left.bytes) = (events, bytes);
        Ok(left)
    }
}

/// Where the events of each document stand: before its key, in NDJSON behind it.
fn ranges(statements: &[(PartStatement, u64)], documents: &[Document]) -> Vec<Range<u64>> {
    let mut from = 0;
    let all = statements.iter().enumerate().map(|(number, &(_, at))| {
        let to = match documents[number].form {
            Form::Ndjson => statements.get(number + 1).map_or(u64::MAX, |next| next.1),
            _ => at,
        };
        std::mem::replace(&mut from, to)..to
    });
    all.collect()
}

/// The value of `stackFrames` of the whole, which only the first document still has then; `None` if a document does not have
/// what it says.
fn take_frames(
    statements: &[(PartStatement, u64)],
    documents: &mut [Document],
    store: &Store<'_>,
) -> Option<Vec<u8>> {
    let is_frames = |key: &[u8]| string_is(key, b"stackFrames");
    let mut all: Vec<(u64, &[u8])> = Vec::new();
    let mut len = 0;
    for (document, (own, _)) in documents.iter().zip(statements) {
        let mut values = document.keys.iter().filter(|key| is_frames(&key.key));
        let key = values.next().filter(|_| values.next().is_none())?;
        let value = store.slice(key.offset, key.len);
        len += value.len();
        let frames = frames_of(value);
        let numbers = own.frames.as_ref()?;
        if len > FRAMES_MOST || frames.len() as u64 != numbers.count() {
            return None;
        }
        all.extend(numbers.iter().zip(frames));
    }
    all.sort_unstable_by_key(|frame| frame.0);
    all.dedup_by_key(|frame| frame.0);
    documents[1..].iter_mut().for_each(|own| own.keys.retain(|key| !is_frames(&key.key)));
    let mut value = b"{".to_vec();
    for (number, (_, frame)) in all.iter().enumerate() {
        value.extend_from_slice(if number > 0 { b"," } else { b"" });
        value.extend_from_slice(frame);
    }
    value.push(b'}');
    Some(value)
}
