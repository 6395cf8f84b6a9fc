//! Opens and scans inputs one after the other, and passes their chunks to the reader.

use super::expand::{Expand, Expanded, look};
use super::numbers::EventNumbers;
use super::reader::{ChunkStart, Current, InputBytes, InputPayload, InputStart, Inputs, Reader};
use super::remote;
use super::warning::InputWarning;
use crate::event::envelope::{ChunkStats, Document, KeyValue};
use crate::event::proof::{Proof, prove_keys};
use crate::input::packed::{Stretch, unpack};
use crate::input::source::Source;
use crate::input::spool::{Spool, SpoolLimits, Spooled};
use crate::input::{self, Input, OpenedInput};
use crate::read::pieces::{ChosenPieces, scan_pieces};
use crate::read::scan::{Collect, Plan, scan};
use crate::run::error::{Error, ErrorKind};
use crate::run::limits::{Limits, Progress, Quota, Shares};
use crate::run::losses::InputReport;
use crate::run::memory::Share;
use crate::spill::SpilledVec;
use crate::store::entry::Entry;
use crate::store::{Payload, Store};
use std::io::{Cursor, Read};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use tracemill_tokenizer::{Form, Mapped, Tier};

/// Whether the bytes of a stream are kept, and the room for them.
#[derive(Clone, Copy)]
struct Retention {
    keep: bool,
    /// Bytes of the room that are taken by other data.
    taken: u64,
}

pub(super) struct Session<'c> {
    pub(super) limits: &'c Limits,
    tier: Tier,
    shares: Shares,
    pub(super) read: Inputs,
    /// Quota for the documents of all inputs and their keys.
    beside: Quota,
    pub(super) expand: &'c mut dyn Expand,
    /// Byte ranges to read; `None` reads each input whole.
    pieces: Option<&'c ChosenPieces>,
    /// Whether all events of the current input are known to be JSON.
    is_json: bool,
    /// Error of the first file that was left out.
    pub(super) left_out: Option<Error>,
}

impl<'c> Session<'c> {
    /// Creates a session that continues after the inputs in `read`.
    pub(super) fn new(
        read: Inputs,
        pieces: Option<&'c ChosenPieces>,
        limits: &'c Limits,
        expand: &'c mut dyn Expand,
    ) -> Self {
        Session {
            limits,
            tier: limits.tier.unwrap_or_else(Tier::best),
            shares: limits.shares(),
            beside: limits.quota("documents and their keys", Share::of(1, 4)),
            read,
            expand,
            pieces,
            is_json: false,
            left_out: None,
        }
    }
}

