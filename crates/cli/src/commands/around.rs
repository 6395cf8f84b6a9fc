//! Checks before a run, and messages of `-v`, that several commands share.

use crate::args::{LimitArgs, MessageArgs, OutputArgs, TraceArgs};
use crate::files::whole_file::OutputPlace;
use crate::messages::Messages;
use crate::outcome::exit::Failure;
use crate::text::size::human;
use std::collections::HashMap;
use std::fs;
use std::io::{self, IsTerminal};
use tracemill_join::config::Config;
use tracemill_tokenizer::Tier;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Compression, Format};
use tracemill_trace::run::memory::{Leased, MemoryBudget};
use tracemill_trace::run::words::plural;

/// Reports the limits of the run, and for each the flag or default that set it (`-v`).
pub(super) fn note_limits(args: &LimitArgs, config: &Config, messages: &Messages) {
    let by =
        |given: bool, flag: &'static str, usual: &'static str| if given { flag } else { usual };
    let tier = config.limits.tier.unwrap_or_else(Tier::best);
    messages.note(&format!(
        "{} ({}), scan by {tier} ({}), at most {} of heap ({}), temporary files in {} ({})",
        plural(config.limits.threads as u64, "thread"),
        by(args.threads.is_some(), "-@", "all processors"),
        by(args.tier.is_some(), "--tier", "the fastest of this processor"),
        human(config.limits.memory),
        by(args.memory.is_some(), "-m", "a quarter of the memory"),
        config.limits.tmp_dir.display(),
        by(args.tmp_dir.is_some(), "-T", "the system's"),
    ));
}

/// Reports the peak memory of each purpose (`-vv`).
pub(super) fn note_leases(budget: &MemoryBudget, messages: &Messages) {
    for Leased { name, most, short } in budget.report() {
        let short = match short {
            0 => String::new(),
            short => format!(", {} less than asked for", human(short)),
        };
        messages.note(&format!("memory of {name}: {}{short}", human(most)));
    }
    messages.note(&format!("memory at one time: {} MiB", budget.most().div_ceil(1 << 20)));
}

/// Reports the format and compression of the output, and for each the flag or default that set it
/// (`-v`).
pub(super) fn note_form(
    args: &TraceArgs,
    format: Format,
    compression: Compression,
    messages: &Messages,
) {
    let form = if args.format.is_some() {
        "--format"
    } else {
        "by the first input and the name of the output"
    };
    let by = if args.compress.is_some() { "-z" } else { "by the name of the output" };
    let packed = match compression {
        Compression::None => String::new(),
        Compression::Gzip { level } => format!(", packed as gz, level {level} ({by})"),
        Compression::Zstd { level } => format!(", packed as zst, level {level} ({by})"),
    };
    messages.note(&format!("written as {} ({form}){packed}", format.name()));
}

/// Maximum size of inputs, in bytes, whose output may go to a terminal.
pub(super) const POURED_MAX: u64 = 1 << 20;

/// Returns an error if the output of a large trace would go to a terminal. With `-o -`, the output
/// is allowed.
pub(super) fn refuse_pouring(output: &OutputArgs, sources: &[Source]) -> Result<(), Failure> {
    if output.output.is_some() || !io::stdout().is_terminal() {
        return Ok(());
    }
    let files = sources.iter().filter_map(Source::file).filter_map(|path| fs::metadata(path).ok());
    let bytes: u64 = files.map(|metadata| metadata.len()).sum();
    match bytes > POURED_MAX {
        true => Err(Failure::usage(format!(
            "the output is large ({} of input) and would scroll over the terminal: name a file with -o, or pipe it on (-o - \
             prints it anyway)",
            human(bytes)
        ))),
        false => Ok(()),
    }
}

/// Warns about files that are given more than once. The output has their events as often.
pub(super) fn note_repeated(sources: &[Source], messages: &Messages) {
    let mut seen = HashMap::new();
    for path in sources.iter().filter_map(Source::file) {
        let Ok(real) = path.canonicalize() else { continue };
        if let Some(first) = seen.insert(real, path) {
            let (first, again) = (first.display(), path.display());
            let also = if first.to_string() == again.to_string() {
                String::new()
            } else {
                format!(" (as {again})")
            };
            messages
                .warning(&format!("{first} is given twice{also}, so its events are there twice"));
        }
    }
}

/// Returns the destination of `--report`. Returns an error if the destination is an input, or if
/// the report and the trace would both go to standard output.
pub(super) fn report_place(
    args: &MessageArgs,
    messages: &Messages,
    output: &OutputArgs,
    sources: &[Source],
) -> Result<Option<OutputPlace>, Failure> {
    let Some(path) = &args.report else { return Ok(None) };
    let place = messages.place(path);
    if place.is_stdout() && output.file().is_none() {
        return Err(Failure::usage(
            "--report - would mix with the output on standard output: name a file, or give -o",
        ));
    }
    place.check("the report", sources, output.force)?;
    Ok(Some(place))
}

/// Returns messages for `-v` about data in temporary files. `spilled` names data that exceeded the
/// memory budget, and `spooled` is the number of bytes of inputs.
pub(super) fn on_disk(config: &Config, spilled: Option<String>, spooled: u64) -> Vec<String> {
    let tmp_dir = config.limits.tmp_dir.display();
    let full = |what| format!("{what} went to {tmp_dir}, because the memory budget (-m) was full");
    let of_inputs = || format!("{} of pipes and packed inputs went to {tmp_dir}", human(spooled));
    spilled.map(full).into_iter().chain((spooled > 0).then(of_inputs)).collect()
}

/// Returns a message for `-v` about chunks of CPU profiles that were moved. Returns `None` if there
/// are none.
pub(super) fn delayed(chunks: u64) -> Option<String> {
    let text = "of CPU profiles came before the nodes they use and were moved after them";
    (chunks > 0).then(|| format!("{} {text}", plural(chunks, "chunk")))
}
