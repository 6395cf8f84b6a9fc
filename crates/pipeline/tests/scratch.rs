//! What is process-wide: alone in its process, since it takes away the unfinished files of all runs.

use std::sync::mpsc;
use std::time::Duration;
use tracemill_trace::output::{remove_scratch, write_file};

/// Writes a file on a thread of its own, so that a run that waits is told from one that fails.
fn write(path: std::path::PathBuf) -> mpsc::Receiver<bool> {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let written = write_file(&path, |out| out.write_all(b"[]"));
        let _ = done.send(written.is_ok());
    });
    ended
}

#[test]
fn files_get_names_again_when_the_answer_is_dropped() {
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
