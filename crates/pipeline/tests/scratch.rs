//! Tests of process-wide state, in a process of their own because they remove the unfinished files
//! of all runs.

use std::sync::mpsc;
use std::time::Duration;
use tracemill_trace::output::{remove_scratch, write_file};

/// Writes a file on another thread, so that a waiting run can be distinguished from a failing one.
fn write(path: std::path::PathBuf) -> mpsc::Receiver<bool> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let written = write_file(&path, |out| out.write_all(b"[]"));
        let _ = done.send(written.is_ok());
    });
    ended
}

#[test]
fn files_get_their_names_after_the_guard_is_dropped() {
    let folder = tempfile::tempdir().expect("the temp folder takes folders");
    let path = folder.path().join("a.json");
    let removed = remove_scratch();
    let ended = write(path.clone());
    let soon = Duration::from_millis(200);
    assert_eq!(ended.recv_timeout(soon), Err(mpsc::RecvTimeoutError::Timeout), "nobody may");
    assert!(!path.exists());
    drop(removed);
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
    assert_eq!(std::fs::read(&path).expect("it was written"), b"[]");
}
