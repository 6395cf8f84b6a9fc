//! Creates the index of a trace.
//!
//! A file that grew is read again as a whole, because block sizes, the look-back and the widths of
//! bins depend on the whole text. Pairing depends on all events in time order.

use super::observer::{Built, build};
use super::write::{MadeIndex, make};
use crate::drawing::Seen;
use crate::format::{Index, IndexError, Input, id};
use crate::fresh::{Fit, fit, input_of, map};
use crate::meta::Meta;
use crate::place::{place_for, place_of};
use serde::Serialize;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::Mapped;
use tracemill_trace::input;
use tracemill_trace::input::source::Source;
use tracemill_trace::os::Temporary;
use tracemill_trace::output::{check_not_input, write_file};
use tracemill_trace::read::InputWarning;
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::run::losses::InputReport;

/// Options for creating indexes.
#[derive(Clone, Debug, Default)]
pub struct IndexConfig {
    /// Path of the index of a single input. By default the index is next to the input, or in
    /// [`Config::index_cache`].
    pub output: Option<PathBuf>,
    /// Whether to replace a fresh index, or a file that is not an index.
    pub replace: bool,
    /// Whether to only compare the existing index with a new index, without writing.
    pub verify: bool,
    /// Whether to report how many bytes of text a run for a time window would read.
    pub reach: bool,
}

/// The report on the index of one trace.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IndexReport {
    /// Report on the trace.
    pub input: InputReport,
    /// Path of the index.
    #[serde(serialize_with = "tracemill_join::report::rows::path")]
    pub path: PathBuf,
    /// Whether the index is in [`Config::index_cache`].
    pub is_elsewhere: bool,
    /// Whether the index was fresh and left unchanged.
    pub is_fresh: bool,
    /// With [`IndexConfig::verify`]: whether a new index is equal, except for the trace's time of
    /// change.
    pub is_same: Option<bool>,
    /// Size of the index in bytes.
    pub bytes: u64,
    /// log2 of the block gap in nanoseconds: blocks end where time jumps by more than this gap.
    ///
    /// `None` if the index was left unchanged.
    pub jump_level: Option<u32>,
    /// Sections of the index.
    pub sections: Vec<IndexSection>,
    /// Names of the sections that did not fit into the index.
    pub left_out: Vec<String>,
    /// Bytes of text that runs for time windows would read; `None` without [`IndexConfig::reach`].
    pub reach: Option<Reach>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// A section of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexSection {
    /// Name of the section.
    pub name: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// Size of the section in the file, in bytes.
    pub bytes: u64,
}

/// Bytes of text that runs for time windows would read. Measured over 64 evenly spread windows of
/// 1/100 of the trace's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// Median over the windows, in bytes.
    pub median: u64,
    /// Maximum over the windows, in bytes.
    pub worst: u64,
}

/// Creates the index of each of `sources`: files, or folders with traces.
///
/// Cost: one pass over each file on all cores, like `info()`, and a checksum of its events. An
/// index takes at most 1/128 of the size of the text; 64 KiB are always allowed.
///
/// ```
/// use tracemill_pipeline::{Config, Source};
/// use tracemill_index::{IndexConfig, index, index_path};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let reports = index(&[Source::Path(trace.clone())], &IndexConfig::default(), &config)?;
/// assert_eq!(reports[0].path, index_path(&trace)); // trace.json.tmi, which other commands find
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of `info()`, and [`ErrorKind::Usage`] for an input that is not a file, or is
/// a CPU profile.
pub fn index(
    sources: &[Source],
    wanted: &IndexConfig,
    config: &Config,
) -> Result<Vec<IndexReport>, Error> {
    config.limits.check()?;
    let inputs = input::expand(sources)?;
    let (mut reports, mut warnings) = (Vec::new(), Vec::new());
    for input in &inputs {
        match index_one(&input.source, wanted, config) {
            Err(error) if input.is_found() && is_no_trace(&error) => {
                InputWarning::leave_out(&mut warnings, error.to_string());
            }
            report => reports.push(report?),
        }
    }
    if !warnings.is_empty() {
        let warnings = warnings.into_iter().map(Warning::from).collect();
        reports.push(IndexReport { warnings, ..IndexReport::default() });
    }
    Ok(reports)
}

fn is_no_trace(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotATrace { .. } | ErrorKind::Usage { .. })
}

