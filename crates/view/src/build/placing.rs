//! Assigns each interval to a row of its lane (track). Intervals come by lane and time. The first
//! row of a lane is written immediately; other rows wait until the lane is complete, so that
//! nothing is sorted again.
//!
//! ```text
//!   lane 0 ─┬─ row 0 ────────────────────────> tracks
//!           ├─ row 1 ─> waits ─┐
//!           └─ row 2 ─> waits ─┴─ lane ends ─> tracks
//! ```

use crate::model::NameSum;
use crate::tracks::lane::Lane;
use crate::tracks::record::{Span, Timed};
use crate::tracks::rows::{BESIDE, LaneRows};
use crate::tracks::{TrackWriter, Tracks};
use tracemill_index::drawing::LaneKind;
use tracemill_join::config::Config;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::{SpillList, SpillLists, SpillVec};

pub(crate) struct Placing {
    lanes: Vec<Lane>,
    sums: Vec<NameSum>,
    writer: TrackWriter,
    lane: Option<usize>,
    rows: LaneRows,
    /// Rows of nested intervals, except for the first row.
    below: Vec<SpillList<Span>>,
    /// Rows of intervals that overlap others without nesting.
    beside: Vec<SpillList<Span>>,
    waiting: SpillLists,
    folded: u64,
}

pub(crate) struct Placed {
    pub(crate) lanes: Vec<Lane>,
    pub(crate) tracks: Tracks,
    pub(crate) sums: Vec<NameSum>,
    /// Number of intervals for which there was no row. They are not drawn.
    pub(crate) folded: u64,
}

impl Placing {
    pub(crate) fn new(lanes: Vec<Lane>, config: &Config) -> Self {
        let spans = SpillVec::new(config.limits.lease("spans", Share::of_index(1, 4)));
        let sums = SpillVec::new(config.limits.lease("sums of spans", Share::of_index(1, 32)));
        Placing {
            lanes,
            sums: Vec::new(),
            writer: TrackWriter::new(spans, sums),
            lane: None,
            rows: LaneRows::default(),
            below: Vec::new(),
            beside: Vec::new(),
            // a list doubles when it is full
            waiting: SpillLists::new(
                config.limits.lease("spans that wait", Share::of_index(1, 3)).divided(2),
            ),
            folded: 0,
        }
    }

    /// Adds the next interval. Intervals come by start, the longer first.
    pub(crate) fn take(&mut self, Timed(lane, mut span): Timed) -> Result<(), Error> {
        let lane = lane as usize;
        if self.lane != Some(lane) {
            self.end_lane()?;
            self.lane = Some(lane);
        }
        let kind = self.lanes[lane].kind;
        let (is_counter, nests) =
            (kind == LaneKind::Counter, matches!(kind, LaneKind::Thread | LaneKind::Calls));
        if !is_counter {
            if !self.rows.place(&mut span, nests) {
                return Ok(());
            }
            self.add_to_sum(&span);
        }
        self.lanes[lane].add(&span);
        if span.row > 0 {
            return self.wait(span);
        }
        if !self.writer.has_begun() {
            self.writer.begin(0, is_counter);
        }
        self.writer.push(span)
    }

    fn add_to_sum(&mut self, span: &Span) {
        let name = span.name as usize;
        if name >= self.sums.len() {
            self.sums.resize(name + 1, NameSum::default());
        }
        self.sums[name].add(span.dur);
    }

    fn wait(&mut self, span: Span) -> Result<(), Error> {
        let (rows, at) = match span.row.checked_sub(BESIDE) {
            Some(beside) => (&mut self.beside, beside),
            None => (&mut self.below, span.row - 1),
        };
        let at = usize::from(at);
        if at >= rows.len() {
            rows.resize_with(at + 1, SpillList::default);
        }
        self.waiting.push(&mut rows[at], span);
        if !self.waiting.is_full() {
            return Ok(());
        }
        let mut rows = self.below.iter_mut().chain(&mut self.beside);
        rows.try_for_each(|row| self.waiting.spill(row))
    }

