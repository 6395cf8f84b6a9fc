//! Writes a picture as an SVG. A script in the SVG adds zoom and search; the picture is readable
//! without the script.
//!
//! A frame that is wide enough for its name is a nested SVG, which clips the name. Other frames are
//! plain rectangles, which browsers open quickly.

use super::drawing::{Band, Picture};
use super::layout::{Rectangle, What};
use super::legend::legend;
use crate::stacks::Frame;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Height of a row in pixels.
const ROW: u64 = 17;
/// Pixels above the legend.
const HEAD: u64 = 44;
/// Height of a line of the legend in pixels.
const LEGEND: u64 = 18;
/// Width in pixels at which the legend begins a new line.
const LEGEND_WIDTH: usize = 720;
/// Width in pixels of the picture for which labels are cut where no script runs.
const USUAL_WIDTH: f64 = 1200.0;
/// Mean width of a letter in pixels.
const LETTER: f64 = 6.0;
/// Pixels above each band with a title.
const TITLE: u64 = 20;
/// Minimum width of a frame with a label, in percent of the picture.
const LABELLED: f64 = 1.5;

const STYLE: &str = include_str!("picture.css");
const SCRIPT: &str = include_str!("picture.js");

pub(super) fn write(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let legend = legend_lines(picture);
    let head = HEAD + LEGEND * legend.len() as u64;
    let tall = head + picture.bands.iter().map(|band| height(picture, band)).sum::<u64>() + 8;
    let up = if picture.rules.up { " data-up=\"1\"" } else { "" };
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"tracemill\" class=\"tm\" width=\"100%\" height=\"{tall}\" tabindex=\"0\"{up}>\n\
         <title>{}</title>\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"none\"/>\n",
        escaped(&title(picture))
    )?;
    write!(
        out,
        "<text class=\"t\" x=\"8\" y=\"16\">{}</text>\n\
         <text class=\"info d\" x=\"8\" y=\"34\">{}</text>\n\
         <svg x=\"0\" y=\"0\" width=\"100%\" height=\"22\" overflow=\"visible\"><text class=\"d\" x=\"100%\" dx=\"-8\" y=\"16\" \
         text-anchor=\"end\"><tspan class=\"found\"></tspan>  <tspan class=\"search\" cursor=\"pointer\">Search (/)</tspan>  \
         <tspan class=\"reset\" cursor=\"pointer\">Reset (Esc)</tspan></text></svg>\n",
        escaped(&title(picture)),
        escaped(&picture.summary()),
    )?;
    write_legend(&legend, out)?;
    let mut y = head;
    for band in &picture.bands {
        write_band(picture, band, y, out)?;
        y += height(picture, band);
    }
    write!(out, "<script><![CDATA[\n{SCRIPT}]]></script>\n</svg>\n")
}

/// Returns the recording and the title of a picture.
fn title(picture: &Picture) -> String {
    match &*picture.recording {
        "" => picture.title.clone(),
        recording => format!("{recording} · {}", picture.title),
    }
}

/// An entry of the legend: a colour and its meaning.
struct LegendEntry {
    x: usize,
    class: String,
    meaning: &'static str,
}

/// Breaks the legend into lines.
fn legend_lines(picture: &Picture) -> Vec<Vec<LegendEntry>> {
    let mut lines: Vec<Vec<LegendEntry>> = Vec::new();
    let mut x = LEGEND_WIDTH;
    for (class, meaning) in legend(picture) {
        let width = 30 + (meaning.chars().count() as f64 * LETTER) as usize;
        if x + width > LEGEND_WIDTH {
            lines.push(Vec::new());
            x = 8;
        }
        lines.iter_mut().last().into_iter().for_each(|line| {
            line.push(LegendEntry { x, class: class.clone(), meaning });
        });
        x += width;
    }
    lines
}

fn write_legend(lines: &[Vec<LegendEntry>], out: &mut dyn Write) -> io::Result<()> {
    for (number, line) in (0..).zip(lines) {
        let y = HEAD + LEGEND * number;
        for LegendEntry { x, class, meaning } in line {
            writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" rx=\"2\"/>\
                 <text class=\"d\" x=\"{}\" y=\"{}\">{meaning}</text>",
                x + 15,
                y + 9
            )?;
        }
    }
    Ok(())
}

/// Cuts a label to the width of its frame, given in percent of the picture.
fn cut(label: &str, width: f64) -> String {
    let letters = ((width / 100.0 * USUAL_WIDTH - 6.0) / LETTER).max(1.0) as usize;
    match label.char_indices().nth(letters) {
        None => label.to_owned(),
        Some(_) => label.chars().take(letters - 1).chain(['…']).collect(),
    }
}

/// Returns the height of a band in pixels.
fn height(picture: &Picture, band: &Band) -> u64 {
    let deepest =
        band.drawn.iter().map(|rectangle| u64::from(rectangle.depth) + 1).max().unwrap_or(0);
    let title = if picture.bands.len() > 1 { TITLE } else { 0 };
    title + deepest * ROW + 6
}

