//! The flame chart of a thread as rows.

use crate::entries::Placed;
use crate::names::groups::GroupBy;
use crate::profile::made::Lasting;
use crate::query::picks::Drawn;
use crate::query::rows::FlameRow;
use crate::table::View;
use crate::tree::views::Identify;
use tracemill_trace::Error;
use tracemill_trace::order::SortedByKey;

/// The flame chart of a view.
pub struct Flame<'v> {
    view: &'v View<'v>,
    /// Self time of each entry.
    owns: SortedByKey<Lasting>,
}

impl Flame<'_> {
    /// Passes each row to `each`, parents before children, until `each` fails.
    ///
    /// # Errors
    /// Returns the error of `each`.
    pub fn rows<E>(&self, mut each: impl FnMut(FlameRow) -> Result<(), E>) -> Result<(), E> {
        let view = self.view;
        let ids = view.ids(GroupBy::None);
        let clock = view.trace.clock;
        let (mut owns, mut passed) = (self.owns.iter(), 0);
        for Drawn { at, entry, level, is_ignored, .. } in view.levelled() {
            let self_time = owns.nth((at - passed) as usize).map_or(0.0, |lasting| lasting.own);
            passed = at + 1;
            let label = match is_ignored {
                true => Some(r"On ignore list (\/node_modules\/|^node:)".to_owned()),
                false => ids.flame_label(&entry),
            };
            each(FlameRow {
                depth: level,
                is_call: entry.is_call(),
                id: ids.text(ids.id(&entry)),
                ts: clock.micros(entry.ts),
                dur: clock.micros(entry.dur),
                self_time: clock.micros(self_time),
                key: view.key(&entry, &ids),
                label,
                entry,
            })?;
        }
        Ok(())
    }
}

impl View<'_> {
    /// Computes the flame chart. Cost: a pass over all entries, and 20 bytes per entry, on disk
    /// beyond the budget.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn flame(&self) -> Result<Flame<'_>, Error> {
        let mut owns = self.trace.space().sorter(2);
        if let Some(calls) = self.track.calls.as_ref().filter(|_| self.track.is_alone()) {
            for (number, call) in (0..).zip(calls.iter()) {
                owns.push(Lasting { number, dur: call.dur, own: call.own })?;
            }
            return Ok(Flame { view: self, owns: owns.finish()? });
        }
        let mut open: Vec<Lasting> = Vec::new();
        for (number, Placed { entry, depth }) in (0..).zip(self.track.nested()) {
            while open.len() > depth as usize {
                open.pop().map_or(Ok(()), |lasting| owns.push(lasting))?;
            }
            if let Some(parent) = open.last_mut() {
                parent.own -= entry.dur;
            }
            open.push(Lasting { number, dur: entry.dur, own: entry.dur });
        }
        open.into_iter().try_for_each(|lasting| owns.push(lasting))?;
        Ok(Flame { view: self, owns: owns.finish()? })
    }
}
