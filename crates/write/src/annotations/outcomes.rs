//! Records which annotations were kept and which were dropped.

use std::collections::BTreeMap;
use tracemill_join::report::AnnotationReport;
use tracemill_join::report::warning::AnnotationDrop;

/// `Ok` for an annotation that was kept, otherwise the reason why it was dropped.
pub(super) type Outcome = Result<(), AnnotationDrop>;

/// The outcomes of all annotations.
#[derive(Default)]
pub struct Outcomes(pub(super) Vec<Outcome>);

impl Outcomes {
    /// Counts the annotations by outcome.
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
