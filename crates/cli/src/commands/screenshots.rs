//! `tracemill convert --screenshots`.

use super::around::report_place;
use super::running::{Flags, Running};
use crate::args::{ConvertArgs, OutputArgs};
use crate::messages::Messages;
use crate::outcome::exit::{Exit, Failure};
use crate::report::base;
use std::path::Path;
use tracemill_analysis::events::screenshots::{Screenshot, Screenshots};
use tracemill_trace::Error;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::words::plural;

/// Writes each screenshot to a file of the folder.
pub(super) fn run(args: &ConvertArgs, dir: &Path, messages: &Messages) -> Result<Exit, Failure> {
    args.refuse_with_export()?;
    let ConvertArgs { input, output, common, .. } = args;
    let flags = Flags { verb: "convert", input, common };
    let running = Running::new(flags, &[], messages)?;
    let folder = OutputArgs { output: Some(dir.to_owned()), force: output.force };
    let place = report_place(&common.messages, messages, &folder, &running.sources)?;
    running.announce();
    let screenshots = running.watch(Screenshots::read)?;
    std::fs::create_dir_all(dir).map_err(|e| Error::write(dir.display(), e))?;
    let (mut count, mut before, mut equal) = (0, None, 0);
    for screenshot in screenshots.iter() {
        equal =
            if before.replace(screenshot.nanos) == Some(screenshot.nanos) { equal + 1 } else { 1 };
        let path = dir.join(file_name(&screenshot, equal));
        let file = messages.place(&path);
        file.check("--screenshots", &running.sources, folder.force)?;
        file.write(&screenshot.image)?;
        count += 1;
    }
    screenshots.check_unchanged()?;
    let inputs = screenshots.inputs();
    let lost = inputs.iter().map(InputReport::lost).sum();
    messages.inputs(inputs);
    messages.losses(inputs);
    match count {
        0 => messages.warning("the trace has no screenshots"),
        count => messages.say(&format!("{} in {}", plural(count, "screenshot"), dir.display())),
    }
    let summary = running.summary(inputs, lost);
    running.end(&summary, place.as_ref(), |run| base("convert", inputs, lost, run, []))?;
    Ok(Exit::finished(lost).unless_empty(count == 0))
}

/// Returns the name of a file: the time after the trace start in milliseconds, and the number among
/// screenshots of that time if it is not the first.
fn file_name(screenshot: &Screenshot, number: u64) -> String {
    let micros = screenshot.nanos / 1000;
    let again = if number > 1 { format!("-{number}") } else { String::new() };
    let (ms, rest, extension) = (micros / 1000, micros % 1000, screenshot.extension());
    format!("{ms:07}.{rest:03}ms{again}.{extension}")
}
