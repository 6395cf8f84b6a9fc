//! Returns errors for inputs that are not traces, and for defects in a strict run.

use super::session::Session;
use crate::event::envelope::{Document, KeyValue};
use crate::input::{self, Input, OpenedInput, spool};
use crate::run::around::Around;
use crate::run::error::{Error, ErrorKind};
use crate::run::losses::{Example, InputReport};
use crate::store::{Payload, Store};
use memchr::memmem;
use std::sync::Arc;
use tracemill_tokenizer::{Form, string_is, validate};

impl Session<'_> {
    /// In a strict run, checks that the whole input is valid JSON before it is scanned.
    pub(super) fn check_strict(
        &self,
        input: &Input,
        opened: OpenedInput,
    ) -> Result<OpenedInput, Error> {
        if !self.limits.strict {
            return Ok(opened);
        }
        let opened = match opened {
            OpenedInput::Stream { mut reader, encoding, packed, beyond } => {
                let unpacked = spool::to_file(&mut *reader, &input.name(), self.limits);
                if let Some((original, mapped)) = packed {
                    original.check(Some(&mapped))?;
                }
                match unpacked?.map(Arc::new) {
                    Some(mapped) => {
                        let skip = input::byte_order_mark(&mapped);
                        let encoding = beyond.named(encoding);
                        OpenedInput::Mapped { mapped, skip, original: None, encoding }
                    }
                    None => OpenedInput::Stream {
                        reader: Box::new(std::io::empty()),
                        encoding,
                        packed: None,
                        beyond,
                    },
                }
            }
            opened => opened,
        };
        if let OpenedInput::Mapped { mapped, skip, original, .. } = &opened
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

    /// In a strict run, returns an error for the first loss, which is valid JSON but not a trace.
    pub(super) fn stop_if_strict(
        &self,
        report: &InputReport,
        mapped: Option<&[u8]>,
    ) -> Result<(), Error> {
        match report.losses.first() {
            Some((kind, example)) if self.limits.strict => Err(ErrorKind::Defect {
                input: report.name.clone(),
                offset: example.offset,
                problem: kind.sentence().to_owned(),
                around: mapped.map(|bytes| Around::of(bytes, example.offset as usize)),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// Reports packed data that breaks off. The bytes before the break are kept.
    pub(super) fn note_broken(
        &self,
        broken: &std::io::Error,
        report: &mut InputReport,
    ) -> Result<(), Error> {
        let packing = report.encoding.unwrap_or("packed");
        let excerpt = format!("the {packing} data breaks off: {broken}");
        let offset = report.bytes;
        if self.limits.strict || report.events == 0 && offset == 0 {
            let input = report.name.clone();
            let around = None;
            return Err(ErrorKind::NotATrace { input, offset, found: excerpt, around }.into());
        }
        report.losses.add_broken(Example { offset, noticed: offset, bytes: 0, excerpt });
        Ok(())
    }

    /// Returns an error for an input without any part of a trace.
    pub(super) fn check_found(
        &self,
        input: &Input,
        report: &InputReport,
        documents: &[Document],
        base: u64,
        payload: &Payload,
    ) -> Result<(), Error> {
        let not_a_trace = |offset, found: &str| {
            let mut found = found.to_owned();
            if report.encoding.is_none() && !payload.is_empty() {
                let bytes = Store::of_one(payload).from(0);
                found.extend(input::reading_inside(&input.source, bytes));
            }
            let input = input.name();
            let around = payload.around(offset);
            Err(ErrorKind::NotATrace { input, offset, found, around }.into())
        };
        if report.events == 0 {
            let store = Store::new([(base, payload)].into_iter());
            let foreign = documents.iter().find_map(|document| foreign_object(document, &store));
            if let Some(found) = foreign {
                return not_a_trace(0, found);
            }
        }
        let mut plain = documents
            .iter()
            .filter(|d| d.form == Form::Plain && !d.keys.is_empty() && !self.expand.takes(d));
        let only_plain = |d: &Document| d.form == Form::Plain && !self.expand.takes(d);
        if report.events == 0 && documents.iter().all(only_plain) {
            if plain.next().is_some() {
                return not_a_trace(
                    0,
                    "a JSON object without traceEvents; expected a traceEvents array, a CPU profile, or one event per line",
                );
            }
            if let Some((_, example)) = report.losses.first()
                && documents.is_empty()
            {
                let found = "no event, no array and no object was found; expected JSON";
                return not_a_trace(example.offset, found);
            }
        }
        Ok(())
    }
}

/// Returns the name of the foreign format that a JSON object has, judging by its keys.
fn foreign_object(document: &Document, store: &Store<'_>) -> Option<&'static str> {
    /// Maximum bytes of a call tree root that are searched.
    const ROOT: u64 = 4096;
    let key = |name: &[u8]| document.keys.iter().find(|key| string_is(&key.key, name));
    let has = |names: [&[u8]; 2]| names.iter().all(|name| key(name).is_some());
    let is_heap = |head: &KeyValue| {
        let root = store.copy(head.offset..head.offset + head.len.min(ROOT));
        memmem::find(&root, b"\"selfSize\"").is_some()
    };
    match () {
        () if document.form != Form::Plain => None,
        () if has([b"snapshot", b"edges"]) => {
            Some("a V8 heap snapshot; the Memory panel of DevTools opens it")
        }
        () if key(b"head").is_some_and(is_heap) => {
            Some("a V8 heap profile; the Memory panel of DevTools opens it")
        }
        () if has([b"shared", b"profiles"]) => {
            Some("a speedscope profile; name the trace that it was made of")
        }
        () if has([b"meta", b"threads"]) => {
            Some("a profile of the Firefox Profiler; name the trace that it was made of")
        }
        () => None,
    }
}