fn index_one(source: &Source, wanted: &IndexConfig, config: &Config) -> Result<IndexReport, Error> {
    let pipe = "only a file can have an index: write this input to a file first";
    let Some(path) = source.file() else { return Err(refused(source, pipe)) };
    let metadata = std::fs::metadata(path).map_err(|e| Error::read(path.display(), e))?;
    if !metadata.is_file() {
        return Err(refused(source, pipe));
    }
    let now = input_of(path).map_err(|e| Error::read(path.display(), e))?;
    let (target, is_elsewhere) = match &wanted.output {
        Some(output) => (output.clone(), false),
        None if wanted.verify => (place_of(path, config), false),
        None => place_for(path, &now, config)?,
    };
    check_not_input(&target, std::slice::from_ref(source))?;
    let before = map(&target);
    if !wanted.replace {
        check_is_index(&target, &before)?;
    }
    if let Ok(Some(bytes)) = &before
        && !wanted.replace
        && !wanted.verify
        && let Ok(index) = Index::open(bytes)
        && let Some(input) = fresh_input(&index, &now, &source.to_string())
    {
        let mut report = IndexReport {
            input,
            path: target,
            is_elsewhere,
            is_fresh: true,
            ..IndexReport::default()
        };
        describe(&mut report, wanted)?;
        return Ok(report);
    }
    let (built, mut new_index) = read(source, &now, None, config)?;
    let warnings = warnings_of(&built);
    let mut report = IndexReport {
        input: built.report.inputs.into_iter().next().unwrap_or_default(),
        path: target.clone(),
        is_elsewhere,
        jump_level: Some(new_index.level),
        left_out: new_index.left_out.clone(),
        warnings,
        ..IndexReport::default()
    };
    if wanted.verify {
        let old = before.as_ref().ok().and_then(Option::as_ref);
        let same = same(old.map_or(&[], |old| &old[..]), &mut new_index);
        report.is_same = Some(same.map_err(|e| Error::scratch(&config.limits.tmp_dir, e))?);
        report.bytes = old.map_or(0, |old| old.len() as u64);
        return Ok(report);
    }
    write(&mut new_index, &target)?;
    describe(&mut report, wanted)?;
    Ok(report)
}

/// Returns an error for an input that cannot have an index.
fn refused(source: &Source, why: &str) -> Error {
    ErrorKind::Usage { problem: format!("{source}: {why}"), remedy: None }.into()
}

fn read(
    source: &Source,
    now: &Input,
    seen: Option<&Arc<Seen>>,
    config: &Config,
) -> Result<(Built, MadeIndex), Error> {
    let built = build(source, now.length, seen, config)?;
    if built.report.inputs.iter().any(|input| input.profiles > 0) {
        return Err(refused(source, "a CPU profile needs no index; it is small enough to be read"));
    }
    let path = source.path();
    if input_of(path).map_err(|e| Error::read(path.display(), e))? != *now {
        let (input, how) = (source.to_string(), "was written to".to_owned());
        return Err(ErrorKind::Changed { input, how }.into());
    }
    let new_index = make(&built, now, &config.limits.tmp_dir, config.limits.threads)?;
    Ok((built, new_index))
}

/// Builds the index of a file for immediate use. Returns `None` if the index was written to its
/// path.
///
/// If that path cannot be written, returns the index in an unnamed temporary file, and the reason.
/// `seen` receives progress.
///
/// # Errors
/// Returns the errors of [`index()`], and [`ErrorKind::Scratch`] if the temporary file cannot be
/// written either.
pub(crate) fn make_or_hold(
    source: &Source,
    seen: &Arc<Seen>,
    config: &Config,
) -> Result<Option<(Mapped, Error)>, Error> {
    let path = source.path();
    let now = input_of(path).map_err(|e| Error::read(path.display(), e))?;
    let target = place_for(path, &now, config)
        .and_then(|(target, _)| check_is_index(&target, &map(&target)).map(|()| target));
    let (_, mut new_index) = read(source, &now, Some(seen), config)?;
    let Err(why) = target.and_then(|target| write(&mut new_index, &target)) else {
        return Ok(None);
    };
    let mut held = || {
        let mut file = Temporary::new(&config.limits.tmp_dir)?;
        new_index.write_to(&mut file)?;
        file.map()
    };
    let bytes = held().map_err(|e| Error::scratch(&config.limits.tmp_dir, e))?;
    Ok(bytes.map(|bytes| (bytes, why)))
}

/// Returns an error if `found`, the mapped file at `path`, is not an index. Such a file must not be
/// replaced.
fn check_is_index(path: &Path, found: &io::Result<Option<Mapped>>) -> Result<(), Error> {
    let is_other = match found {
        Ok(Some(bytes)) => matches!(Index::open(bytes), Err(IndexError::NotAnIndex)),
        Ok(None) => false,
        Err(_) => true,
    };
    match is_other {
        true => Err(ErrorKind::OutputExists { path: path.display().to_string() }.into()),
        false => Ok(()),
    }
}

