//! `tracemill flame`.

use super::terminal::{Canvas, draw};
use super::{Job, Picked, RequestedTable, is_empty, maps, note_dropped};
use crate::args::{AskedRows, FlameArgs, PictureForm};
use crate::commands::running::Flags;
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use std::ffi::OsStr;
use std::path::PathBuf;
use tracemill_analysis::{Part, ReadRules, Shape, Trace};
use tracemill_export::{Order, Picture};
use tracemill_join::config::Config;
use tracemill_trace::run::words::plural;

pub(in crate::commands) fn flame(args: &FlameArgs, messages: &Messages) -> Result<Exit, Failure> {
    let (form, per, rules, change) = (args.form()?, args.per()?, args.rules(), args.change()?);
    let FlameArgs { input, part, picks, times, output, common, .. } = args;
    let shape = if rules.order == Order::Time { Shape::Log } else { Shape::CallTree };
    if shape == Shape::Log && picks.is_in_pieces() {
        return Err(Failure::usage(
            "--order time draws one stretch of time: choose it with --from, --to or one --window, and leave out --during, \
             --focus and --ignore",
        ));
    }
    let flags = Flags { verb: "flame", input, common };
    let picked = Picked {
        part,
        picks,
        by: args.group_by,
        times,
        causes: false,
        cpu_times: false,
        colors: true,
    };
    let mut job = Job::picked(flags, output, picked, messages)?;
    job.requested_rows.extend(args.peek.clone().map(|name| ("--peek", AskedRows::Name(name))));
    let parts = tables(args, &job.trace, RequestedTable { shape, by: args.group_by, per })?;
    note_dropped(&parts, messages);
    let picture = match (&args.peek, &args.diff) {
        (Some(name), _) => match tracemill_export::sandwich(&job.trace, &parts, name, rules)? {
            Some(picture) => picture,
            None => return job.finish(true),
        },
        (_, Some(path)) => {
            let base = read_base(args, path, &job.reporting.running.config, messages)?;
            let old = tables(args, &base, RequestedTable { shape, by: args.group_by, per })?;
            tracemill_export::differential(&job.trace, &parts, &base, &old, rules, change)?
        }
        _ => tracemill_export::picture(&job.trace, &parts, rules)?,
    };
    note_below_zero(&parts, messages);
    let picture = picture.of_recording(recording(&args.input.inputs, &job.trace));
    write(args, &job, form, &picture)?;
    job.finish(is_empty(&parts))
}

/// Returns the name of the input without its folder, and the date of the recording. The date is
/// that of the metadata or of the file name, so that equal inputs have equal pictures.
fn recording(paths: &[PathBuf], trace: &Trace) -> String {
    let name = match (paths, &trace.inputs[..]) {
        ([path], _) if path.as_os_str() != "-" => path.file_name().unwrap_or(path.as_os_str()),
        (_, [input]) => OsStr::new(&*input.name),
        (_, inputs) => return plural(inputs.len() as u64, "input"),
    };
    let name = name.to_string_lossy().into_owned();
    match trace.recorded.clone().or_else(|| date_in(&name)) {
        Some(date) => format!("{name} · {date}"),
        None => name,
    }
}

/// Returns the date and time in a file name such as `CPU.20261121.044053.1.0.001.cpuprofile` or
/// `Trace-20261121T044053.json`.
fn date_in(name: &str) -> Option<String> {
    let is_number = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let found = name.as_bytes().windows(15).find(|text| {
        is_number(&text[..8]) && matches!(text[8], b'.' | b'T') && is_number(&text[9..])
    })?;
    let text = std::str::from_utf8(found).ok()?;
    let part = |from: usize, to: usize| &text[from..to];
    Some(format!(
        "{}-{}-{} {}:{}:{}",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(9, 11),
        part(11, 13),
        part(13, 15)
    ))
}

/// Reports how many rows have a negative self time. Such rows are drawn with width 0.
fn note_below_zero(parts: &[Part], messages: &Messages) {
    let rows = parts.iter().flat_map(|part| &part.table.rows);
    let count = rows.filter(|row| (row.own * 1e6).round() < 0.0).count() as u64;
    if count > 0 {
        messages.say(&format!(
            "{} with a self time below zero, as DevTools counts them: drawn as 0 (tracemill tree has the numbers)",
            plural(count, "row")
        ));
    }
}

fn tables(args: &FlameArgs, trace: &Trace, table: RequestedTable) -> Result<Vec<Part>, Failure> {
    let (threads, query) = args.picks.query(&args.part, trace, table)?;
    let mut parts = trace.parts(&threads, &query)?;
    parts.retain(|part| !part.table.rows.is_empty());
    Ok(parts)
}

fn read_base(
    args: &FlameArgs,
    path: &std::path::Path,
    config: &Config,
    messages: &Messages,
) -> Result<Trace, Failure> {
    let sources = crate::files::inputs::sources(&[path.to_owned()], None)?;
    let times = args.times.times(&args.part)?;
    let rules = ReadRules { times, ..args.picks.read_rules(&args.part, args.group_by) };
    let maps = args.part.source_maps()?;
    let mut trace = Trace::read_mapped(&sources, rules, &maps, config)?;
    maps::tell(&maps, &trace.mapped, messages);
    trace.ignore_list = args.part.ignore_list();
    trace.entities = args.part.entities()?;
    Ok(trace)
}

fn write(
    args: &FlameArgs,
    job: &Job<'_>,
    form: PictureForm,
    picture: &Picture,
) -> Result<(), Failure> {
    match form {
        PictureForm::Svg => job.place().write_lines(|out| picture.write_svg(out))?,
        PictureForm::Text => {
            let screen = Canvas::of(args.common.messages.color, args.output.file().is_some());
            job.place().write(draw(picture, &screen).as_bytes())?;
        }
    }
    let (drawn, folded) = picture.counts();
    job.reporting
        .running
        .messages
        .note(&format!("{} drawn, {folded} folded", plural(drawn, "frame")));
    Ok(())
}
