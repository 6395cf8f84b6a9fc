//! A picture as a page of its own: the frames as columns of numbers, which a script draws on a canvas, how deep they stand as a strip above it, what
//! is searched, and a table of what takes the time. A canvas holds ten times as many frames as a tree of elements.

use super::drawing::{Band, Picture};
use super::layout::What;
use super::svg::{COLOURS, escaped, place};
use crate::export::stacks::Frame;
use std::io::{self, Write};
use tracemill_core::hash::HashMap;
use tracemill_core::json::push_string;
use tracemill_tokenizer::to_text;

/// A row of the table below a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub place: String,
    /// Milliseconds of its own.
    pub own: f64,
    /// Milliseconds.
    pub total: f64,
    /// Events.
    pub count: u64,
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes it.
pub(super) fn write(picture: &Picture, table: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    let title = escaped(&picture.title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{STYLE}{COLOURS}</style>\n</head>\n\
         <body>\n<header><h1>{title}</h1><label>Search <input type=\"search\" placeholder=\"regular expression\"></label>\n\
         <button>Reset (Esc)</button> <output class=\"found\"></output>\n<p class=\"info\">{}</p></header>\n\
         <canvas class=\"strip\" height=\"40\" aria-label=\"how deep frames stand; drag to zoom\"></canvas>\n\
         <div class=\"picture\"><canvas tabindex=\"0\" aria-label=\"{title}\"></canvas></div>\n\
         <noscript><p>The picture is drawn by a script; the table below says the same in numbers.</p></noscript>\n",
        escaped(&picture.summary())
    )?;
    write!(
        out,
        "<main>\n<table>\n<thead><tr><th class=\"n\">self ms</th><th class=\"n\">total ms</th><th class=\"n\">count</th>\
         <th>activity</th><th>location</th></tr></thead>\n<tbody>\n"
    )?;
    for row in table {
        writeln!(
            out,
            "<tr><td class=\"n\">{:.2}</td><td class=\"n\">{:.2}</td><td class=\"n\">{}</td><td><a>{}</a></td><td>{}</td></tr>",
            row.own,
            row.total,
            row.count,
            escaped(&row.name),
            escaped(&row.place)
        )?;
    }
    write!(out, "</tbody>\n</table>\n</main>\n<script type=\"application/json\" id=\"data\">\n")?;
    write_data(picture, out)?;
    write!(out, "</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

/// Texts, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: String) -> usize {
        let next = self.all.len();
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.all.push(text.clone());
            next
        })
    }
}

/// The frames of a band, a column for each thing that is known of them; times are nanoseconds.
#[derive(Default)]
struct Columns {
    depth: Vec<u64>,
    x: Vec<u64>,
    width: Vec<u64>,
    label: Vec<u64>,
    class: Vec<u64>,
    own: Vec<u64>,
    total: Vec<u64>,
    count: Vec<u64>,
    /// By how much self and total time changed; nothing for what is not compared.
    change: Vec<Option<(i64, i64)>>,
}

impl Columns {
    fn of(picture: &Picture, band: &Band, (labels, classes): (&mut Texts, &mut Texts)) -> Self {
        let mut columns = Columns::default();
        // each frame has its label once, however often it is drawn
        let mut known: HashMap<u32, usize> = HashMap::default();
        for drawn in &band.drawn {
            let (label, class, own, total, count, change) = match drawn.what {
                What::Folded(count) => {
                    let label = labels.number(format!("… {count} frames"));
                    (label, "fold".to_owned(), 0, drawn.width, count, None)
                }
                What::Node(at) => {
                    let node = &band.nodes.all[at as usize];
                    let frame: &Frame = &picture.frames[node.frame as usize];
                    let label = known.entry(node.frame);
                    let label = *label.or_insert_with(|| labels.number(place(frame)));
                    let class = picture.class(band, at);
                    (label, class, node.own, node.total, node.count, node.change)
                }
            };
            columns.depth.push(u64::from(drawn.depth));
            columns.x.push(drawn.x);
            columns.width.push(drawn.width);
            columns.label.push(label as u64);
            columns.class.push(classes.number(class) as u64);
            columns.own.push(own);
            columns.total.push(total);
            columns.count.push(count);
            columns.change.push(change);
        }
        columns
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = [
            ("depth", &self.depth),
            ("x", &self.x),
            ("width", &self.width),
            ("label", &self.label),
            ("class", &self.class),
            ("self", &self.own),
            ("total", &self.total),
            ("count", &self.count),
        ];
        for (name, numbers) in columns {
            write!(out, ",\n\"{name}\":[{}]", joined(numbers.iter()))?;
        }
        if self.change.iter().any(Option::is_some) {
            let change = |own: &Option<(i64, i64)>| match own {
                Some((own, total)) => format!("[{own},{total}]"),
                None => "null".to_owned(),
            };
            write!(out, ",\n\"change\":[{}]", joined(self.change.iter().map(change)))?;
        }
        Ok(())
    }
}

/// What stands in a list of JSON.
fn joined(all: impl Iterator<Item = impl ToString>) -> String {
    let mut text = String::new();
    for own in all {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&own.to_string());
    }
    text
}

/// The picture as JSON that ends no script: `<` is an escape.
fn write_data(picture: &Picture, out: &mut dyn Write) -> io::Result<()> {
    let (mut labels, mut classes) = (Texts::default(), Texts::default());
    write!(out, "{{\"length\":{},\"up\":{},\"bands\":[", picture.length, picture.rules.up)?;
    for (at, band) in picture.bands.iter().enumerate() {
        let title = text(&band.title);
        let comma = if at > 0 { "," } else { "" };
        let timed = picture.is_timed();
        write!(out, "{comma}\n{{\"title\":{title},\"up\":{},\"timed\":{timed}", band.up)?;
        Columns::of(picture, band, (&mut labels, &mut classes)).write(out)?;
        write!(out, "}}")?;
    }
    let list = |texts: &Texts| joined(texts.all.iter().map(|own| text(own)));
    writeln!(out, "],\n\"labels\":[{}],\n\"classes\":[{}]}}", list(&labels), list(&classes))
}

fn text(text: &str) -> String {
    let mut json = Vec::with_capacity(text.len() + 2);
    push_string(text, &mut json);
    to_text(&json).replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_no_script_and_stay_what_they_are() {
        for plain in ["</script>", "<!--", "a\"b\\", "é\u{1}"] {
            let written = text(plain);
            assert!(!written.contains('<'), "{written}");
            assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), plain);
        }
    }

    #[test]
    fn the_page_is_small_and_asks_nobody() {
        // the one address is the name of SVG
        assert!(
            SCRIPT.len() < 16_384 && !SCRIPT.contains("</") && SCRIPT.matches("http").count() == 1
        );
    }
}
