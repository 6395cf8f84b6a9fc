//! Reading all inputs of a run: open, scan, hand the findings on, chunk by chunk. The same for every verb.
//!
//! A `.cpuprofile` is scanned like a trace, which finds its keys and no events; then its events are made and read as a
//! stream behind it (`profiles`).

mod numbers;
mod profiles;

pub(crate) use profiles::FOR_DEVTOOLS;

use crate::around::Around;
use crate::check::CheckFor;
use crate::config::{Config, Progress, Shares, Source};
use crate::error::{Error, ErrorKind};
use crate::input::spool::{self, Limits, Spool, Spooled};
use crate::input::{self, Input, Opened, Original};
use crate::losses::{Example, InputReport};
use crate::outline::{Document, Facts};
use crate::profile::{Identities, Started, is_profile};
use crate::scan::{Collect, Plan, scan};
use crate::store::{Long, Payload, Store};
pub(crate) use numbers::{Doubt, Numbers};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracemill_tokenizer::{Form, Mapped, Tier, validate};

/// Makes a part for some bytes of the input that stands at a place.
pub(crate) type Maker<P> = Box<dyn Fn(u64, usize) -> P + Sync>;

/// Takes the findings of the inputs, in order.
pub(crate) trait Reader {
    /// The findings of one chunk.
    type Part: Collect + 'static;

    /// An empty part for some bytes of the input that stands at `base`.
    fn part(base: u64, bytes: usize) -> Self::Part;

    /// Makes empty parts on the workers: as [`Reader::part`], for readers that tell their parts more.
    fn maker(&self) -> Maker<Self::Part> {
        let part: fn(u64, usize) -> Self::Part = Self::part;
        Box::new(part)
    }

    /// An input of this name is read from here on.
    fn begin(&mut self, _name: &str) {}

    /// Takes a part; `current` is the input it is from, as far as it was read.
    fn take(&mut self, part: Self::Part, base: u64, current: Current<'_>) -> Result<(), Error>;

    /// Documents seen so far.
    fn documents(&mut self) -> &mut Vec<Document>;

    /// Whether the bytes of streams are needed after the scan.
    const KEEPS_STREAMS: bool;

    /// Places that are kept free before those of the inputs, for what is made later.
    const RESERVED: u64 = 0;
}

/// The payloads that exist while an input is read: those before it, and its own.
#[derive(Clone, Copy)]
pub(crate) struct Current<'a> {
    pub(crate) before: &'a [Held],
    pub(crate) base: u64,
    pub(crate) own: Own<'a>,
}