fn warnings_of(built: &Built) -> Vec<Warning> {
    let is_whole = |input: &&InputReport| input.encoding.is_some() && input.bytes > WORTH_PARTS;
    let whole = built.report.inputs.iter().filter(|_| built.restarts.is_empty()).filter(is_whole);
    let whole = whole.map(|input| Warning::OnlyAsAWhole { trace: input.name.clone() });
    built.report.warnings.iter().cloned().chain(whole).collect()
}

/// Returns the input report in an index, if the index is fresh and undamaged.
fn fresh_input(index: &Index<'_>, now: &Input, name: &str) -> Option<InputReport> {
    let is_fresh = fit(index.input(), now) == Fit::Same && is_sound(index);
    is_fresh.then(|| Meta::read(index).ok()?.input(name)).flatten()
}

fn is_sound(index: &Index<'_>) -> bool {
    let mut pages = index.sections().iter().flat_map(|section| &section.pages);
    pages.all(|entry| index.page(entry).is_ok())
}

fn write(new_index: &mut MadeIndex, target: &Path) -> Result<(), Error> {
    write_file(target, |out| new_index.write_to(out))
}

/// Returns whether the bytes `old` equal the new index, except for the trace's time of change.
fn same(old: &[u8], new_index: &mut MadeIndex) -> io::Result<bool> {
    let MadeIndex { head, body, bytes, .. } = new_index;
    let (time, checksum) = (24..32, 60..64);
    let is_same = |at: usize| time.contains(&at) || checksum.contains(&at) || old[at] == head[at];
    if old.len() as u64 != *bytes || !(0..head.len()).all(is_same) {
        return Ok(false);
    }
    let mut rest = &old[head.len()..];
    let mut buffer = vec![0; 64 << 10];
    while !rest.is_empty() {
        let part = &mut buffer[..rest.len().min(64 << 10)];
        body.read_exact(part)?;
        if !rest.starts_with(part) {
            return Ok(false);
        }
        rest = &rest[part.len()..];
    }
    Ok(true)
}

/// Fills the report from the written index.
fn describe(report: &mut IndexReport, wanted: &IndexConfig) -> Result<(), Error> {
    let failed = |e: io::Error| Error::read(report.path.display(), e);
    let damaged = |e: IndexError| Error::read(report.path.display(), io::Error::other(e));
    let missing = || failed(io::ErrorKind::NotFound.into());
    let bytes = map(&report.path).map_err(failed)?.ok_or_else(missing)?;
    let index = Index::open(&bytes).map_err(damaged)?;
    let sections = index.sections().iter().map(|section| IndexSection {
        name: id::name(section.id).unwrap_or("unknown"),
        rows: section.rows,
        bytes: section.pages.iter().map(|page| u64::from(page.packed)).sum(),
    });
    let sections = sections.collect();
    let reach = match wanted.reach {
        true => reach(&index).map_err(damaged)?,
        false => None,
    };
    (report.bytes, report.sections, report.reach) = (bytes.len() as u64, sections, reach);
    Ok(())
}

/// Text size in bytes above which unpacking is slow enough for a warning.
const WORTH_PARTS: u64 = 8 << 20;

/// Number of windows that [`Reach`] is measured with.
const WINDOWS: usize = 64;

/// Measures the bytes of the blocks that overlap evenly spread windows of 1/100 of the trace.
fn reach(index: &Index<'_>) -> Result<Option<Reach>, IndexError> {
    let Some(section) = index.section(id::GRANULES) else { return Ok(None) };
    let times = section.pages.iter().map(|page| (page.first as i64, page.last as i64));
    let times = times.filter(|(least, greatest)| least <= greatest);
    let Some((least, greatest)) = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
        return Ok(None);
    };
    let range = i128::from(greatest) - i128::from(least);
    let window = |number: usize| {
        let from = i128::from(least) + range * 99 / 100 * number as i128 / (WINDOWS as i128 - 1);
        (from, from + range / 100)
    };
    let windows: Vec<(i128, i128)> = (0..WINDOWS).map(window).collect();
    let mut bytes = vec![0_u64; WINDOWS];
    for entry in &section.pages {
        let [_, lens, _, leasts, widths] = index.page(entry)?.columns()?;
        for row in 0..lens.len() {
            let least = i128::from(leasts[row] as i64);
            let greatest = least + i128::from(widths[row]);
            for (read, (from, to)) in bytes.iter_mut().zip(&windows) {
                *read += if least <= *to && greatest >= *from { lens[row] } else { 0 };
            }
        }
    }
    bytes.sort_unstable();
    Ok(Some(Reach { median: bytes[WINDOWS / 2], worst: bytes[WINDOWS - 1] }))
}
