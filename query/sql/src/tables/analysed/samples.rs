//! The tables of CPU profiles: profiles, samples, call sites and functions, named as in PerfettoSQL.

use super::trace::{Analysed, push_calls};
use crate::tables::row_table::{RowTable, number, text};
use crate::tables::rows::{RowBuilder, Value};
use tracemill_analysis::Thread;
use tracemill_analysis::profile::model::{Model, NONE};
use tracemill_trace::Error;

pub(super) static PROFILE: RowTable = RowTable {
    name: "profile",
    rows: "one row per thread with a CPU profile",
    columns: &[
        number("id", "the profile, from 0"),
        text("file", "name of the input, as in reports"),
        number("utid", "the thread, as in events"),
        text("thread_name", "name of the thread"),
        number("samples", "number of samples"),
        number("nodes", "number of nodes of the call tree"),
    ],
    push: |traces, rows| push_calls(traces, rows, push_profiles),
};

pub(super) static SAMPLE: RowTable = RowTable {
    name: "stack_sample",
    rows: "one row per sample of a CPU profile, in order of time",
    columns: &[
        number("id", "the sample, from 0"),
        number("profile_id", "the profile"),
        number("utid", "the thread, as in events"),
        number("ts", "time in nanoseconds"),
        number("dur", "time until the next sample in nanoseconds"),
        number("callsite_id", "the call that ran; null if the sample names no node"),
    ],
    push: |traces, rows| push_calls(traces, rows, push_samples),
};

pub(super) static CALLSITE: RowTable = RowTable {
    name: "stack_profile_callsite",
    rows: "one row per node of the call tree of a CPU profile",
    columns: &[
        number("id", "the call site, from 0"),
        number("profile_id", "the profile"),
        number("depth", "number of call sites above; the root has 0"),
        number("parent_id", "the caller"),
        number("frame_id", "the function"),
    ],
    push: |traces, rows| push_calls(traces, rows, push_callsites),
};

pub(super) static FRAME: RowTable = RowTable {
    name: "stack_profile_frame",
    rows: "one row per distinct function of a CPU profile",
    columns: &[
        number("id", "the function, from 0"),
        number("profile_id", "the profile"),
        text("name", "name of the function; empty if it has none"),
        text("url", "URL of the script; empty if it has none"),
        number("line", "line, from 0"),
        number("col", "column, from 0"),
    ],
    push: |traces, rows| push_calls(traces, rows, push_frames),
};

/// A CPU profile, with the ids of its first call site and function.
struct Profile<'t> {
    id: i64,
    thread: &'t Thread,
    model: &'t Model,
    callsites: i64,
    frames: i64,
}

fn profiles<'t>(analysed: &Analysed<'t>) -> impl Iterator<Item = Profile<'t>> {
    let models = analysed.trace.threads.iter().filter_map(|thread| Some((thread, thread.model()?)));
    models.scan([0, 0, 0], |next, (thread, model)| {
        let [id, callsites, frames] = *next;
        *next =
            [id + 1, callsites + model.nodes.len() as i64, frames + model.functions_len() as i64];
        Some(Profile { id, thread, model, callsites, frames })
    })
}

fn push_profiles(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    for Profile { id, thread, model, .. } in profiles(analysed) {
        rows.push(&[
            Value::from(id),
            analysed.file(thread.input_number).into(),
            analysed.utids.of(thread).into(),
            thread.name.as_deref().into(),
            Value::from(thread.samples() as i64),
            Value::from(model.nodes.len() as i64),
        ])?;
    }
    Ok(())
}

fn push_samples(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let clock = analysed.trace.clock();
    let mut id = 0;
    for profile in profiles(analysed) {
        let utid = analysed.utids.of(profile.thread);
        let time = |sum| clock.written_nanos(clock.tick(sum));
        let mut samples = analysed.trace.samples(profile.model).peekable();
        while let Some(sample) = samples.next() {
            let end = samples.peek().map(|next| next.ms).or(profile.model.span.end);
            let ts = time(sample.ms);
            let dur = ts.zip(end.and_then(time)).map(|(ts, end)| end - ts);
            let callsite =
                (sample.node != NONE).then(|| profile.callsites + i64::from(sample.node));
            rows.push(&[
                Value::from(id),
                profile.id.into(),
                utid.into(),
                ts.into(),
                dur.into(),
                callsite.into(),
            ])?;
            id += 1;
        }
    }
    Ok(())
}

fn push_callsites(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    for profile in profiles(analysed) {
        for (number, node) in (0..).zip(profile.model.nodes.iter()) {
            let parent = (node.parent != NONE).then(|| profile.callsites + i64::from(node.parent));
            rows.push(&[
                Value::from(profile.callsites + number),
                profile.id.into(),
                Value::from(i64::from(node.depth) + 1),
                parent.into(),
                Value::from(profile.frames + i64::from(node.frame)),
            ])?;
        }
    }
    Ok(())
}

fn push_frames(analysed: &Analysed<'_>, rows: &mut RowBuilder<'_>) -> Result<(), Error> {
    let names = analysed.trace.names();
    let place = |text| names.text(text).parse::<i64>().ok().filter(|place| *place >= 0);
    for profile in profiles(analysed) {
        for (number, frame) in (0..).zip(profile.model.frames()) {
            rows.push(&[
                Value::from(profile.frames + number),
                profile.id.into(),
                (&*names.text(frame.function)).into(),
                (&*names.text(frame.url)).into(),
                place(frame.line).into(),
                place(frame.column).into(),
            ])?;
        }
    }
    Ok(())
}
