//! Draws flame graphs as text. Each depth has a line, and the width of a frame is its time.

use super::unit::time_text;
use crate::args::TerminalChoice;
use crate::messages::{has_colors, plain};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use tracemill_export::{Drawn, Picture};
use tracemill_trace::run::words::{grouped, plural};
use unicode_width::UnicodeWidthChar;

/// Number of columns if the output is not a terminal.
const USUAL: usize = 100;

/// Width and colours of the output.
pub(super) struct Canvas {
    columns: usize,
    colours: bool,
}

impl Canvas {
    /// Determines width and colours for standard output or for a file.
    pub(super) fn of(colour: TerminalChoice, is_file: bool) -> Self {
        let on_terminal = !is_file && io::stdout().is_terminal();
        let given = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let columns = given.or_else(|| on_terminal.then(columns_of_terminal).flatten());
        let columns = columns.unwrap_or(USUAL).clamp(20, 1000);
        Canvas { columns, colours: has_colors(colour, !is_file) }
    }
}

fn columns_of_terminal() -> Option<usize> {
    let (columns, _) = terminal_size::terminal_size_of(io::stdout())?;
    (columns.0 > 0).then_some(usize::from(columns.0))
}

/// Background colours, of 256, for [`Drawn::COLOURS`], and a grey for [`Drawn::IDLE`]. Black
/// letters are readable on all of them.
const BACKGROUNDS: [u8; 13] = [217, 216, 222, 229, 192, 158, 152, 153, 147, 183, 182, 218, 250];

pub(super) fn draw(picture: &Picture, screen: &Canvas) -> String {
    let all: Vec<Drawn<'_>> = picture.drawn().collect();
    let titles: Vec<&str> = picture.bands().collect();
    let mut text = String::new();
    for (band, title) in titles.iter().enumerate() {
        let _ = writeln!(text, "{}  {}", time_text(picture.length() as f64 / 1e6), plain(title));
        let mut frames: Vec<&Drawn<'_>> = all.iter().filter(|frame| frame.band == band).collect();
        // the root is not drawn, because the title line shows the same
        frames.retain(|frame| frame.depth > 0);
        frames.sort_by(|a, b| a.depth.cmp(&b.depth).then(a.x.total_cmp(&b.x)));
        for line in frames.chunk_by(|a, b| a.depth == b.depth) {
            push_line(line, picture.length(), screen, &mut text);
        }
    }
    let (drawn, folded) = picture.counts();
    // the root does not count, since it may be in an empty picture
    let narrow =
        all.iter().filter(|frame| frame.depth > 0 && columns(frame, screen).1 == 0).count() as u64;
    let hidden = folded + narrow;
    if hidden > 0 {
        let _ = writeln!(text, "… {} too narrow to be drawn here", of(hidden, drawn + folded));
    }
    text
}

/// Formats the start of a sentence: `1 of 8 frames is` or `2 of 8 frames are`.
fn of(hidden: u64, all: u64) -> String {
    let are = if hidden == 1 { "is" } else { "are" };
    format!("{} of {} {are}", grouped(hidden), plural(all, "frame"))
}

/// Returns the first column of a frame, and its width in columns.
fn columns(drawn: &Drawn<'_>, screen: &Canvas) -> (usize, usize) {
    let column = |part: f64| (part * screen.columns as f64).round() as usize;
    let (from, to) = (column(drawn.x), column(drawn.x + drawn.width).min(screen.columns));
    (from, to.saturating_sub(from))
}

fn push_line(line: &[&Drawn<'_>], length: u64, screen: &Canvas, text: &mut String) {
    let mut at = 0;
    let start = text.len();
    for frame in line {
        let (from, count) = columns(frame, screen);
        if count == 0 || from < at {
            continue;
        }
        text.push_str(&" ".repeat(from - at));
        let percent = 100.0 * frame.total as f64 / length.max(1) as f64;
        let label = match frame.name {
            "" if frame.frames > 1 => format!("… {} frames", frame.frames),
            "" => "…".to_owned(),
            name => format!("{} {percent:.1} %", plain(name)),
        };
        // the last column is a gap, unless the frame has only one column
        let cell = fitted(&label, count - 1);
        if screen.colours && count == 1 {
            let colour = BACKGROUNDS[usize::from(frame.colour) % BACKGROUNDS.len()];
            let _ = write!(text, "\u{1b}[48;5;{colour}m \u{1b}[0m");
        } else if screen.colours {
            let colour = BACKGROUNDS[usize::from(frame.colour) % BACKGROUNDS.len()];
            let _ = write!(text, "\u{1b}[30;48;5;{colour}m{cell}\u{1b}[0m ");
        } else {
            text.push_str(&format!("▏{cell}"));
        }
        at = from + count;
    }
    text.truncate(start + text[start..].trim_end().len());
    if text.len() > start {
        text.push('\n');
    }
}

/// Cuts a text, or appends blanks, so that it has exactly `columns` columns.
fn fitted(text: &str, columns: usize) -> String {
    let (mut cut, mut used) = (String::new(), 0);
    for letter in text.chars() {
        let width = letter.width().unwrap_or(0);
        if used + width > columns {
            break;
        }
        cut.push(letter);
        used += width;
    }
    cut.push_str(&" ".repeat(columns - used));
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_texts_have_the_given_width() {
        assert_eq!(fitted("abc", 5), "abc  ");
        assert_eq!(fitted("abc", 2), "ab");
        assert_eq!(fitted("日本語", 5), "日本 ");
    }
}
