//! Flags for the format and compression of a trace. Their defaults depend on the file name.

use super::OutputArgs;
use super::export::named;
use crate::engine::TableFormat;
use crate::outcome::exit::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tracemill_export::ExportForm;
use tracemill_trace::output::target::{Compression, Format, OutputConfig};

/// File extensions of formats that trace outputs do not have, and the command that writes each.
const ELSEWHERE: [(&str, &str); 9] = [
    ("pftrace", PFTRACE),
    ("perfetto-trace", PFTRACE),
    ("cpuprofile", "tracemill profile extract writes CPU profiles"),
    (
        "csv",
        "tracemill query writes results of SQL; tracemill top, tree and diff write tables with --csv",
    ),
    ("parquet", "tracemill convert writes it"),
    ("arrow", "tracemill convert writes it"),
    ("zip", ".json.gz and .json.zst are packed traces"),
    ("html", "tracemill flame draws .svg pictures; DevTools and Perfetto open .json and .json.gz"),
    ("svg", "tracemill flame draws pictures"),
];

const PFTRACE: &str = "tracemill convert writes it; Perfetto opens .json and .json.gz too, and --for perfetto writes these so that it shows all";

/// Format and compression of the output.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TraceArgs {
    /// Compress the output [default: from the name of -o: .gz, .zst]
    #[arg(short = 'z', long, value_name = "CODEC")]
    pub(crate) compress: Option<Codec>,
    /// Compression level: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    /// Format of the output [default: from the name of -o, else as the first input]
    ///
    /// object: {"traceEvents":[…], …}; array: […], which has no place for top-level keys; ndjson: one
    /// event per line, with top-level keys in the first line.
    #[arg(long, value_name = "FORM", value_parser = formats())]
    pub(crate) format: Option<OutputForm>,
    /// Repair text that is not JSON where the meaning is clear
    ///
    /// NaN and Infinity become null; bytes that are not UTF-8 become U+FFFD; raw control characters are
    /// escaped, and so are backslashes that start no JSON escape (C:\demo); commas before closing
    /// brackets are removed. Each kind is counted.
    #[arg(long, conflicts_with = "strict")]
    pub(crate) repair: bool,
    /// Also write an index next to each written trace, like `tracemill index`
    #[arg(long)]
    pub(crate) write_index: bool,
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// A trace.
    Trace(Format),
    /// A call tree. Only `convert` accepts this format.
    Export(ExportForm),
    /// Perfetto's format. Only `convert` accepts this format.
    Perfetto,
    /// A table of all events. Only `convert` accepts this format.
    Table(TableFormat),
}

/// Formats of tables, by name.
const TABLES: [(&str, TableFormat); 2] =
    [("parquet", TableFormat::Parquet), ("arrow", TableFormat::Arrow)];

/// The compression of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Codec {
    /// One gzip member, which DevTools can open
    #[value(alias = "gzip")]
    Gz,
    /// zstd: faster and smaller
    #[value(alias = "zstd")]
    Zst,
    /// No compression
    None,
}

const TRACES: [&str; 3] = ["object", "array", "ndjson"];
const PERFETTO: &str = "perfetto";

/// Parses formats of traces. Formats of call trees are accepted but hidden, so that the error can
/// name the command that writes them.
fn formats() -> impl TypedValueParser<Value = OutputForm> {
    forms(true)
}

/// Parses formats of traces and of trees.
pub(super) fn all_formats() -> impl TypedValueParser<Value = OutputForm> {
    forms(false)
}

fn forms(hidden: bool) -> impl TypedValueParser<Value = OutputForm> {
    let traces = TRACES.into_iter().map(PossibleValue::new);
    let tables = TABLES.map(|(name, _)| name);
    let others = ExportForm::ALL.map(ExportForm::name).into_iter().chain([PERFETTO]).chain(tables);
    let others = others.map(move |name| PossibleValue::new(name).hide(hidden));
    PossibleValuesParser::new(traces.chain(others)).try_map(|name| {
        if name == PERFETTO {
            return Ok(OutputForm::Perfetto);
        }
        if let Some((_, format)) = TABLES.iter().find(|(table, _)| *table == name) {
            return Ok(OutputForm::Table(*format));
        }
        match name.parse::<ExportForm>() {
            Ok(form) => Ok(OutputForm::Export(form)),
            Err(_) => name.parse::<Format>().map(OutputForm::Trace),
        }
    })
}