impl Session<'_> {
    /// Reads one input. Its address range begins where the previous input ends.
    pub(super) fn read<R: Reader>(&mut self, input: &Input, reader: &mut R) -> Result<(), Error> {
        let base = self.read.end;
        let Some(opened) = self.open(input)? else { return Ok(()) };
        self.is_json = input.source.is_json();
        let mut report = InputReport { name: input.name(), ..InputReport::default() };
        report.lapses.mended = self.limits.repair;
        let number = self.read.reports.len();
        reader.begin(&InputStart { name: &report.name, number, synthetic: false });
        let documents_before = reader.documents().len();
        let (payload, broken) = match opened {
            OpenedInput::Empty => (Payload::Empty, None),
            OpenedInput::Mapped { mapped, skip, original, encoding } => {
                report.encoding = encoding;
                report.bytes = mapped.len() as u64;
                self.check_size(base + report.bytes)?;
                let read = match input.source.entries() {
                    Some(entries) if reader.takes_entries() => {
                        self.read_entries(entries, &mapped, base, reader, &mut report)
                    }
                    _ => self.read_mapped(&mapped, skip, base, reader, &mut report),
                };
                if let Some(original) = original {
                    original.check(Some(&mapped))?;
                    self.read.originals.push(original);
                }
                read?;
                (Payload::Mapped(mapped), None)
            }
            OpenedInput::Stream { reader: stream, encoding, packed, beyond } => {
                report.encoding = encoding;
                self.expect_less(input);
                let looked = look(stream, &*self.expand);
                let (stream, keep) = looked.map_err(|e| Error::read(input.name(), e))?;
                let keep = keep || reader.needs().input_bytes;
                let retention = Retention { keep, taken: 0 };
                let read = self.read_stream(stream, base, retention, reader, &mut report);
                if let Some((original, mapped)) = packed {
                    // the packed file is not read again
                    original.check(Some(&mapped))?;
                }
                let read = read?;
                (report.bytes, report.encoding) = (read.bytes, beyond.named(encoding));
                (read.payload, read.broken)
            }
        };
        if let Some(broken) = broken {
            self.note_broken(&broken, &mut report)?;
        }
        let mut documents = reader.documents().split_off(documents_before);
        if let Err(error) = self.check_found(input, &report, &documents, base, &payload) {
            return self.leave_out(error, input);
        }
        self.prove_plain(self.proof(reader), &mut documents, base, &payload, &mut report);
        let lost = report.losses.first().map(|(_, example)| base + example.offset);
        self.read.numbers.end_input(&mut documents, lost, base + report.bytes);
        let found: Vec<Document> = documents.extract_if(.., |d| self.expand.takes(d)).collect();
        let needed = report.events > 0 || !documents.is_empty();
        reader.documents().extend(documents);
        let next = base + report.bytes;
        self.check_size(next)?;
        let payload = Arc::new(payload);
        let number = self.read.reports.len();
        if found.is_empty() || needed {
            let (payload, synthetic) = (Arc::clone(&payload), false);
            self.read.payloads.push(InputPayload { base, payload, input: number, synthetic });
        }
        self.read.reports.push(report);
        self.read.end = self.read_profiles(input, &payload, base, next, &found, reader)?;
        Ok(())
    }

    /// Leaves out an input from a folder or list that is not a trace. Returns any other error.
    fn leave_out(&mut self, error: Error, input: &Input) -> Result<(), Error> {
        if !input.is_found() || !error.is_no_trace() {
            return Err(error);
        }
        InputWarning::leave_out(&mut self.read.warnings, error.to_string());
        self.left_out.get_or_insert(error);
        Ok(())
    }

    /// Opens an input. Returns `None` if it is not a trace and is left out.
    fn open(&mut self, input: &Input) -> Result<Option<OpenedInput>, Error> {
        if let Source::Remote(file) = &input.source {
            remote::fetch(file, self.pieces, self.limits)?;
        }
        let opened =
            input::open(input, self.limits).and_then(|opened| self.check_strict(input, opened));
        match opened {
            Ok(opened) => self.unpack_pieces(input, opened).map(Some),
            Err(error) => self.leave_out(error, input).map(|()| None),
        }
    }

    /// Unpacks the chosen byte ranges of a packed input; the input then reads like a plain file.
    fn unpack_pieces(&mut self, input: &Input, opened: OpenedInput) -> Result<OpenedInput, Error> {
        let unpacked = self.pieces.and_then(|chosen| chosen.unpacked.as_ref());
        let Some(unpacking) = unpacked else { return Ok(opened) };
        match opened {
            OpenedInput::Stream { encoding, packed: Some((original, file)), .. } => {
                let mapped = unpack(&input.name(), &file, unpacking, self.limits)?;
                self.read.spooled += unpacking.spans.iter().map(Stretch::bytes).sum::<u64>();
                original.check(Some(&file))?;
                let skip = input::byte_order_mark(&mapped);
                Ok(OpenedInput::Mapped { mapped, skip, original: Some(original), encoding })
            }
            opened => Ok(opened),
        }
    }

    /// Checks that the values of top-level keys are JSON, in documents without events. Skips CPU
    /// profiles, whose keys are read later.
    fn prove_plain(
        &self,
        proof: Proof,
        documents: &mut [Document],
        base: u64,
        payload: &Payload,
        report: &mut InputReport,
    ) {
        let Proof::Full { tier, mends } = proof else { return };
        let plain = |d: &&mut Document| d.form == Form::Plain && !self.expand.takes(d);
        let store = Store::new([(base, payload)].into_iter());
        let value = |key: &KeyValue| (store.slice(key.offset, key.len), key.offset - base);
        for document in documents.iter_mut().filter(plain) {
            prove_keys(document, tier, mends, value, report);
        }
    }

    /// Reads the events of the profiles in `found`. Returns the offset of the next input.
    fn read_profiles<R: Reader>(
        &mut self,
        input: &Input,
        payload: &Arc<Payload>,
        base: u64,
        mut next: u64,
        found: &[Document],
        reader: &mut R,
    ) -> Result<u64, Error> {
        let number = self.read.reports.len() - 1;
        let several = found.len() > 1;
        if let (Payload::Empty, [first, ..]) = (&**payload, found) {
            // bytes of a stream are kept only if its start looks like a profile
            let at = first.keys.first().map_or(0, |key| key.offset - base);
            self.read.warnings.push(InputWarning::ProfilesBehind {
                input: input.name(),
                profiles: found.len(),
                offset: at,
            });
            return Ok(next);
        }
        for (count, document) in found.iter().enumerate() {
            let document = within(document, base);
            let expanded = self.expand.expand(input.source.path(), payload, &document);
            let Expanded { events, heap, flaws, place } = expanded;
            let (input, number_of) = (input.name(), several.then_some(count + 1));
            let warning =
                place.map(|place| InputWarning::Profile { input, number: number_of, place });
            self.read.warnings.extend(warning);
            let retention = Retention { keep: reader.needs().synthetic_bytes, taken: heap };
            let name = &self.read.reports[number].name;
            reader.begin(&InputStart { name, number, synthetic: true });
            let mut events_report = self.read.reports[number].clone();
            let read = self.read_stream(events, next, retention, reader, &mut events_report)?;
            self.read.payloads.push(InputPayload {
                base: next,
                payload: Arc::new(read.payload),
                input: number,
                synthetic: true,
            });
            next += read.bytes;
            self.check_size(next)?;
            events_report.profiles += 1;
            events_report.flaws.append(&flaws.lock().unwrap_or_else(PoisonError::into_inner));
            self.stop_if_flawed(&events_report, payload)?;
            self.read.reports[number] = events_report;
        }
        Ok(next)
    }

    fn stop_if_flawed(&self, report: &InputReport, payload: &Payload) -> Result<(), Error> {
        match report.flaws.iter().find(|(kind, _)| kind.is_loss()) {
            Some((kind, flaw)) if self.limits.strict => Err(ErrorKind::Defect {
                input: report.name.clone(),
                offset: flaw.offset,
                problem: kind.sentence().to_owned(),
                // offsets of flaws in a `.cpuprofile` are relative to the file
                around: payload.around(flaw.offset),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Reads the trace that [`Expand::last`] adds after all inputs.
    pub(super) fn read_last<R: Reader>(&mut self, reader: &mut R) -> Result<(), Error> {
        let base = self.read.end;
        let spans = self.read.reports.iter().filter_map(|report| report.span);
        let first = spans.map(|(first, _)| first).min();
        let Some((name, events)) = self.expand.last(first) else { return Ok(()) };
        let mut report = InputReport { name: name.into(), ..InputReport::default() };
        let input = self.read.reports.len();
        reader.begin(&InputStart { name: &report.name, number: input, synthetic: false });
        let events = Box::new(Cursor::new(events));
        let retention = Retention { keep: reader.needs().synthetic_bytes, taken: 0 };
        let read = self.read_stream(events, base, retention, reader, &mut report)?;
        self.read.payloads.push(InputPayload {
            base,
            payload: Arc::new(read.payload),
            input,
            synthetic: true,
        });
        self.read.reports.push(report);
        Ok(())
    }

    /// Subtracts a packed input from the expected bytes, because its unpacked length is unknown.
    fn expect_less(&self, input: &Input) {
        let expected = &self.limits.progress.bytes_expected;
        expected.fetch_sub(
            size_of_input(input).min(expected.load(Ordering::Relaxed)),
            Ordering::Relaxed,
        );
    }

    fn check_size(&self, bytes: u64) -> Result<(), Error> {
        if bytes >= Store::MOST {
            return Err(ErrorKind::TooLarge { bytes, most: Store::MOST }.into());
        }
        Ok(())
    }

    /// Returns the treatment of events that are not JSON.
    fn proof<R: Reader>(&self, reader: &R) -> Proof {
        match reader.needs().proof && !self.limits.strict {
            true if !self.is_json => Proof::Full { tier: self.tier, mends: self.limits.repair },
            _ => Proof::Partial,
        }
    }

    fn read_mapped<R: Reader>(
        &mut self,
        mapped: &Arc<Mapped>,
        skip: usize,
        base: u64,
        reader: &mut R,
        report: &mut InputReport,
    ) -> Result<(), Error> {
        let chunk = self.shares.chunk;
        let _workers = self.limits.scan_lease(chunk, self.limits.threads);
        let plan = Plan {
            bytes: mapped,
            skip,
            mapped: Some(mapped),
            tier: self.tier,
            threads: self.limits.threads,
            chunk,
            proof: self.proof(reader),
        };
        let progress = &self.limits.progress;
        if let Some(pieces) = self.pieces {
            let bytes = pieces.pieces.iter().map(|piece| piece.bytes(mapped.len() as u64)).sum();
            progress.bytes_expected.store(bytes, Ordering::Relaxed);
        }
        // the length of the head is known only after it is scanned
        let mut is_head = self.pieces.is_some();
        let mut numbers = std::mem::take(&mut self.read.numbers);
        let start = reader.starter();
        let new = || start(&ChunkStart { base, len_hint: chunk.min(mapped.len()) });
        let take = |mut part: R::Chunk, bytes: u64| {
            self.limits.cancel.check()?;
            note_stats(&part.envelope().stats, report);
            if std::mem::take(&mut is_head) {
                Progress::add(&progress.bytes_expected, bytes);
            }
            Progress::add(&progress.bytes_scanned, bytes);
            self.stop_if_strict(report, Some(mapped))?;
            let current =
                Current { before: &self.read.payloads, base, bytes: InputBytes::Mapped(mapped) };
            take_part(reader, part, base, current, &mut numbers, &self.beside)
        };
        let result = read_plan(plan, self.pieces, &new, take);
        self.read.numbers = numbers;
        result
    }

    /// Builds the chunks of a memory-mapped input from the known entries of its events, without a
    /// scan.
    fn read_entries<R: Reader>(
        &mut self,
        entries: &SpilledVec<Entry>,
        mapped: &Arc<Mapped>,
        base: u64,
        reader: &mut R,
        report: &mut InputReport,
    ) -> Result<(), Error> {
        const CHUNK: usize = 1 << 16;
        let mut numbers = std::mem::take(&mut self.read.numbers);
        let current =
            Current { before: &self.read.payloads, base, bytes: InputBytes::Mapped(mapped) };
        let mut take = |reader: &mut R, mut chunk: R::Chunk| {
            self.limits.cancel.check()?;
            note_stats(&chunk.envelope().stats, report);
            take_part(reader, chunk, base, current, &mut numbers, &self.beside)
        };
        let mut list = reader.chunk_of_entries(base, &[]);
        list.document(Form::Array);
        let mut result = take(reader, list);
        let (mut entries, mut at_once) = (entries.iter().peekable(), Vec::new());
        while result.is_ok() && entries.peek().is_some() {
            at_once.clear();
            at_once.extend(entries.by_ref().take(CHUNK));
            let chunk = reader.chunk_of_entries(base, &at_once);
            result = take(reader, chunk);
        }
        self.read.numbers = numbers;
        result
    }

    fn read_stream<R: Reader>(
        &mut self,
        stream: Box<dyn Read + Send>,
        base: u64,
        retention: Retention,
        reader: &mut R,
        report: &mut InputReport,
    ) -> Result<Spooled, Error> {
        let held: u64 = self.read.payloads.iter().map(|held| held.payload.heap()).sum();
        let lease =
            || self.limits.lease("bytes of pipes and packed inputs", Share::of_payload(1, 1));
        let kept = self.read.kept.get_or_insert_with(lease).bytes();
        let _workers = self.limits.scan_lease(self.shares.segment, 1);
        let limits = SpoolLimits {
            payload: kept.saturating_sub(held + retention.taken),
            segment: self.shares.segment,
            keep: retention.keep,
            packed: report.encoding.is_some(),
            hurries: reader.needs().streams_output,
        };
        let (name, proof) = (report.name.clone(), self.proof(reader));
        let spool = Spool::new(self.limits, name, self.tier, proof, limits);
        let step_bytes = self.shares.segment;
        let start = reader.starter();
        let chunk = ChunkStart { base, len_hint: step_bytes };
        let mut part = start(&chunk);
        let mut pending = 0;
        let mut numbers = std::mem::take(&mut self.read.numbers);
        let read = spool.read(stream, &mut part, |part, payload, step| {
            self.limits.cancel.check()?;
            pending += step.bytes;
            let pauses = reader.needs().streams_output && step.pauses;
            if pending < step_bytes as u64 && !step.last && !pauses {
                return Ok(());
            }
            pending = 0;
            let mut full = std::mem::replace(part, start(&chunk));
            full.seal();
            note_stats(&full.envelope().stats, report);
            self.stop_if_strict(report, None)?;
            let current =
                Current { before: &self.read.payloads, base, bytes: InputBytes::Payload(payload) };
            take_part(reader, full, base, current, &mut numbers, &self.beside)
        })?;
        self.read.numbers = numbers;
        self.read.spooled += read.spooled;
        Ok(read)
    }
}

/// Scans an input, whole or in the given byte ranges.
fn read_plan<C: Collect>(
    plan: Plan<'_>,
    pieces: Option<&ChosenPieces>,
    new: &(dyn Fn() -> C + Sync),
    mut take: impl FnMut(C, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    match pieces {
        Some(chosen) => scan_pieces(plan, &chosen.pieces, new, take),
        None => scan(plan, new, |part| take(part, plan.chunk.min(plan.bytes.len()) as u64)),
    }
}

/// Returns the size of a file in bytes; 0 if the input is not a file.
pub(super) fn size_of_input(input: &Input) -> u64 {
    let metadata = input.source.file().and_then(|path| std::fs::metadata(path).ok());
    metadata.map_or(0, |metadata| metadata.len())
}

/// Returns a copy of a document with offsets relative to its input.
fn within(document: &Document, base: u64) -> Document {
    let mut document = document.clone();
    document.keys.iter_mut().for_each(|key| key.offset -= base);
    document
}

/// Merges a chunk into the reader, and numbers its events and documents across all inputs.
fn take_part<R: Reader>(
    reader: &mut R,
    mut part: R::Chunk,
    base: u64,
    current: Current<'_>,
    numbers: &mut EventNumbers,
    beside: &Quota,
) -> Result<(), Error> {
    beside.check(part.envelope().texts, "the name, the category and the ids of an event")?;
    beside.take(part.envelope().heap(), "documents and the keys in them")?;
    let (events, documents) = (numbers.events(), reader.documents().len());
    numbers.append(&part.envelope().stats, base)?;
    reader.merge(part, base, current)?;
    reader.documents()[documents..].iter_mut().for_each(|document| document.first += events);
    Ok(())
}

fn note_stats(stats: &ChunkStats, report: &mut InputReport) {
    report.events += stats.events;
    report.losses.append(stats.losses.clone());
    report.lapses.append(stats.lapses.clone());
    report.unclosed += stats.unclosed;
    report.odd_separators += stats.odd_separators;
    report.span = match (report.span, stats.span) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (a, b) => a.or(b),
    };
}