    fn end_lane(&mut self) -> Result<(), Error> {
        let Some(lane) = self.lane.take() else { return Ok(()) };
        let rows = std::mem::take(&mut self.rows);
        self.folded += rows.folded;
        let tracks = &mut self.lanes[lane].tracks;
        tracks.extend(self.writer.end()?);
        let file = self.waiting.finish()?;
        self.waiting.heap = 0;
        let below = self.below.drain(..).zip(1..);
        // now the number of nested rows is known, below which these rows begin
        let beside = self.beside.drain(..).zip(rows.depth..);
        for (waiting, row) in below.chain(beside) {
            self.writer.begin(row, false);
            let spans = waiting.records(file.as_deref().unwrap_or_default());
            spans.iter().try_for_each(|span| self.writer.push(Span { row, ..span }))?;
            tracks.extend(self.writer.end()?);
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Placed, Error> {
        self.end_lane()?;
        let Placing { lanes, sums, writer, folded, .. } = self;
        Ok(Placed { lanes, tracks: writer.finish()?, sums, folded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracks::is_beside;
    use crate::tracks::lane::LaneInfo;
    use crate::tracks::notes::Notes;
    use std::sync::Arc;
    use tracemill_index::drawing::LaneKey;
    use tracemill_testkit::Rng;
    use tracemill_trace::order::Keyed;

    const KINDS: [LaneKind; 4] =
        [LaneKind::Thread, LaneKind::Async, LaneKind::Counter, LaneKind::Calls];

    fn lane(kind: LaneKind) -> Lane {
        let key = LaneKey { kind, pid: (*b"1").into(), track: (*b"2").into(), input: 0 };
        Lane::new(Arc::new(LaneInfo::new(&key, &Notes::default())))
    }

    type Row = (u16, Vec<Span>);

    /// Assigns the rows first and sorts them afterwards, for comparison.
    fn sorted(spans: &[Timed]) -> Vec<(usize, Vec<Row>)> {
        let mut all = Vec::new();
        for lane_spans in spans.chunk_by(|a, b| a.0 == b.0) {
            let (kind, mut rows) = (KINDS[lane_spans[0].0 as usize], LaneRows::default());
            let nests = matches!(kind, LaneKind::Thread | LaneKind::Calls);
            let mut lane_spans: Vec<Timed> = lane_spans.to_vec();
            lane_spans
                .retain_mut(|timed| kind == LaneKind::Counter || rows.place(&mut timed.1, nests));
            for Timed(_, span) in lane_spans.iter_mut().filter(|timed| is_beside(&timed.1)) {
                span.row = span.row - BESIDE + rows.depth;
            }
            lane_spans.sort_by_key(|timed| timed.1.row);
            let of_row = lane_spans.chunk_by(|a, b| a.1.row == b.1.row);
            let of_row =
                of_row.map(|row| (row[0].1.row, row.iter().map(|timed| timed.1).collect()));
            all.push((lane_spans[0].0 as usize, of_row.collect()));
        }
        all
    }

    /// The memory is so small that some waiting rows are on disk.
    #[test]
    fn streamed_rows_equal_sorted_rows() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed);
            let (count, range) = (rng.range(1, 3000), *rng.pick(&[&30_u64, &1000, &(1 << 40)]));
            let most = *rng.pick(&[&3_u64, &(range / 10 + 1), &range]);
            let span = |rng: &mut Rng| {
                let (start, dur) = (rng.below(range) as i64, rng.below(most) as i64);
                let (place, name) = (rng.below(1000), rng.below(9) as u32);
                Timed(rng.below(4) as u32, Span { start, dur, place, name, row: 0, flags: 0 })
            };
            let mut spans: Vec<Timed> = (0..count).map(|_| span(&mut rng)).collect();
            spans.sort_by_key(Timed::key);
            let expected = sorted(&spans);
            for memory in [1, 20_000, 64 << 20] {
                let config = Config::new(1, memory, std::env::temp_dir());
                let mut placing = Placing::new(KINDS.map(lane).into(), &config);
                spans.iter().try_for_each(|span| placing.take(*span)).unwrap();
                let Placed { lanes, tracks, sums, folded } = placing.finish().unwrap();
                assert_eq!(folded, 0);
                let found = lanes.iter().enumerate().filter(|(_, lane)| !lane.tracks.is_empty());
                let found = found.map(|(number, lane)| {
                    let spans = |track: &crate::tracks::Track| {
                        let spans = tracks.of(track.spans.clone());
                        (track.row, spans.collect::<Vec<_>>())
                    };
                    (number, lane.tracks.iter().map(spans).collect::<Vec<_>>())
                });
                assert_eq!(found.collect::<Vec<_>>(), expected, "{seed} {memory}");
                let named = spans.iter().filter(|timed| timed.0 != 2).count() as u64;
                assert_eq!(sums.iter().map(|sum| sum.count).sum::<u64>(), named);
            }
        }
    }
}
