//! A picture as a page: what is searched, the picture, and a table of what takes the time.

use super::drawing::Picture;
use super::svg::escaped;
use std::io::{self, Write};

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

const STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0;font:14px/1.45 ui-sans-serif,system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;background:#fff;color:#1b1b1f}
header{padding:10px 8px 0}
input{font:inherit;padding:4px 8px;width:min(24em,60vw)}
main{padding:0 8px 24px;overflow-x:auto}
table{border-collapse:collapse;margin-top:12px}
th,td{padding:2px 10px;text-align:left;white-space:nowrap;border-bottom:1px solid #8884}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
td a{color:inherit;cursor:pointer;text-decoration:underline dotted}
@media(prefers-color-scheme:dark){body{background:#17181c;color:#ececf0}}
";

const SCRIPT: &str = "\
document.querySelector('input').addEventListener('input', function (e) { tracemillSearch(e.target.value); });
document.querySelectorAll('td a').forEach(function (a) {
  a.addEventListener('click', function () {
    var text = '^' + a.textContent.replace(/[.*+?^${}()|[\\]\\\\]/g, '\\\\$&') + '( |$)';
    document.querySelector('input').value = text;
    tracemillSearch(text);
    scrollTo(0, 0);
  });
});
";

/// Writes it.
pub(super) fn write(picture: &Picture, table: &[Listed], out: &mut dyn Write) -> io::Result<()> {
    let title = escaped(&picture.title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<header><label>Search <input type=\"search\" placeholder=\"regular expression\"></label></header>\n"
    )?;
    picture.write_svg(out)?;
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
    write!(out, "</tbody>\n</table>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}
