//! One merge with all knobs in hand.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tracemill_pipeline::{
    Compression, Config, Error, Format, MergeReport, OutputConfig, Progress, Shares, Source, Target,
    Tier, merge,
};

/// What may change the cost of a run but not its answer.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    pub tier: Tier,
    /// Through a pipe, this many bytes at a time; mapped files if `None`.
    pub read_size: Option<usize>,
    pub threads: usize,
    /// Bytes of index and payload; ample if `None`.
    pub budget: Option<u64>,
    pub chunk: usize,
}

pub const PLAIN: Knobs =
    Knobs { tier: Tier::Scalar, read_size: None, threads: 1, budget: None, chunk: 1 << 20 };

/// A corner of the space of knobs for every number.
pub fn knobs(number: usize) -> Knobs {
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

pub fn config(knobs: Knobs) -> Config {
    let ample = 64 << 20;
    let share = knobs.budget.unwrap_or(ample);
    Config {
        threads: knobs.threads,
        memory: ample,
        tmp_dir: std::env::temp_dir(),
        tier: Some(knobs.tier),
        read_size: knobs.read_size.unwrap_or(1 << 18),
        strict: false,
        progress: Arc::new(Progress::default()),
        shares: Some(Shares {
            payload: share,
            index: share,
            chunk: knobs.chunk,
            segment: knobs.budget.map_or(1 << 20, |budget| budget as usize / 2),
        }),
    }
}

/// A folder of its own for each run.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("the temp folder takes folders"))
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("the temp folder takes files");
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Merges `inputs`; the output's bytes and the report.
pub fn run(inputs: &[&[u8]], format: Option<Format>, knobs: Knobs) -> Result<(Vec<u8>, MergeReport), Error> {
    let folder = Folder::new();
    let target = folder.path("out");
    let output = OutputConfig {
        target: Target::File { path: target.clone(), replace: false },
        format,
        compression: Compression::None,
    };
    let config = config(knobs);
    let report = if knobs.read_size.is_some() {
        through_pipes(inputs, |sources| merge(sources, &output, &config))
    } else {
        let sources: Vec<Source> = inputs
            .iter()
            .enumerate()
            .map(|(i, bytes)| Source::Path(folder.file(&format!("in{i}"), bytes)))
            .collect();
        merge(&sources, &output, &config)
    }?;
    Ok((std::fs::read(target).expect("the output is there"), report))
}

/// Lends the reading ends of pipes that threads fill.
fn through_pipes<T>(inputs: &[&[u8]], run: impl FnOnce(&[Source]) -> T) -> T {
    use std::os::fd::AsRawFd;
    std::thread::scope(|scope| {
        let readers: Vec<_> = inputs
            .iter()
            .map(|&bytes| {
                let (reader, mut writer) = std::io::pipe().expect("a pipe can be made");
                // the reader may stop early: a failing write is no failure of the test
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
