//! A whole trace to an output: opening, events, closing.

use crate::emit::Emit;
use crate::emit::streamed_output::StreamedOutput;
use crate::keys::merged_keys::MergedKeys;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_trace::output::Length;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;

impl Emit<'_, '_, '_> {
    /// Opening, events, closing; returns the bytes written, before packing. The lists and runs hold so many events, of so
    /// many bytes.
    ///
    /// `begun` has some of that already. `check` has the last word: the output appears only if it agrees.
    pub fn write_all(
        &self,
        united: &MergedKeys<'_>,
        (events, event_bytes): (u64, u64),
        (output, begun): (&OutputConfig, Option<Box<StreamedOutput>>),
        config: &Config,
        warnings: &mut Vec<Warning>,
        check: impl FnOnce() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let united = &united.repaired(config.repair);
        let opening = self.layout.opening(united);
        let closing_at = opening.len() as u64 + self.layout.events_len(events, event_bytes);
        let len = closing_at + self.layout.closing_len(united);
        let length = match self.layout.is_verbatim() {
            true => Length::Exactly(len),
            false => Length::Unknown,
        };
        let begun = match begun {
            Some(begun) => {
                if let Length::Exactly(len) = length {
                    begun.output.reserve(len)?;
                }
                *begun
            }
            None => StreamedOutput::new((self.layout, united), output, config, length)?,
        };
        debug_assert_eq!(begun.opening, opening.len() as u64);
        let written = self.write(&begun.output, begun.next, begun.events, config)?;
        debug_assert!(
            self.changes_lengths(config) || !self.layout.is_verbatim() || written.end == closing_at
        );
        let StreamedOutput { output: sink, events: before, mut breaks_escaped, .. } = begun;
        let mut buffer = Vec::new();
        let mut batch = sink.batch(written.batches, written.end, &mut buffer);
        let closing = self.layout.write_closing(united, events, &mut batch)?;
        batch.finish()?;
        let len = written.end + closing;
        sink.set_len(len)?;
        debug_assert_eq!(before + written.events, events);
        breaks_escaped += written.breaks_escaped;
        if breaks_escaped > 0 {
            warnings.push(Warning::BreaksEscaped(breaks_escaped));
        }
        check()?;
        sink.finish()?;
        Ok(len)
    }
}
