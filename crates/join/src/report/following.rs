//! Combines the reports of two consecutive runs: the first writes a draft (a temporary trace), the
//! second reads the draft.

use super::{AnnotationReport, ConvertReport, FilterReport, RunReport};

impl FilterReport {
    /// Adds the results of a second run that dropped more events to reach the requested size.
    pub fn take_shrunk(&mut self, shrunk: FilterReport) {
        self.dropped.extend(shrunk.dropped);
        self.threshold_ns = shrunk.threshold_ns;
        self.matching = shrunk.matching;
        self.spilled_bytes += shrunk.spilled_bytes;
        self.run.keys_lost += shrunk.run.keys_lost;
        self.run.annotations.then(shrunk.run.annotations);
        self.run.warnings.extend(shrunk.run.warnings);
    }
}

impl AnnotationReport {
    /// Adds the results of a later run, which kept or dropped the annotations that this run kept.
    pub fn then(&mut self, later: AnnotationReport) {
        self.kept = later.kept;
        for (reason, count) in later.dropped {
            match self.dropped.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, sum)) => *sum += count,
                None => self.dropped.push((reason, count)),
            }
        }
        self.dropped.sort_by_key(|(reason, _)| *reason);
    }
}

impl RunReport {
    /// Adds the results of the run that made the output from the draft of this run.
    pub fn then(&mut self, fitted: RunReport) {
        (self.events, self.bytes, self.format) = (fitted.events, fitted.bytes, fitted.format);
        self.spooled_bytes += fitted.spooled_bytes;
        self.keys_lost += fitted.keys_lost;
        self.annotations.then(fitted.annotations);
        self.viewer = fitted.viewer;
        self.warnings.extend(fitted.warnings);
        // the draft is well-formed, so reading it loses nothing
        debug_assert!(fitted.inputs.iter().all(|input| input.lost() == 0));
    }

    /// Adds the results of an earlier run, whose output this run read.
    pub fn follow(&mut self, first: RunReport) {
        self.inputs = first.inputs;
        self.keys_lost += first.keys_lost;
        self.spooled_bytes += first.spooled_bytes;
        self.warnings.splice(0..0, first.warnings);
        let later = std::mem::replace(&mut self.annotations, first.annotations);
        self.annotations.then(later);
    }
}

impl ConvertReport {
    /// Adds the results of the run that rewrote the trace for a viewer before this conversion.
    pub fn after(mut self, fitted: RunReport) -> ConvertReport {
        self.run.viewer = fitted.viewer.clone();
        self.run.follow(fitted);
        self
    }
}