impl<'a> Current<'a> {
    /// Everything read so far as one address space.
    pub(crate) fn store(self, long: Vec<Long>) -> Store<'a> {
        let before = self.before.iter().map(|held| (held.base, &*held.payload));
        match self.own {
            Own::Mapped(mapped) => Store::with_map(before, self.base, mapped, long),
            Own::Payload(payload) => Store::new(before.chain([(self.base, payload)]), long),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Own<'a> {
    Mapped(&'a Arc<Mapped>),
    Payload(&'a Payload),
}

/// The bytes of an input, or the events made of one.
pub(crate) struct Held {
    /// The place at which it stands.
    pub(crate) base: u64,
    pub(crate) payload: Arc<Payload>,
    /// The number of its report.
    pub(crate) input: usize,
    /// Whether these are events that were made of a profile, or for one.
    pub(crate) made: bool,
}

/// All inputs of a run, read.
#[derive(Default)]
pub(crate) struct Inputs {
    /// In the order of their places.
    pub(crate) payloads: Vec<Held>,
    pub(crate) reports: Vec<InputReport>,
    pub(crate) spooled: u64,
    pub(crate) warnings: Vec<String>,
    /// Which event is which by its number.
    pub(crate) numbers: Numbers,
    /// The files among the inputs.
    originals: Vec<Original>,
}

impl Inputs {
    /// Whether every file is what it was when it was opened: the last word before an output gets its name.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] for the first that is not.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        for held in &self.payloads {
            if let Payload::Mapped(mapped) = &*held.payload
                && !mapped.is_intact()
            {
                let input = self.reports[held.input].name.clone();
                return Err(ErrorKind::Changed { input, how: input::LOST.to_owned() }.into());
            }
        }
        self.originals.iter().try_for_each(|original| original.check(None))
    }

    /// First and last time of all events.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        let spans = self.reports.iter().filter_map(|report| report.span);
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The input, and the place in it, of a place among all.
    pub(crate) fn locate(&self, offset: u64) -> (String, u64) {
        let after = self.payloads.partition_point(|held| held.base <= offset);
        match after.checked_sub(1).map(|at| &self.payloads[at]) {
            Some(held) => (self.reports[held.input].name.clone(), offset - held.base),
            None => (String::new(), offset),
        }
    }
}

/// Reads every source to its end.
pub(crate) fn read_all<R: Reader>(
    sources: &[Source],
    config: &Config,
    reader: &mut R,
) -> Result<Inputs, Error> {
    let inputs = input::expand(sources)?;
    expect_bytes(&inputs, config);
    let tier = config.tier.unwrap_or_else(Tier::best);
    let paths = inputs.iter().map(|input| input.source.path());
    let mut session = Session {
        config,
        tier,
        shares: config.shares(),
        read: Inputs::default(),
        identities: Identities::new(paths, &config.profiles, config.identity.pid),
        started: Vec::new(),
    };
    let mut base = R::RESERVED;
    for input in &inputs {
        base = session.read(input, base, reader)?;
    }
    if config.viewer.viewer == Some(CheckFor::Devtools) {
        session.add_browser_events(base, reader)?;
    }
    if session.read.reports.is_empty() && !inputs.is_empty() {
        let names: Vec<String> = sources.iter().map(Source::to_string).collect();
        let found = "no trace among the files of the folder".to_owned();
        let input = names.join(", ");
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    if inputs.is_empty() && !sources.is_empty() {
        let found = "the folder holds no files".to_owned();
        let input = sources[0].to_string();
        return Err(ErrorKind::NotATrace { input, offset: 0, found, around: None }.into());
    }
    Ok(session.read)
}

/// Reads a trace that was made, which lies in memory or is a map, into `reader`.
pub(crate) fn read_made<R: Reader>(
    text: &Payload,
    config: &Config,
    reader: &mut R,
    current: Current<'_>,
) -> Result<(), Error> {
    let Payload::Mapped(mapped) = text else { return Ok(()) };
    let plan = Plan {
        bytes: mapped,
        skip: 0,
        mapped: Some(mapped),
        tier: config.tier.unwrap_or_else(Tier::best),
        threads: config.threads,
        chunk: config.shares().chunk,
    };
    let (make, mut result) = (reader.maker(), Ok(()));
    scan(plan, &|| make(current.base, plan.chunk.min(mapped.len())), |part| {
        if result.is_ok() {
            result = reader.take(part, current.base, current);
        }
    });
    result
}

/// Sums up the sizes of files, for progress.
fn expect_bytes(inputs: &[Input], config: &Config) {
    let bytes = inputs.iter().map(size_of_input).sum();
    config.progress.bytes_expected.store(bytes, Ordering::Relaxed);
}

fn size_of_input(input: &Input) -> u64 {
    match &input.source {
        Source::Path(path) => std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
        Source::Stdin => 0,
    }
}

struct Session<'c> {
    config: &'c Config,
    tier: Tier,
    shares: Shares,
    read: Inputs,
    identities: Identities,
    /// The profiles read so far.
    started: Vec<Started>,
}

impl Session<'_> {
    /// Reads one input, which stands at `base`; returns where the next one stands.
    fn read<R: Reader>(&mut self, input: &Input, base: u64, reader: &mut R) -> Result<u64, Error> {
        let opened =
            input::open(input, self.config).and_then(|opened| self.check_strict(input, opened));
        let opened = match opened {
            Err(error) if input.found && matches!(error.kind(), ErrorKind::NotATrace { .. }) => {
                self.read.warnings.push(format!("left out: {error}"));
                return Ok(base);
            }
            opened => opened?,
        };
        let mut report = InputReport { name: input.name(), ..InputReport::default() };
        reader.begin(&report.name);
        let documents_before = reader.documents().len();
        let (payload, broken) = match opened {
            Opened::Empty => (Payload::Empty, None),
            Opened::Mapped { mapped, skip, original, encoding } => {
                report.encoding = encoding;
                report.bytes = mapped.len() as u64;
                self.check_size(base + report.bytes)?;
                let read = self.read_mapped(&mapped, skip, base, reader, &mut report);
                if let Some(original) = original {
                    original.check(Some(&mapped))?;
                    self.read.originals.push(original);
                }
                read?;
                (Payload::Mapped(mapped), None)
            }
            Opened::Stream { reader: stream, encoding, packed } => {
                report.encoding = encoding;
                self.expect_less(input);
                let (stream, keep) =
                    profiles::look(stream).map_err(|e| Error::read(input.name(), e))?;
                let keep = keep || R::KEEPS_STREAMS;
                let read = self.read_stream(stream, base, (keep, 0), reader, &mut report);
                if let Some((original, mapped)) = packed {
                    // nothing is read from it again
                    original.check(Some(&mapped))?;
                }
                let read = read?;
                report.bytes = read.bytes;
                (read.payload, read.broken)
            }
        };
        if let Some(broken) = broken {
            self.note_broken(&broken, &mut report)?;
        }
        let mut documents = reader.documents().split_off(documents_before);
        if let Err(error) = self.check_found(input, &report, &documents, &payload) {
            if !input.found || report.events > 0 {
                return Err(error);
            }
            self.read.warnings.push(format!("left out: {error}"));
            return Ok(base);
        }
        let lost = report.losses.first().map(|(_, example)| base + example.offset);
        self.read.numbers.end_input(&mut documents, lost, base + report.bytes);
        let found: Vec<Document> = documents.extract_if(.., |d| is_profile(d)).collect();
        let needed = report.events > 0 || !documents.is_empty();
        reader.documents().extend(documents);
        let next = base + report.bytes;
        self.check_size(next)?;
        let payload = Arc::new(payload);
        let number = self.read.reports.len();
        if found.is_empty() || needed {
            let payload = Arc::clone(&payload);
            self.read.payloads.push(Held { base, payload, input: number, made: false });
        }
        self.read.reports.push(report);
        self.read_profiles(input, &payload, (base, next), &found, reader)
    }

