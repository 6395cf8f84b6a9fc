//! A whole trace to an output: opening, events, closing.

use crate::config::{Config, OutputConfig};
use crate::emit::Emit;
use crate::error::Error;
use crate::keys::United;
use crate::output::Output;

impl Emit<'_, '_, '_> {
    /// Opening, events, closing; returns the bytes written, before packing.
    ///
    /// `events` and `event_bytes` count the events that the lists and runs of this hold. `check` has the last
    /// word: the output appears only if it agrees.
    pub(crate) fn write_all(
        &self,
        united: &United<'_>,
        (events, event_bytes): (u64, u64),
        output: &OutputConfig,
        config: &Config,
        warnings: &mut Vec<String>,
        check: impl FnOnce() -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let opening = self.layout.opening(united);
        let closing_at = opening.len() as u64 + self.layout.events_len(events, event_bytes);
        let len = closing_at + self.layout.closing_len(united);
        let sink = Output::create(output, config, self.layout.is_verbatim().then_some(len))?;
        let mut buffer = sink.buffer()?;
        let mut batch = sink.batch(0, 0, &mut buffer);
        batch.push(&opening)?;
        batch.finish()?;
        let written = self.write(&sink, opening.len() as u64, config)?;
        debug_assert!(self.rewrite.is_some() || written.end == closing_at);
        let mut batch = sink.batch(written.batches, written.end, &mut buffer);
        let closing = self.layout.write_closing(united, events, &mut batch)?;
        batch.finish()?;
        let len = len - closing_at + written.end;
        if self.rewrite.is_some() {
            sink.set_len(len)?;
        }
        debug_assert_eq!(written.events, events);
        if written.breaks_escaped > 0 {
            warnings.push(format!(
                "{} raw line breaks inside strings were written as escapes, so that an event is one line",
                written.breaks_escaped
            ));
        }
        check()?;
        sink.finish()?;
        match self.layout.is_verbatim() {
            true => Ok(len),
            false => Ok(opening.len() as u64 + written.bytes + closing),
        }
    }
}
