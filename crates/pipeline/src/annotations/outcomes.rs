//! What became of each annotation, in one output and over all parts of a split.

use super::by_target::each;
use super::read::{Annotated, EntryNeeds, EntryTarget};
use crate::report::AnnotationReport;
use crate::warning::AnnotationDrop;
use std::collections::BTreeMap;

/// What became of an annotation.
pub(super) type Outcome = Result<(), AnnotationDrop>;

/// What became of annotations in one output, with their numbers: those of a part that it may have, else all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes(Vec<(u32, Outcome)>);

impl Outcomes {
    /// Notes what became of the annotation of this number.
    pub(super) fn push(&mut self, number: u32, outcome: Outcome) {
        self.0.push((number, outcome));
    }

    /// In numbers.
    pub(crate) fn report(&self) -> AnnotationReport {
        report(self.0.iter().map(|outcome| outcome.1))
    }
}

fn report(outcomes: impl Iterator<Item = Outcome>) -> AnnotationReport {
    let (mut kept, mut dropped) = (0, BTreeMap::<AnnotationDrop, u64>::new());
    for outcome in outcomes {
        match outcome {
            Ok(()) => kept += 1,
            Err(why) => *dropped.entry(why).or_default() += 1,
        }
    }
    AnnotationReport { kept, dropped: dropped.into_iter().collect() }
}

/// What became of annotations over several parts: what is in one is kept.
pub(crate) struct PartOutcomes {
    /// By number: in how many parts an annotation might be, and what became of it at best in those.
    all: Vec<(u32, Option<Outcome>)>,
    parts: u32,
}

impl PartOutcomes {
    pub(super) fn new(annotations: usize) -> Self {
        PartOutcomes { all: vec![(0, None); annotations], parts: 0 }
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, outcomes: &Outcomes) {
        self.parts += 1;
        for &(number, outcome) in &outcomes.0 {
            let (seen, best) = &mut self.all[number as usize];
            *seen += 1;
            *best = Some(best.map_or(outcome, |best| best.min(outcome)));
        }
    }

    /// In numbers, given what becomes of each in parts that have nothing of it.
    pub(super) fn report(&self, elsewhere: &[Outcome]) -> AnnotationReport {
        let outcome = |(&(seen, best), &elsewhere): (&(u32, Option<Outcome>), &Outcome)| match best
        {
            Some(best) if seen == self.parts => best,
            Some(best) => best.min(elsewhere),
            None => elsewhere,
        };
        report(self.all.iter().zip(elsewhere).map(outcome))
    }
}

/// What becomes of each annotation in an output that has nothing of what it names.
pub(super) fn elsewhere(documents: &[Annotated<'_>]) -> Vec<Outcome> {
    let count: u64 = documents.iter().map(Annotated::count).sum();
    let crumbs: u64 = documents.iter().map(|own| own.crumbs.inner()).sum();
    let mut outcomes = vec![Err(AnnotationDrop::Malformed); count as usize];
    each(documents, None, |number, _, (_, _, element)| {
        let first = match element {
            Ok(element) => element.names.iter().min_by_key(|(range, _)| range.start),
            Err(why) => {
                outcomes[number as usize] = Err(*why);
                return;
            }
        };
        outcomes[number as usize] = Err(match first {
            Some((_, EntryTarget::Call(_))) => AnnotationDrop::Call,
            Some((_, EntryTarget::Synthetic(_, EntryNeeds::Others))) => AnnotationDrop::Parts,
            _ => AnnotationDrop::Gone,
        });
    });
    outcomes.extend((0..crumbs).map(|_| Err(AnnotationDrop::Breadcrumb)));
    outcomes
}