impl TraceArgs {
    /// Returns the configuration of the output. `terminal` says whether standard output is a
    /// terminal.
    pub(crate) fn config(
        &self,
        output: &OutputArgs,
        terminal: bool,
    ) -> Result<OutputConfig, Failure> {
        output.file().map_or(Ok(()), |path| refuse_elsewhere(path))?;
        let compression = self.compression(output)?;
        if compression != Compression::None && output.file().is_none() && terminal {
            return Err(Failure::usage(
                "packed output does not go to a terminal: name a file with -o, or pipe it on",
            ));
        }
        let format = match self.format {
            Some(OutputForm::Trace(format)) => Some(format),
            Some(OutputForm::Export(form)) => {
                return Err(Failure::usage(format!(
                    "this verb writes traces: tracemill convert --format {0} writes call trees, tracemill tree --format {0} those of \
                     a part",
                    form.name()
                )));
            }
            Some(OutputForm::Perfetto) => {
                return Err(Failure::usage(
                    "this verb writes JSON: tracemill convert --format perfetto writes the form of Perfetto",
                ));
            }
            Some(OutputForm::Table(_)) => {
                return Err(Failure::usage(
                    "this verb writes traces: tracemill convert writes parquet and arrow, tracemill query those of a part",
                ));
            }
            None => output.file().and_then(|path| format_of(path)),
        };
        Ok(OutputConfig { target: output.target(), format, compression })
    }

    fn compression(&self, output: &OutputArgs) -> Result<Compression, Failure> {
        let by_name = || match output.file()?.extension()?.to_str()? {
            "gz" => Some(Codec::Gz),
            "zst" => Some(Codec::Zst),
            _ => None,
        };
        let (name, levels, usual) = match self.compress.or_else(by_name) {
            Some(Codec::Gz) => ("gz", 0..=9, 6),
            Some(Codec::Zst) => ("zst", 1..=19, 3),
            Some(Codec::None) | None => {
                return match self.level {
                    Some(_) => Err(Failure::usage("--level needs packed output: -z gz or -z zst")),
                    None => Ok(Compression::None),
                };
            }
        };
        let level = self.level.unwrap_or(usual);
        if !levels.contains(&level) {
            let (least, most) = levels.into_inner();
            return Err(Failure::usage(format!(
                "--level of {name} is {least} to {most}, got {level}"
            )));
        }
        match name {
            "gz" => Ok(Compression::Gzip { level }),
            _ => Ok(Compression::Zstd { level }),
        }
    }
}

/// Removes the extension of a compression from a path.
fn unpacked(path: &Path) -> PathBuf {
    let packed = path.extension().is_some_and(|end| end == "gz" || end == "zst");
    if packed { path.with_extension("") } else { path.to_owned() }
}

/// Returns the format that a file extension means.
fn format_of(path: &Path) -> Option<Format> {
    match unpacked(path).extension()?.to_str()? {
        "ndjson" | "jsonl" => Some(Format::Ndjson),
        _ => None,
    }
}

/// Returns an error if the file name means a format that this command does not write.
fn refuse_elsewhere(path: &Path) -> Result<(), Failure> {
    let plain = unpacked(path);
    if let Some(form) = named(path) {
        return Err(Failure::usage(format!(
            "{}: {} is not what this verb writes: tracemill convert and tracemill tree write it",
            path.display(),
            form.name()
        )));
    }
    let end = plain.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match ELSEWHERE.iter().find(|(other, _)| end.eq_ignore_ascii_case(other)) {
        Some((_, instead)) => Err(Failure::usage(format!(
            "{}: a .{end} file is not what this verb writes; it writes .json and .ndjson (.jsonl), each also .gz or .zst, and \
             tracemill convert also .pftrace, .folded, .speedscope.json and .pb; {instead}",
            path.display()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_name_determines_the_format() {
        for (name, format) in [
            ("a.ndjson", Some(Format::Ndjson)),
            ("a.jsonl.gz", Some(Format::Ndjson)),
            ("d.ndjson/a.json", None),
            ("a.json.gz", None),
            ("a", None),
            ("a.gz", None),
        ] {
            assert_eq!(format_of(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn names_of_other_formats_are_refused_with_an_alternative() {
        for (name, instead) in [
            ("a.pftrace", "tracemill convert"),
            ("a.folded", "tracemill tree"),
            ("a.csv.gz", "tracemill query"),
            ("a.CSV", "tracemill query"),
            ("a.parquet", "tracemill convert"),
            ("a.svg", "tracemill flame"),
        ] {
            let text = refuse_elsewhere(Path::new(name)).expect_err(name).to_string();
            assert!(text.starts_with(name) && text.contains(instead), "{text}");
        }
        for name in ["a.json", "a.trace", "a.log", "a.json.zst", "a", "node_trace.1"] {
            assert!(refuse_elsewhere(Path::new(name)).is_ok(), "{name}");
        }
    }
}