    /// How long a packed input is once it is unpacked, nobody knows: it is left out of what is expected.
    fn expect_less(&self, input: &Input) {
        let expected = &self.config.progress.bytes_expected;
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

    /// In a strict run every byte is looked at before anything else is done with it.
    fn check_strict(&self, input: &Input, opened: Opened) -> Result<Opened, Error> {
        if !self.config.strict {
            return Ok(opened);
        }
        let opened = match opened {
            Opened::Stream { mut reader, encoding, packed } => {
                let unpacked = spool::to_file(&mut *reader, &input.name(), self.config);
                if let Some((original, mapped)) = packed {
                    original.check(Some(&mapped))?;
                }
                match unpacked?.map(Arc::new) {
                    Some(mapped) => {
                        let skip = input::byte_order_mark(&mapped);
                        Opened::Mapped { mapped, skip, original: None, encoding }
                    }
                    None => Opened::Stream {
                        reader: Box::new(std::io::empty()),
                        encoding,
                        packed: None,
                    },
                }
            }
            opened => opened,
        };
        if let Opened::Mapped { mapped, skip, original, .. } = &opened
            && let Err(defect) = validate(&mapped[*skip..])
        {
            if let Some(original) = original {
                original.check(Some(mapped))?;
            }
            let offset = defect.offset + *skip as u64;
            let problem = format!("expected {}", defect.expected);
            let around = Some(Around::of(mapped, offset as usize));
            return Err(ErrorKind::Defect { input: input.name(), offset, problem, around }.into());
        }
        Ok(opened)
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
        let plan = Plan {
            bytes: mapped,
            skip,
            mapped: Some(mapped),
            tier: self.tier,
            threads: self.config.threads,
            chunk,
        };
        let progress = &self.config.progress;
        let mut result = Ok(());
        let mut numbers = std::mem::take(&mut self.read.numbers);
        let make = reader.maker();
        scan(plan, &|| make(base, chunk.min(mapped.len())), |mut part| {
            note_facts(&part.outline().facts, report);
            if result.is_ok() {
                let current =
                    Current { before: &self.read.payloads, base, own: Own::Mapped(mapped) };
                result = self
                    .stop_if_strict(report, Some(mapped))
                    .and_then(|()| take_part(reader, part, base, current, &mut numbers));
            }
            Progress::add(&progress.bytes_scanned, chunk.min(mapped.len()) as u64);
        });
        self.read.numbers = numbers;
        result
    }

    fn read_stream<R: Reader>(
        &mut self,
        stream: Box<dyn Read + Send>,
        base: u64,
        (keep, taken): (bool, u64),
        reader: &mut R,
        report: &mut InputReport,
    ) -> Result<Spooled, Error> {
        let held: u64 = self.read.payloads.iter().map(|held| held.payload.heap()).sum();
        let limits = Limits {
            payload: self.shares.payload.saturating_sub(held + taken),
            segment: self.shares.segment,
            keep,
        };
        let spool = Spool::new(self.config, report.name.clone(), self.tier, limits);
        let step_bytes = self.shares.segment;
        let make = reader.maker();
        let mut part = make(base, step_bytes);
        let mut pending = 0;
        let mut numbers = std::mem::take(&mut self.read.numbers);
        let read = spool.read(stream, &mut part, |part, payload, bytes, last| {
            pending += bytes;
            if pending < step_bytes as u64 && !last {
                return Ok(());
            }
            pending = 0;
            let mut full = std::mem::replace(part, make(base, step_bytes));
            full.seal();
            note_facts(&full.outline().facts, report);
            self.stop_if_strict(report, None)?;
            let current = Current { before: &self.read.payloads, base, own: Own::Payload(payload) };
            take_part(reader, full, base, current, &mut numbers)
        })?;
        self.read.numbers = numbers;
        self.read.spooled += read.spooled;
        Ok(read)
    }

    /// The grammar was checked already; what is left are shapes that are JSON but no trace.
    fn stop_if_strict(&self, report: &InputReport, mapped: Option<&[u8]>) -> Result<(), Error> {
        match report.losses.first() {
            Some((kind, example)) if self.config.strict => Err(ErrorKind::Defect {
                input: report.name.clone(),
                offset: example.offset,
                problem: kind.sentence().to_owned(),
                around: mapped.map(|bytes| Around::of(bytes, example.offset as usize)),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The packing broke off: what came before is kept.
    fn note_broken(&self, broken: &std::io::Error, report: &mut InputReport) -> Result<(), Error> {
        let packing = report.encoding.unwrap_or("packed");
        let excerpt = format!("the {packing} data breaks off: {broken}");
        let offset = report.bytes;
        if self.config.strict || report.events == 0 && offset == 0 {
            let input = report.name.clone();
            let around = None;
            return Err(ErrorKind::NotATrace { input, offset, found: excerpt, around }.into());
        }
        report.losses.add_broken(Example { offset, noticed: offset, bytes: 0, excerpt });
        Ok(())
    }

    /// Refuses an input in which there is nothing of a trace.
    fn check_found(
        &self,
        input: &Input,
        report: &InputReport,
        documents: &[Document],
        payload: &Payload,
    ) -> Result<(), Error> {
        let not_a_trace = |offset, found: &str| {
            let (input, found) = (input.name(), found.to_owned());
            let around = payload.around(offset);
            Err(ErrorKind::NotATrace { input, offset, found, around }.into())
        };
        let mut plain = documents
            .iter()
            .filter(|d| d.form == Form::Plain && !d.keys.is_empty() && !is_profile(d));
        let only_plain = |d: &Document| d.form == Form::Plain && !is_profile(d);
        if report.events == 0 && documents.iter().all(only_plain) {
            if plain.next().is_some() {
                return not_a_trace(0, "an object without traceEvents");
            }
            if let Some((_, example)) = report.losses.first()
                && documents.is_empty()
            {
                let found = "no event, no array and no object was found in it";
                return not_a_trace(example.offset, found);
            }
        }
        Ok(())
    }
}

/// Hands a part on, with its documents and events numbered over all inputs.
fn take_part<R: Reader>(
    reader: &mut R,
    mut part: R::Part,
    base: u64,
    current: Current<'_>,
    numbers: &mut Numbers,
) -> Result<(), Error> {
    let (events, documents) = (numbers.events(), reader.documents().len());
    numbers.append(&part.outline().facts, base);
    reader.take(part, base, current)?;
    reader.documents()[documents..].iter_mut().for_each(|document| document.first += events);
    Ok(())
}

fn note_facts(facts: &Facts, report: &mut InputReport) {
    report.events += facts.events;
    report.losses.append(facts.losses.clone());
    report.unclosed += facts.unclosed;
    report.odd_separators += facts.odd_separators;
    report.span = match (report.span, facts.span) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (a, b) => a.or(b),
    };
}
