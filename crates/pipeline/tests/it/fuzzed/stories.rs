//! Compares each verb on well-formed traces with the naive reference.

use super::below;
use super::story::story;
use crate::run::{PLAIN, knobs};
use arbitrary::Unstructured;
use tracemill_testkit::reference::Criteria;
use tracemill_trace::output::target::Format;

pub(crate) fn stories(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let verb = below(&mut bytes, 8);
    let corners = [PLAIN, knobs(below(&mut bytes, 256))];
    let format = [None, None, Some(Format::Ndjson), Some(Format::Array)][below(&mut bytes, 4)];
    let ask = [(); 5].map(|()| below(&mut bytes, 256));
    let inputs: Vec<Vec<u8>> =
        (0..1 + below(&mut bytes, 2)).map(|_| story(&mut bytes, 24)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let what = &*inputs.iter().map(|input| String::from_utf8_lossy(input)).collect::<String>();
    match verb {
        0 => corners.iter().for_each(|&corner| crate::knobs::check(0, &inputs, format, corner)),
        1 => {
            crate::slices::check(what, &inputs, &windows(&ask), format, &corners);
        }
        2 => {
            crate::filter::check(what, &inputs, &criteria(&ask), &corners);
        }
        3 => {
            let (by, max_size) = parts(&ask);
            let settings = crate::split::settings(by, max_size, format);
            for corner in corners {
                crate::split::check(0, &inputs, &settings, corner);
            }
        }
        4 => crate::convert::check(0, &inputs, corners[1]),
        5 => drop(crate::check::compare(what, &inputs, &corners[1..])),
        6 => drop(crate::info::check(what, &inputs, &corners[1..])),
        // the naive reference does not model browsers
        _ if what.contains("TracingStartedInBrowser") => {}
        _ => drop(crate::viewer::compare(what, &inputs, &corners[1..])),
    }
}

fn windows(ask: &[usize]) -> Vec<(Option<i64>, Option<i64>)> {
    let micros = |n: usize| n as i64 * 500;
    let (from, to) = (micros(ask[0] % 64), micros(ask[0] % 64 + 1 + ask[1] % 32));
    let (then, end) = (to + micros(1 + ask[2] % 8), to + micros(10 + ask[3] % 32));
    match ask[4] % 4 {
        0 => vec![(Some(from), Some(to))],
        1 => vec![(None, Some(to))],
        2 => vec![(Some(from), None)],
        _ => vec![(Some(from), Some(to)), (Some(then), Some(end))],
    }
}

fn criteria(ask: &[usize]) -> Criteria {
    let mut wanted = Criteria::default();
    let one = |all: &[&str]| vec![all[ask[1] % all.len()].to_owned()];
    let point = (ask[2].is_multiple_of(2), (ask[1] % 40) as i64 * 500);
    match ask[0] % 11 {
        0 => wanted.pid = one(&["1", "2", "Spans"]),
        1 => wanted.tid = one(&["1", "2", "-1"]),
        2 => wanted.process = one(&["main", "x"]),
        3 => wanted.thread = one(&["main", "x"]),
        4 => wanted.ph = one(&["X", "B", "E", "b", "e", "s", "N", "i", "P", "C"]),
        5 => wanted.cat = one(&["c", "d"]),
        6 => wanted.name = one(&["a", "b", "Fun"]),
        7 => wanted.min_dur = Some((ask[1] % 12) as i64 * 1000),
        8 => wanted.max_dur = Some((ask[1] % 12) as i64 * 1000),
        9 => wanted.from = Some(point),
        _ => wanted.to = Some(point),
    }
    wanted.invert = ask[3] % 2 == 1;
    wanted
}

fn parts(ask: &[usize]) -> (tracemill_pipeline::SplitBy, Option<u64>) {
    use tracemill_pipeline::SplitBy;
    let size = 300 + 20 * ask[1] as u64;
    match ask[0] % 8 {
        0 => (SplitBy::Pid, None),
        1 => (SplitBy::Tid, None),
        2 => (SplitBy::Cat, None),
        3 => (SplitBy::Time((1 + ask[1] as i64 % 40) * 500), None),
        4 => (SplitBy::Events(1 + ask[1] as u64 % 20), None),
        5 => (SplitBy::Size(size), None),
        6 => (SplitBy::Pid, Some(size)),
        _ => (SplitBy::Tid, Some(size)),
    }
}
