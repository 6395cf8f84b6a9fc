//! Runs a merge with given knobs.

use std::io::Write;
use std::path::{Path, PathBuf};
use tracemill_join::config::Config;
use tracemill_join::report::MergeReport;
use tracemill_pipeline::merge;
use tracemill_tokenizer::Tier;
use tracemill_trace::output::target::{Compression, Format, OutputConfig, Target};
use tracemill_trace::run::limits::Shares;
use tracemill_trace::{Error, Limits, Source};

/// Settings that may affect the cost of a run but not its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knobs {
    pub(crate) tier: Tier,
    /// Bytes per read from a pipe; `None` for mapped files.
    pub(crate) read_size: Option<usize>,
    pub(crate) threads: usize,
    /// Memory for index and input buffers, in bytes; `None` for plenty.
    pub(crate) budget: Option<u64>,
    pub(crate) chunk: usize,
}

pub(crate) const PLAIN: Knobs =
    Knobs { tier: Tier::Scalar, read_size: None, threads: 1, budget: None, chunk: 1 << 20 };

/// Returns a combination of knobs for every number.
pub(crate) fn knobs(number: usize) -> Knobs {
    let tiers: Vec<Tier> = Tier::ALL.into_iter().filter(|tier| tier.is_available()).collect();
    let reads = [None, Some(1), Some(63), Some(64), Some(65), Some(4096), Some(1 << 20)];
    Knobs {
        tier: tiers[number % tiers.len()],
        read_size: reads[number / 2 % reads.len()],
        threads: [1, 2, 7][number / 3 % 3],
        budget: [None, Some(200), Some(2000)][number / 5 % 3],
        chunk: [64, 300, 5000, 1 << 20][number / 7 % 4],
    }
}

pub(crate) fn config(knobs: Knobs) -> Config {
    let ample = 64 << 20;
    let share = knobs.budget.unwrap_or(ample);
    let limits = Limits {
        tier: Some(knobs.tier),
        read_size: knobs.read_size.unwrap_or(1 << 18),
        shares: Some(Shares {
            payload: share,
            index: share,
            chunk: knobs.chunk,
            segment: knobs.budget.map_or(1 << 20, |budget| budget as usize / 2),
        }),
        ..Limits::new(knobs.threads, ample, std::env::temp_dir())
    };
    Config::of(limits)
}

/// Like [`config`], but strict.
pub(crate) fn strict(knobs: Knobs) -> Config {
    let mut config = config(knobs);
    config.limits.strict = true;
    config
}

/// Returns the config of a new, uncompressed file.
pub(crate) fn output_to(path: &Path, format: Option<Format>) -> OutputConfig {
    let target = Target::File { path: path.to_owned(), replace: false };
    OutputConfig { target, format, compression: Compression::None }
}

pub(crate) use tracemill_testkit::Folder;

/// The bytes of the output and the report.
pub(crate) type Merged = Result<(Vec<u8>, MergeReport), Error>;

pub(crate) fn run(inputs: &[&[u8]], format: Option<Format>, knobs: Knobs) -> Merged {
    over(inputs, knobs, |sources| run_sources(sources, format, &config(knobs)))
}

/// Runs a verb over inputs in files, or from pipes if the knobs say so.
pub(crate) fn over<T>(inputs: &[&[u8]], knobs: Knobs, verb: impl FnOnce(&[Source]) -> T) -> T {
    if knobs.read_size.is_some() {
        return through_pipes(inputs, verb);
    }
    let folder = Folder::new();
    let file = |(i, bytes): (usize, &&[u8])| folder.file(&format!("in{i}"), bytes);
    let sources: Vec<Source> = inputs.iter().enumerate().map(file).map(Source::Path).collect();
    verb(&sources)
}

/// Merges files, or pipes with their bytes and names if the knobs say so.
pub(crate) fn run_files(files: &[&Path], format: Option<Format>, knobs: Knobs) -> Merged {
    if knobs.read_size.is_some() {
        return through_fifos(files, |sources| run_sources(sources, format, &config(knobs)));
    }
    let sources: Vec<Source> = files.iter().map(|file| Source::Path(file.into())).collect();
    run_sources(&sources, format, &config(knobs))
}

/// Merges into a new folder, and asserts that a failed run leaves no file.
pub(crate) fn run_sources(sources: &[Source], format: Option<Format>, config: &Config) -> Merged {
    let folder = Folder::new();
    let target = folder.path("out");
    let result = merge(sources, &output_to(&target, format), config);
    let left = if result.is_ok() { vec!["out".to_owned()] } else { Vec::new() };
    assert_eq!(folder.names(), left, "{result:?}");
    let report = result?;
    Ok((read(&target), report))
}

#[track_caller]
pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Calls `run` with pipes that threads fill.
pub(crate) fn through_pipes<T>(inputs: &[&[u8]], run: impl FnOnce(&[Source]) -> T) -> T {
    use std::os::fd::AsRawFd;
    std::thread::scope(|scope| {
        let readers: Vec<_> = inputs
            .iter()
            .map(|&bytes| {
                let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
                // the reader may stop early, so a failed write is fine
                scope.spawn(move || drop(writer.write_all(bytes)));
                reader
            })
            .collect();
        let sources: Vec<Source> = readers
            .iter()
            .map(|reader| Source::Path(format!("/proc/self/fd/{}", reader.as_raw_fd()).into()))
            .collect();
        let result = run(&sources);
        drop(readers);
        result
    })
}

/// Calls `run` with named pipes that threads fill with `files`, because CPU profiles need their
/// names.
pub(crate) fn through_fifos<T>(files: &[&Path], run: impl FnOnce(&[Source]) -> T) -> T {
    use rustix::fs::{CWD, Mode, OFlags, mkfifoat, open};
    let folder = Folder::new();
    let fifos: Vec<PathBuf> = files
        .iter()
        .enumerate()
        .map(|(i, file)| {
            let path = folder.path(&i.to_string());
            std::fs::create_dir(&path).expect("the temp folder takes folders");
            let fifo = path.join(file.file_name().expect("files have names"));
            mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).expect("the temp folder takes pipes");
            fifo
        })
        .collect();
    std::thread::scope(|scope| {
        let write = |(file, fifo): (&&Path, &PathBuf)| {
            let (bytes, fifo) = (read(file), fifo.clone());
            // the reader may stop early, so a failed write is fine
            scope.spawn(move || drop(std::fs::write(fifo, bytes)))
        };
        let writers: Vec<_> = files.iter().zip(&fifos).map(write).collect();
        let sources: Vec<Source> = fifos.iter().cloned().map(Source::Path).collect();
        let result = run(&sources);
        // release writers that still wait for a reader
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        while !writers.iter().all(|writer| writer.is_finished()) {
            fifos.iter().for_each(|fifo| drop(open(fifo, flags, Mode::empty())));
            std::thread::yield_now();
        }
        result
    })
}
