//! What became of each annotation.

use std::collections::BTreeMap;
use tracemill_join::report::AnnotationReport;
use tracemill_join::report::warning::AnnotationDrop;

/// What became of an annotation.
pub(super) type Outcome = Result<(), AnnotationDrop>;

/// What became of annotations in the output.
#[derive(Default)]
pub struct Outcomes(pub(super) Vec<Outcome>);

impl Outcomes {
    /// Counts them by outcome.
    pub fn report(&self) -> AnnotationReport {
        let (mut kept, mut dropped) = (0, BTreeMap::<AnnotationDrop, u64>::new());
        for outcome in &self.0 {
            match outcome {
                Ok(()) => kept += 1,
                Err(why) => *dropped.entry(*why).or_default() += 1,
            }
        }
        AnnotationReport { kept, dropped: dropped.into_iter().collect() }
    }
}
