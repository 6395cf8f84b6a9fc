//! Sections about the ranks of a PyTorch job.

use super::super::data::percent_of;
use super::super::unit::time_text;
use super::section::{Cell, Columns, Section};
use super::sections::{ReportInputs, escaped};
use tracemill_report::{Collective, Rank, Ranks};
use tracemill_trace::run::words::{grouped, plural};

/// Number of ranks and devices that are shown, whatever the number of rows.
pub(super) const RANKS: usize = 16;

impl ReportInputs<'_> {
    /// Returns the sections: ranks, and collectives.
    pub(super) fn ranks(&self) -> Vec<Section> {
        let Some(ranks) = &self.report.ranks else { return Vec::new() };
        let collectives = (!ranks.collectives.is_empty()).then(|| self.collectives(ranks));
        Some(self.each_rank(ranks)).into_iter().chain(collectives).collect()
    }

    fn each_rank(&self, ranks: &Ranks) -> Section {
        let name = |at: Option<usize>| at.map_or(Cell::None, |at| self.rank_cell(&ranks.all[at]));
        let of_steps = |rank: &(usize, &Rank), value: Cell| match rank.1.steps {
            0 => Cell::None,
            _ => value,
        };
        let columns = Columns::<(usize, &Rank)>::new()
            .words("rank", "rank", |rank| self.rank_cell(rank.1))
            .count("steps", "steps", |rank| rank.1.steps)
            .figure("step_ms", "step ms", |rank| of_steps(rank, Cell::Ms(rank.1.step())))
            .figure("shortest_ms", "min ms", |rank| of_steps(rank, Cell::Ms(rank.1.least)))
            .spare()
            .figure("longest_ms", "max ms", |rank| of_steps(rank, Cell::Ms(rank.1.most)))
            .spare()
            .ms("wait_ms", "wait ms", |rank| rank.1.wait)
            .figure("wait_pct", "%", |rank| {
                of_steps(rank, Cell::Percent(percent_of(rank.1.wait, rank.1.time)))
            })
            .words("waits_for", "waits for", |rank| name(rank.1.waits_for))
            .count("last", "last", |rank| rank.1.last)
            .ms("delay_ms", "others wait ms", |rank| rank.1.delay)
            .words("input", "input", |rank| Cell::text(self.name_of(rank.1)))
            .spare();
        let next = |rank: &(usize, &Rank)| {
            let input = self.name_of(rank.1);
            let waiter = ranks.all.iter().max_by(|a, b| a.wait.total_cmp(&b.wait));
            match waiter.filter(|_| ranks.straggler == Some(rank.0)) {
                Some(waiter) => self.next.of_some("diff", &[self.name_of(waiter), input]),
                None => self.next.of_some("report", &[input]),
            }
        };
        let rows = ranks.all.iter().enumerate().take(self.rows.max(RANKS));
        let steps = || ranks.all.iter().filter(|rank| rank.steps > 0);
        let (count, time) = (
            steps().map(|rank| rank.steps).sum::<u64>(),
            steps().map(|rank| rank.time).sum::<f64>(),
        );
        let spread = steps().map(Rank::step).fold(0.0, f64::max)
            - steps().map(Rank::step).fold(f64::INFINITY, f64::min);
        let (step, spread) = match count {
            0 => (Cell::None, Cell::None),
            _ => (Cell::Ms(time / count as f64), Cell::Ms(spread)),
        };
        let figures = vec![
            ("ranks", Cell::Count(ranks.all.len() as u64)),
            ("step_ms", step),
            ("spread_ms", spread),
            ("wait_ms", Cell::Ms(total_wait(ranks))),
            ("collectives", Cell::Count(ranks.matched)),
            ("unmatched", Cell::Count(ranks.unmatched)),
            ("straggler", name(ranks.straggler)),
        ];
        let head = [self.steps_text(ranks), self.straggler_text(ranks)].join("; ");
        Section::new("ranks", columns, rows, next).of(ranks.all.len() as u64).with(head, figures)
    }

    /// Returns a sentence about the steps of all ranks.
    fn steps_text(&self, ranks: &Ranks) -> String {
        let count = plural(ranks.all.len() as u64, "rank");
        let steps = || ranks.all.iter().filter(|rank| rank.steps > 0);
        let by_step = |a: &&Rank, b: &&Rank| a.step().total_cmp(&b.step());
        let (Some(fast), Some(slow)) = (steps().min_by(by_step), steps().max_by(by_step)) else {
            return format!("{count} without steps (ProfilerStep#)");
        };
        let [least, most] = [fast, slow].map(|rank| time_text(rank.step()));
        if least == most {
            return format!("{count}; steps last {least} on each");
        }
        let spread = percent_of(slow.step() - fast.step(), fast.step());
        format!("{count}; steps last {least} to {most}, spread {spread:.1} %")
    }

    /// Returns a sentence about the rank for which the others wait.
    pub(super) fn straggler_text(&self, ranks: &Ranks) -> String {
        let without = match ranks.unmatched {
            0 => String::new(),
            count => format!(
                "; {} without a counterpart on another rank",
                plural(count, "communication kernel")
            ),
        };
        let total = total_wait(ranks);
        let waited = ranks.all.iter().reduce(|a, b| if b.delay > a.delay { b } else { a });
        let text = match waited.filter(|rank| rank.delay > 0.0) {
            _ if ranks.matched == 0 => "no collective is on several ranks".to_owned(),
            None => "no rank waits for another in a collective".to_owned(),
            Some(rank) => {
                let named = match rank.number {
                    Some(number) => format!("rank {number}"),
                    None => self.name_of(rank).to_owned(),
                };
                let begin = match ranks.straggler {
                    Some(_) => format!("{named} is the straggler: it"),
                    None => format!("no rank is the straggler: {named}"),
                };
                format!(
                    "{begin} is last in {} of {}, and the others wait {} for it, {:.0} % of all waits",
                    grouped(rank.last),
                    plural(ranks.matched, "collective"),
                    time_text(rank.delay),
                    percent_of(rank.delay, total)
                )
            }
        };
        text + &without
    }

    fn collectives(&self, ranks: &Ranks) -> Section {
        let last = |collective: &&Collective| {
            collective.last.map_or(Cell::None, |(at, _)| self.rank_cell(&ranks.all[at]))
        };
        let columns = Columns::<&Collective>::new()
            .ms("wait_ms", "wait ms", |collective| collective.wait)
            .words("last", "waits for", last)
            .figure("last_wait_ms", "", |collective| {
                collective.last.map_or(Cell::None, |(_, ms)| Cell::Ms(ms))
            })
            .count("count", "count", |collective| collective.count)
            .ms("skew_ms", "avg skew ms", |collective| collective.skew)
            .ms("max_skew_ms", "max skew ms", |collective| collective.most)
            .words("name", "collective", |collective| Cell::text(&collective.name));
        let next = |collective: &&Collective| {
            let whole = format!("^{}$", escaped(&collective.name));
            self.next.of_all(&["tree", "--log", "--per", "all", "--focus", &whole, "-n", "20"])
        };
        let count = ranks.collectives.len() as u64;
        let rows = ranks.collectives.iter().take(self.rows);
        Section::new("collectives", columns, rows, next).of(count).with(
            format!(
                "{} with {}; skew: between the ranks that join first and last",
                plural(ranks.matched, "collective"),
                plural(count, "name")
            ),
            vec![
                ("collectives", Cell::Count(ranks.matched)),
                ("names", Cell::Count(count)),
                ("wait_ms", Cell::Ms(total_wait(ranks))),
            ],
        )
    }

    /// Returns the number of a rank, or the name of its input.
    fn rank_cell(&self, rank: &Rank) -> Cell {
        rank.number.map_or_else(|| Cell::text(self.name_of(rank)), Cell::Count)
    }

    fn name_of(&self, rank: &Rank) -> &str {
        &self.trace.inputs[rank.input].name
    }
}

fn total_wait(ranks: &Ranks) -> f64 {
    ranks.all.iter().map(|rank| rank.wait).sum()
}
