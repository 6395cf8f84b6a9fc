//! The report of a Bazel build: phases, the critical path, and the slowest actions.

use crate::found::{Build, Stretch};
use crate::spread::{keep_longest, push_longest};
use tracemill_analysis::events::kinds::{Kind, NO_CAT};
use tracemill_analysis::events::pages::Mark;
use tracemill_analysis::{Trace, Window};

/// Reports on the events of the given threads that begin within the window.
///
/// Cost: visits each event. Heap: `rows` actions, the phases, and the critical path.
pub(crate) fn build(trace: &Trace, threads: &[usize], rows: usize, window: Window) -> Build {
    let (mut build, clock) = (Build { phases: phases(trace), ..Build::default() }, trace.clock());
    let of = |cat: &'static [u8]| -> Vec<bool> {
        let is = |kind: &Kind| kind.cat != NO_CAT && trace.names().bytes_of(kind.cat) == cat;
        trace.kinds().iter().map(is).collect()
    };
    let (critical, action) = (of(b"critical path component"), of(b"action processing"));
    for &thread in threads {
        for record in trace.records(&trace.threads[thread]) {
            let kind = record.kind as usize;
            let starts = clock.ms_of(record.ts);
            let is_in = starts >= window.from && starts <= window.to && record.phase() == b'X';
            if !is_in || !(critical[kind] || action[kind]) {
                continue;
            }
            let span = Stretch::of_record(trace, thread, &record);
            if critical[kind] {
                build.critical_ms += clock.ms_of(record.dur);
                build.critical.push(span);
                continue;
            }
            build.actions += 1;
            build.actions_ms += clock.ms_of(record.dur);
            push_longest(&mut build.slowest, span, rows);
        }
    }
    keep_longest(&mut build.slowest, rows);
    build.critical.sort_by(|a, b| a.ts.total_cmp(&b.ts));
    build
}

fn phases(trace: &Trace) -> Vec<(String, Window)> {
    let phases = trace.marks().iter().filter(|page| page.mark == Mark::Phase);
    let mut begins: Vec<(f64, String)> = phases
        .map(|phase| {
            let name = tracemill_analysis::value::string(&phase.id).unwrap_or_default();
            (phase.ts / 1000.0, String::from_utf8_lossy(&name).into_owned())
        })
        .collect();
    begins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ends: Vec<f64> = begins.iter().skip(1).map(|begin| begin.0).collect();
    let ends = ends.into_iter().chain([trace.bounds.1 / 1000.0]);
    // Markers may be later than the end of the trace, so windows that end before their start become
    // empty.
    let window = |from: f64, to: f64| Window { from, to: to.max(from) };
    begins.into_iter().zip(ends).map(|((from, name), to)| (name, window(from, to))).collect()
}
