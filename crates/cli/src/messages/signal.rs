//! Handling of signals.
//!
//! * SIGINT, SIGTERM: remove unfinished output and exit with the status that shells expect. While a
//!   recorded program runs, the signals are left to that program.
//! * SIGXFSZ: ignored, so that exceeding the file size limit is a write error, like a full disk.

use crate::outcome::exit::Exit;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::{fs, io, process};

/// Process id of the recorded program. It is 0 if no program runs.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// Files and folders that are removed if a signal ends this process.
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts the thread that waits for signals. The thread runs ordinary code, since no code runs in
/// signal handlers.
///
/// # Errors
/// Returns an error if the handlers or the thread cannot be created. Then signals end the process
/// as they do by default.
pub(crate) fn watch() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    // the thread starts first, because handlers without a thread would disable the signals
    let (hand_over, handed) = mpsc::channel::<Signals>();
    let wait = move || {
        let Ok(mut signals) = handed.recv() else { return };
        for signal in signals.forever() {
            if let Some(program) = Pid::from_raw(PROGRAM.load(Ordering::Relaxed)) {
                // Ctrl-C in the terminal reaches the program too, but SIGTERM must be passed on
                if signal == SIGTERM {
                    let _ended = kill_process(program, Signal::TERM);
                }
                continue;
            }
            let _removed = tracemill_trace::output::remove_scratch();
            for path in SCRATCH.lock().unwrap_or_else(|e| e.into_inner()).iter() {
                let _removed = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
            }
            crate::messages::progress::clear();
            process::exit(exit(signal).code().into());
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    let _ = hand_over.send(Signals::new([SIGINT, SIGTERM])?);
    Ok(())
}

/// Registers a file or folder that is removed if a signal ends this process.
pub(crate) fn remove_at_end(path: &Path) {
    SCRATCH.lock().unwrap_or_else(|e| e.into_inner()).push(path.to_owned());
}

/// While this value exists, signals are left to the recorded program.
pub(crate) struct SignalForwarding;

/// Leaves signals to `program`. SIGINT is ignored, because the terminal also sends it to the
/// program. SIGTERM is passed on.
pub(crate) fn pass_to(program: u32) -> SignalForwarding {
    PROGRAM.store(program.cast_signed(), Ordering::Relaxed);
    SignalForwarding
}

impl Drop for SignalForwarding {
    fn drop(&mut self) {
        PROGRAM.store(0, Ordering::Relaxed);
    }
}

fn exit(signal: i32) -> Exit {
    if signal == SIGTERM { Exit::Terminated } else { Exit::Interrupted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_map_to_their_exit_codes() {
        assert_eq!(exit(SIGINT).code(), 130);
        assert_eq!(exit(SIGTERM).code(), 143);
    }
}
