//! The progress bar. A thread reads the progress counters and draws on standard error. The bar is
//! erased at the end.
//!
//! Nothing is drawn in the first second, because most runs end earlier. If progress is requested
//! and standard error is not a terminal, a line per second is written instead.

use crate::args::{MessageArgs, TerminalChoice};
use crate::messages::wrap::columns_of_bar;
use crate::text::size::human;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};
use tracemill_trace::run::limits::Progress;

/// Interval between reads of the counters.
const TICK: Duration = Duration::from_millis(100);
/// Delay before anything is drawn.
const PATIENCE: Duration = Duration::from_secs(1);

/// A thread that shows progress until this value is dropped.
pub(crate) struct Watch {
    /// The channel that stops the thread when it is closed.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread. Returns `None` if the flags disable progress.
    pub(crate) fn start(args: &MessageArgs, progress: &Arc<Progress>) -> Option<Watch> {
        let terminal = io::stderr().is_terminal();
        let wanted = match args.progress {
            TerminalChoice::Always => true,
            TerminalChoice::Auto => terminal,
            TerminalChoice::Never => false,
        };
        if !wanted || args.quiet {
            return None;
        }
        let (stop, stopped) = mpsc::channel();
        let progress = Arc::clone(progress);
        let watch = move || {
            if terminal { draw(&progress, &stopped) } else { write(&progress, &stopped) }
        };
        // if the thread cannot be started, the run has no progress bar
        let thread = Builder::new().name("progress".into()).spawn(watch).ok()?;
        Some(Watch { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // if the thread panicked, only the drawing is affected
            let _ = thread.join();
        }
    }
}

/// Whether the terminal may show a bar.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// Erases the bar before the process exits.
pub(crate) fn clear() {
    if DRAWN.load(Ordering::Relaxed) {
        // the bytes move to the start of the line and erase it; writing fails if standard error is
        // closed
        let _ = io::stderr().lock().write_all(b"\r\x1b[2K");
    }
}

/// Waits for the time `pause`. Returns whether the run still continues.
fn goes_on(stopped: &Receiver<()>, pause: Duration) -> bool {
    stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
}

/// The current stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Activity of the stage: `reading` or `writing`.
    pub verb: &'static str,
    /// Number of bytes done in this stage.
    pub done: u64,
    /// Number of bytes of the whole stage, if known.
    pub total: Option<u64>,
}

impl Stage {
    /// Determines the current stage from the counters.
    pub fn of(progress: &Progress) -> Stage {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let stage = |verb, done, total| Stage {
            verb,
            done,
            total: Some(total).filter(|&total| total >= done && total > 0),
        };
        let (written, to_write) = (get(&progress.bytes_written), get(&progress.bytes_to_write));
        let (scanned, expected) = (get(&progress.bytes_scanned), get(&progress.bytes_expected));
        // while files are still read, the remaining bytes of the output are unknown
        if (written > 0 || to_write > 0) && scanned >= expected {
            return stage("writing", written, to_write);
        }
        stage("reading", scanned, expected)
    }
}

fn draw(progress: &Progress, stopped: &Receiver<()>) {
    let start = Instant::now();
    let mut bar = ProgressBar::hidden();
    let mut shown = None;
    while goes_on(stopped, TICK) {
        let stage = Stage::of(progress);
        let kind = (stage.verb, stage.total.is_some());
        if shown != Some(kind) {
            // each stage has a separate speed, which the bar measures from the start of the stage,
            // even while hidden
            bar.finish_and_clear();
            bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            bar = bar.with_position(stage.done);
            bar.set_style(style(stage.total.is_some()));
            bar.set_message(stage.verb);
            shown = Some(kind);
            continue;
        }
        if bar.is_hidden() && start.elapsed() >= PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            DRAWN.store(true, Ordering::Relaxed);
        }
        bar.update(|state| {
            state.set_pos(stage.done);
            if let Some(total) = stage.total {
                state.set_len(total);
            }
        });
    }
    bar.finish_and_clear();
    DRAWN.store(false, Ordering::Relaxed);
}

fn style(total_is_known: bool) -> ProgressStyle {
    let style = ProgressStyle::with_template(template(total_is_known, columns_of_bar()));
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns the most detailed template that fits into `columns`. A line that wraps could not be
/// erased.
fn template(total_is_known: bool, columns: Option<usize>) -> &'static str {
    match (total_is_known, columns.unwrap_or(usize::MAX)) {
        (true, 76..) => {
            "tracemill: {msg} {wide_bar} {percent:>3} % of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left"
        }
        (true, 46..) => "tracemill: {msg} {wide_bar} {percent:>3} %, {eta} left",
        (true, _) => "{msg} {percent} %",
        (false, 54..) => "tracemill: {msg} {binary_bytes}, {binary_bytes_per_sec}, {elapsed}",
        (false, _) => "{msg} {binary_bytes}",
    }
}

