//! What is no trace, or not as it should be in a strict run: errors instead of findings.

use super::session::Session;
use crate::around::Around;
use crate::envelope::Document;
use crate::error::{Error, ErrorKind};
use crate::input::spool;
use crate::input::{self, Input, Opened};
use crate::losses::{Example, InputReport};
use crate::store::Payload;
use std::sync::Arc;
use tracemill_tokenizer::{Form, validate};

impl Session<'_> {
    /// In a strict run every byte is looked at before anything else is done with it.
    pub(super) fn check_strict(&self, input: &Input, opened: Opened) -> Result<Opened, Error> {
        if !self.config.strict {
            return Ok(opened);
        }
        let opened = match opened {
            Opened::Stream { mut reader, encoding, packed, beyond } => {
                let unpacked = spool::to_file(&mut *reader, &input.name(), self.config);
                if let Some((original, mapped)) = packed {
                    original.check(Some(&mapped))?;
                }
                match unpacked?.map(Arc::new) {
                    Some(mapped) => {
                        let skip = input::byte_order_mark(&mapped);
                        let encoding = beyond.named(encoding);
                        Opened::Mapped { mapped, skip, original: None, encoding }
                    }
                    None => Opened::Stream {
                        reader: Box::new(std::io::empty()),
                        encoding,
                        packed: None,
                        beyond,
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

    /// The grammar was checked already; what is left are shapes that are JSON but no trace.
    pub(super) fn stop_if_strict(
        &self,
        report: &InputReport,
        mapped: Option<&[u8]>,
    ) -> Result<(), Error> {
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
    pub(super) fn note_broken(
        &self,
        broken: &std::io::Error,
        report: &mut InputReport,
    ) -> Result<(), Error> {
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
    pub(super) fn check_found(
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
