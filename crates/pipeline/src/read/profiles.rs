//! `.cpuprofile` inputs: found among the documents of an input, made into events, read like any stream.

use super::{Held, Reader, Session};
use crate::error::{Error, ErrorKind};
use crate::flaws::Flaws;
use crate::input::Input;
use crate::losses::InputReport;
use crate::outline::Document;
use crate::profile::{Events, browser_events, content};
use crate::store::{Payload, Store};
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a stream that are looked at.
const LOOK: u64 = 256;
/// Keys that profiles begin with.
const KEYS: [&[u8]; 10] = [
    b"\"nodes\"",
    b"\"head\"",
    b"\"startTime\"",
    b"\"endTime\"",
    b"\"samples\"",
    b"\"timeDeltas\"",
    b"\"timestamps\"",
    b"\"typeId\"",
    b"\"title\"",
    b"\"$vscode\"",
];
/// What the input is called that is made for DevTools.
pub(crate) const FOR_DEVTOOLS: &str = "--for devtools";

/// Whether a stream may be a profile by its first bytes: then it must be kept until it is known.
pub(super) fn look(mut stream: Box<dyn Read + Send>) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let mut first = Vec::new();
    let mut failure = None;
    if let Err(error) = (&mut stream).take(LOOK).read_to_end(&mut first) {
        // what is packed may break off: that shows again where it is read on
        failure = Some(error);
    }
    let text = first.trim_ascii_start();
    let key = text.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_profile = key.is_some_and(|key| KEYS.iter().any(|known| key.starts_with(known)));
    let rest: Box<dyn Read + Send> = match failure {
        None => stream,
        Some(error) => Box::new(Broken(Some(error))),
    };
    Ok((Box::new(Cursor::new(first).chain(rest)), is_profile))
}

/// A stream that has failed.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl Session<'_> {
    /// Reads the events of the profiles `found` in an input that stands from `base` to `next`; returns where the next
    /// input stands.
    pub(super) fn read_profiles<R: Reader>(
        &mut self,
        input: &Input,
        payload: &Arc<Payload>,
        (base, mut next): (u64, u64),
        found: &[Document],
        reader: &mut R,
    ) -> Result<u64, Error> {
        let number = self.read.reports.len() - 1;
        let several = found.len() > 1;
        for (count, document) in found.iter().enumerate() {
            let document = within(document, base);
            let store = Store::of_one(payload);
            let content = content(&document, &store);
            let identity = self.identities.next(input.source.path(), &content);
            if let Some(said) = &identity.said {
                let which =
                    if several { format!(" (number {})", count + 1) } else { String::new() };
                self.read.warnings.push(format!("{}{which}: {said}", input.name()));
            }
            let flaws = Arc::new(Mutex::new(Flaws::default()));
            let events = Events::new(Arc::clone(payload), &document, identity, Arc::clone(&flaws));
            self.started.push(events.started());
            let keep = (R::KEEPS_STREAMS, events.heap());
            let mut events_report = self.read.reports[number].clone();
            let read =
                self.read_stream(Box::new(events), next, keep, reader, &mut events_report)?;
            self.read.payloads.push(Held {
                base: next,
                payload: Arc::new(read.payload),
                input: number,
                made: true,
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
            Some((kind, flaw)) if self.config.strict => Err(ErrorKind::Defect {
                input: report.name.clone(),
                offset: flaw.offset,
                problem: kind.sentence().to_owned(),
                // offsets of a .cpuprofile's own flaws are within it
                around: payload.around(flaw.offset),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The events by which DevTools shows the main thread of the profiles as such.
    pub(super) fn add_browser_events<R: Reader>(
        &mut self,
        base: u64,
        reader: &mut R,
    ) -> Result<(), Error> {
        let spans = self.read.reports.iter().filter_map(|report| report.span);
        let Some(events) = browser_events(&self.started, spans.map(|(first, _)| first).min())
        else {
            return Ok(());
        };
        let mut report = InputReport { name: FOR_DEVTOOLS.into(), ..InputReport::default() };
        reader.begin(&report.name);
        let events = Box::new(Cursor::new(events));
        let read = self.read_stream(events, base, (R::KEEPS_STREAMS, 0), reader, &mut report)?;
        let input = self.read.reports.len();
        self.read.payloads.push(Held { base, payload: Arc::new(read.payload), input, made: true });
        self.read.reports.push(report);
        Ok(())
    }
}

/// A document with places in its input instead of among all.
fn within(document: &Document, base: u64) -> Document {
    let mut document = document.clone();
    document.keys.iter_mut().for_each(|key| key.offset -= base);
    document
}