fn write(progress: &Progress, stopped: &Receiver<()>) {
    let mut last: Option<(Stage, Instant)> = None;
    while goes_on(stopped, PATIENCE) {
        let stage = Stage::of(progress);
        let before = last.filter(|(last, _)| last.verb == stage.verb);
        let rate = before.map(|(last, at)| {
            let bytes = stage.done.saturating_sub(last.done);
            (bytes as f64 / at.elapsed().as_secs_f64()) as u64
        });
        last = Some((stage, Instant::now()));
        // writing fails if standard error is closed
        let _ = writeln!(io::stderr().lock(), "tracemill: {}", line(stage, rate));
    }
}

fn line(stage: Stage, rate: Option<u64>) -> String {
    let mut text = format!("{} {}", stage.verb, human(stage.done));
    if let Some(total) = stage.total {
        let percent = u128::from(stage.done) * 100 / u128::from(total);
        text.push_str(&format!(" of {} ({percent} %)", human(total)));
    }
    if let Some(rate) = rate {
        text.push_str(&format!(", {}/s", human(rate)));
        if let Some(total) = stage.total.filter(|_| rate > 0) {
            text.push_str(&format!(", {} left", span((total - stage.done) / rate)));
        }
    }
    text
}

/// Formats seconds, such as `7s`, `2m 05s` or `1h 02m`.
fn span(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    fn progress(expected: u64, scanned: u64, to_write: u64, written: u64) -> Progress {
        Progress {
            bytes_expected: expected.into(),
            bytes_scanned: scanned.into(),
            bytes_to_write: to_write.into(),
            bytes_written: written.into(),
        }
    }

    #[test]
    fn stage_is_reading_until_all_is_scanned() {
        let stage = |progress: Progress| {
            let stage = Stage::of(&progress);
            (stage.verb, stage.done, stage.total)
        };
        assert_eq!(stage(progress(0, 0, 0, 0)), ("reading", 0, None));
        assert_eq!(stage(progress(10, 5, 0, 0)), ("reading", 5, Some(10)));
        // the number of bytes in a pipe is not known in advance
        assert_eq!(stage(progress(10, 15, 0, 0)), ("reading", 15, None));
        assert_eq!(stage(progress(10, 10, 20, 0)), ("writing", 0, Some(20)));
        assert_eq!(stage(progress(10, 10, 0, 7)), ("writing", 7, None));
        // convert writes while it reads
        assert_eq!(stage(progress(10, 5, 0, 3)), ("reading", 5, Some(10)));
        assert_eq!(stage(progress(0, 5, 0, 3)), ("writing", 3, None));
    }

    #[test]
    fn lines_show_total_and_rate_if_known() {
        let stage = Stage { verb: "reading", done: 1 << 20, total: Some(4 << 20) };
        assert_eq!(line(stage, None), "reading 1.0 MiB of 4.0 MiB (25 %)");
        let known = "reading 1.0 MiB of 4.0 MiB (25 %), 512.0 KiB/s, 6s left";
        assert_eq!(line(stage, Some(512 << 10)), known);
        assert_eq!(line(stage, Some(0)), "reading 1.0 MiB of 4.0 MiB (25 %), 0 B/s");
        let stage = Stage { total: None, ..stage };
        assert_eq!(line(stage, Some(2048)), "reading 1.0 MiB, 2.0 KiB/s");
    }

    #[test]
    fn time_left_has_at_most_two_units() {
        for (seconds, text) in [(0, "0s"), (59, "59s"), (125, "2m 05s"), (3725, "1h 02m")] {
            assert_eq!(span(seconds), text);
        }
    }

    #[test]
    fn templates_parse() {
        for (known, columns) in [true, false].into_iter().flat_map(|known| {
            [None, Some(20), Some(50), Some(60), Some(100)].map(|columns| (known, columns))
        }) {
            assert!(ProgressStyle::with_template(template(known, columns)).is_ok());
        }
    }

    #[test]
    fn bar_fits_the_terminal_width() {
        let longest = [
            ("{msg}", "reading"),
            ("{wide_bar}", "███"),
            ("{percent:>3}", "100"),
            ("{percent}", "100"),
            ("{binary_total_bytes}", "1023.99 GiB"),
            ("{binary_bytes}", "1023.99 GiB"),
            ("{binary_bytes_per_sec}", "1023.99 MiB/s"),
            ("{eta}", "59m"),
            ("{elapsed}", "59m"),
        ];
        for (known, columns) in [true, false]
            .into_iter()
            .flat_map(|known| [20, 45, 46, 53, 54, 75, 76, 80, 200].map(|columns| (known, columns)))
        {
            let mut line = template(known, Some(columns)).to_owned();
            for (key, text) in longest {
                line = line.replace(key, text);
            }
            assert!(!line.contains('{') && line.width() < columns, "{columns}: {line}");
        }
    }

    #[test]
    fn short_runs_draw_nothing_and_stop_at_once() {
        let start = Instant::now();
        let (stop, stopped) = mpsc::channel();
        drop(stop);
        draw(&Progress::default(), &stopped);
        assert!(start.elapsed() < PATIENCE);
    }
}