fn write_band(picture: &Picture, band: &Band, y: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut top = y;
    if picture.bands.len() > 1 {
        writeln!(
            out,
            "<text class=\"d\" x=\"8\" y=\"{}\">{}</text>",
            y + 14,
            escaped(&band.title)
        )?;
        top += TITLE;
    }
    let deepest = band.drawn.iter().map(|rectangle| rectangle.depth).max().unwrap_or(0);
    let timed = if picture.is_timed() { " timed" } else { "" };
    writeln!(out, "<g class=\"band{timed}\">")?;
    let mut text = String::new();
    for rectangle in &band.drawn {
        let row = if band.up { deepest - rectangle.depth } else { rectangle.depth };
        text.clear();
        push_rectangle(picture, band, rectangle, top + u64::from(row) * ROW, &mut text);
        out.write_all(text.as_bytes())?;
    }
    writeln!(out, "</g>")
}

fn push_rectangle(
    picture: &Picture,
    band: &Band,
    rectangle: &Rectangle,
    y: u64,
    text: &mut String,
) {
    let percent = |part: u64| 100.0 * part as f64 / picture.length.max(1) as f64;
    let (x, width) = (percent(rectangle.x), percent(rectangle.width));
    let (class, label, title, filled) = match rectangle.content {
        What::Folded(count) => {
            let label = format!("… {count} frames");
            let title = format!("{label}\n{}", share(picture, rectangle.width));
            (" fold".to_owned(), label, title, None)
        }
        What::Node(at) => {
            let node = &band.nodes.all[at as usize];
            let frame = &picture.frames[node.frame as usize];
            let label = place(frame);
            let mut title = format!(
                "{label}\n{}, self {:.3} ms, {} ×",
                share(picture, node.total),
                node.own as f64 / 1e6,
                node.count
            );
            if let Some((self_change, total_change)) = node.change {
                let ms = |nanos: i64| nanos as f64 / 1e6;
                let _ = write!(
                    title,
                    "\nself {:+.3} ms, total {:+.3} ms",
                    ms(self_change),
                    ms(total_change)
                );
            }
            (format!(" {}", picture.class(band, at)), label, title, picture.fill(band, at))
        }
    };
    let fill = filled.map_or_else(String::new, |rgb| format!(" fill=\"#{rgb:06x}\""));
    let place = format!(
        "data-d=\"{}\" x=\"{}%\" y=\"{y}\" width=\"{}%\" height=\"{}\"{fill}",
        rectangle.depth,
        decimals(x),
        decimals(width),
        ROW - 1,
    );
    let title = escaped(&title);
    let _ = if width >= LABELLED {
        write!(
            text,
            "<svg class=\"f{class} w\" {place}><title>{title}</title><rect width=\"100%\" height=\"100%\"/>\
             <text x=\"3\" y=\"12\">{}</text></svg>",
            escaped(&cut(&label, width))
        )
    } else {
        // Most frames are narrow. They are a single element, and the script shows their title.
        write!(
            text,
            "<rect class=\"f{class}\" {place} data-t=\"{}\"/>",
            title.replace('\n', "&#10;")
        )
    };
}

/// Formats nanoseconds as milliseconds and percent of the picture.
fn share(picture: &Picture, nanos: u64) -> String {
    let percent = 100.0 * nanos as f64 / picture.length.max(1) as f64;
    format!("{:.3} ms ({percent:.2} %)", nanos as f64 / 1e6)
}

/// Formats a frame with its file name and position.
fn place(frame: &Frame) -> String {
    if frame.url.is_empty() {
        return frame.name.clone();
    }
    let url = frame.url.split(['?', '#']).next().unwrap_or_default();
    let file = url.rsplit('/').find(|part| !part.is_empty()).unwrap_or(url);
    let mut text = format!("{} {file}", frame.name);
    for number in [frame.line, frame.column].into_iter().map_while(|number| number) {
        let _ = write!(text, ":{number}");
    }
    text
}

/// Formats a number with up to four decimals.
fn decimals(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes text for XML; invalid characters become U+FFFD.
fn escaped(text: &str) -> String {
    let mut sound = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => sound.push_str("&amp;"),
            '<' => sound.push_str("&lt;"),
            '>' => sound.push_str("&gt;"),
            '"' => sound.push_str("&quot;"),
            '\n' | '\t' => sound.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                sound.push('\u{fffd}');
            }
            letter => sound.push(letter),
        }
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_for_xml() {
        assert_eq!(escaped("a<b>&\"c\u{1}\n"), "a&lt;b&gt;&amp;&quot;c\u{fffd}\n");
        assert_eq!([decimals(12.5), decimals(0.0), decimals(100.0)], ["12.5", "0", "100"]);
    }

    #[test]
    fn labels_fit_frames_of_the_usual_width() {
        assert_eq!(cut("sortWords", 10.0), "sortWords");
        assert_eq!(cut("sortWords app.mjs:5:21", 4.0), "sortWo…");
        assert_eq!(cut("ö…", 0.1), "…");
    }

    #[test]
    fn script_is_small_and_does_not_end_its_section() {
        assert!(SCRIPT.len() < 8192 && !SCRIPT.contains("]]>") && !STYLE.contains('<'));
    }
}
