//! The form of a trace that is written, and how it is packed.

use super::OutputArgs;
use crate::exit::Failure;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tracemill_pipeline::{Compression, Format, OutputConfig};

/// How a trace is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TraceArgs {
    /// How to pack the output [default: by the name of -o: .gz, .zst]
    #[arg(short = 'z', long, value_name = "CODEC")]
    pub(crate) compress: Option<Codec>,
    /// Effort of packing: gz 0 to 9 [default: 6], zst 1 to 19 [default: 3]
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    /// Form of the output [default: that of the first input]
    ///
    /// object: {"traceEvents":[…], …}; array: […], which has no place for other keys; ndjson: one event a line, other
    /// keys in the first one.
    #[arg(long, value_name = "FORM", value_parser = formats())]
    pub(crate) format: Option<Format>,
    /// Write as JSON what is not, where it is clear what was meant
    ///
    /// NaN and Infinity become null, bytes that are not UTF-8 U+FFFD; raw control characters are escaped, and so are
    /// backslashes that begin no escape (C:\demo); commas before closing brackets go. All of it is counted.
    #[arg(long, conflicts_with = "strict")]
    pub(crate) repair: bool,
}

/// How the output is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Codec {
    /// One gzip member, which DevTools can open
    #[value(alias = "gzip")]
    Gz,
    /// zstd: faster and smaller
    #[value(alias = "zstd")]
    Zst,
    /// As it is
    None,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let names = [Format::Object, Format::Array, Format::Ndjson].map(Format::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Format>())
}

impl TraceArgs {
    /// What the pipeline takes; `terminal` says whether standard output is one.
    pub(crate) fn config(
        &self,
        output: &OutputArgs,
        terminal: bool,
    ) -> Result<OutputConfig, Failure> {
        let compression = self.compression(output)?;
        if compression != Compression::None && output.file().is_none() && terminal {
            return Err(Failure::usage(
                "packed output does not go to a terminal: name a file with -o, or pipe it on",
            ));
        }
        Ok(OutputConfig { target: output.target(), format: self.format, compression })
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
