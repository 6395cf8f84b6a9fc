//! The local copy of an object, with some of its ranges.

use crate::errors::input_error;
use crate::object::{Object, start};
use crate::ranges::RangeSet;
use futures::{StreamExt, stream};
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tracemill_trace::input::remote::FetchRanges;
use tracemill_trace::{Error, ErrorKind, Limits};

/// Number of requests at a time.
const IN_FLIGHT: usize = 8;
/// Greatest number of requests for single ranges. A run that needs more reads the rest at once.
const SINGLE: usize = 64;
/// Time between two looks at the cancellation of a run.
const LOOK: Duration = Duration::from_millis(50);

/// A sparse local file with some ranges of an object.
pub(crate) struct LocalCopy {
    object: Object,
    path: PathBuf,
    file: File,
    progress: Mutex<Progress>,
}

/// What was copied so far.
#[derive(Default)]
struct Progress {
    known: RangeSet,
    /// Number of requests for single ranges.
    single: usize,
}

impl LocalCopy {
    /// Creates the file with the length of the object.
    pub(crate) fn create(object: Object, path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::write(path.display(), error);
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        file.set_len(object.length()).map_err(failed)?;
        let copy = LocalCopy { object, path: path.to_owned(), file, progress: Mutex::default() };
        copy.keep_time()?;
        Ok(copy)
    }

    /// Sets the time of change, which shows changes by others, to the same time after each write.
    fn keep_time(&self) -> Result<(), Error> {
        let set = self.file.set_modified(SystemTime::UNIX_EPOCH);
        set.map_err(|error| Error::write(self.path.display(), error))
    }
}

/// A local file with all bytes of an object.
pub(crate) struct WholeCopy;

impl FetchRanges for WholeCopy {
    fn fetch(&self, _: &[Range<u64>], _: &Limits) -> Result<(), Error> {
        Ok(())
    }
}

impl FetchRanges for LocalCopy {
    fn fetch(&self, ranges: &[Range<u64>], limits: &Limits) -> Result<(), Error> {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let length = self.object.length();
        let mut requests = progress.known.requests(ranges, length);
        if requests.len() == 1 && ranges.len() == 1 {
            progress.single += 1;
            if progress.single > SINGLE {
                requests = progress.known.requests(slice::from_ref(&(0..length)), length);
            }
        }
        let count = requests.len();
        let (sender, answers) = channel();
        let gets: Vec<_> = requests
            .into_iter()
            .map(|range| {
                let get = self.object.get(Some(range.clone()));
                async move { (range, async { get.await?.bytes().await }.await) }
            })
            .collect();
        // the sender is dropped with the last answer
        start(self.object.address(), async move {
            let mut gets = stream::iter(gets).buffer_unordered(IN_FLIGHT);
            while let Some(answer) = gets.next().await {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        })?;
        let mut left = count;
        while left > 0 {
            limits.cancel.check()?;
            let (range, bytes) = match answers.recv_timeout(LOOK) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(ErrorKind::Cancelled.into()),
            };
            let bytes = bytes.map_err(|error| input_error(self.object.address(), error))?;
            let failed = |error| Error::write(self.path.display(), error);
            tracemill_trace::os::write_all_at(&self.file, &bytes, range.start).map_err(failed)?;
            progress.known.add(range);
            left -= 1;
        }
        self.keep_time()
    }
}
