//! What became of each annotation, in one output and over all parts of a split.

use super::named::each;
use super::read::{Annotated, Named, Needs};
use crate::report::AnnotationReport;
use crate::warning::AnnotationDrop;
use std::collections::BTreeMap;

/// What became of an annotation.
pub(super) type Fate = Result<(), AnnotationDrop>;

/// What became of annotations in one output, with their numbers: those of a part that it may have, else all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates(Vec<(u32, Fate)>);

impl Fates {
    /// That of the annotation of this number.
    pub(super) fn push(&mut self, number: u32, fate: Fate) {
        self.0.push((number, fate));
    }

    /// In numbers.
    pub(crate) fn report(&self) -> AnnotationReport {
        report(self.0.iter().map(|fate| fate.1))
    }
}

fn report(fates: impl Iterator<Item = Fate>) -> AnnotationReport {
    let (mut kept, mut dropped) = (0, BTreeMap::<AnnotationDrop, u64>::new());
    for fate in fates {
        match fate {
            Ok(()) => kept += 1,
            Err(why) => *dropped.entry(why).or_default() += 1,
        }
    }
    AnnotationReport { kept, dropped: dropped.into_iter().collect() }
}

/// What became of annotations over several parts: what is in one is kept.
pub(crate) struct PartFates {
    /// By number: in how many parts an annotation might be, and what became of it at best in those.
    all: Vec<(u32, Option<Fate>)>,
    parts: u32,
}

impl PartFates {
    pub(super) fn new(annotations: usize) -> Self {
        PartFates { all: vec![(0, None); annotations], parts: 0 }
    }

    /// Adds a part.
    pub(crate) fn add(&mut self, fates: &Fates) {
        self.parts += 1;
        for &(number, fate) in &fates.0 {
            let (seen, best) = &mut self.all[number as usize];
            *seen += 1;
            *best = Some(best.map_or(fate, |best| best.min(fate)));
        }
    }

    /// In numbers, given what becomes of each in parts that have nothing of it.
    pub(super) fn report(&self, elsewhere: &[Fate]) -> AnnotationReport {
        let fate = |(&(seen, best), &elsewhere): (&(u32, Option<Fate>), &Fate)| match best {
            Some(best) if seen == self.parts => best,
            Some(best) => best.min(elsewhere),
            None => elsewhere,
        };
        report(self.all.iter().zip(elsewhere).map(fate))
    }
}

/// What becomes of each annotation in an output that has nothing of what it names.
pub(super) fn elsewhere(documents: &[Annotated<'_>]) -> Vec<Fate> {
    let count: u64 = documents.iter().map(Annotated::count).sum();
    let crumbs: u64 = documents.iter().map(|own| own.crumbs.inner()).sum();
    let mut fates = vec![Err(AnnotationDrop::Malformed); count as usize];
    each(documents, None, |number, _, (_, _, element)| {
        let first = match element {
            Ok(element) => element.names.iter().min_by_key(|(range, _)| range.start),
            Err(why) => {
                fates[number as usize] = Err(*why);
                return;
            }
        };
        fates[number as usize] = Err(match first {
            Some((_, Named::Call(_))) => AnnotationDrop::Call,
            Some((_, Named::Synthetic(_, Needs::Others))) => AnnotationDrop::Parts,
            _ => AnnotationDrop::Gone,
        });
    });
    fates.extend((0..crumbs).map(|_| Err(AnnotationDrop::Breadcrumb)));
    fates
}
