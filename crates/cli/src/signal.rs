//! SIGINT and SIGTERM: take away what is unfinished, then end with the status that shells expect; while a program runs under this
//! one they are that program's. SIGXFSZ: nothing, so that a file which may not become that large is an error of the write, like a full
//! disk, and no sudden end.

use crate::exit::Exit;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::{fs, io, process};

/// The program that signals are for; 0 if there is none.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// Files and folders that go with this process.
static SCRATCH: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Starts the thread that waits for signals. It does its work as ordinary code: nothing runs inside a handler.
///
/// # Errors
/// If the system takes no handler or no thread; signals then end the process as they do by default.
pub(crate) fn watch() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    // handlers that nobody listens to would leave signals without any effect: first the thread, then the handlers
    let (hand_over, handed) = mpsc::channel::<Signals>();
    let wait = move || {
        let Ok(mut signals) = handed.recv() else { return };
        for signal in signals.forever() {
            if let Some(program) = Pid::from_raw(PROGRAM.load(Ordering::Relaxed)) {
                // what Ctrl-C sends the terminal has sent to the program too
                if signal == SIGTERM {
                    let _ended = kill_process(program, Signal::TERM);
                }
                continue;
            }
            let _removed = tracemill_trace::output::remove_scratch();
            for path in SCRATCH.lock().unwrap_or_else(|e| e.into_inner()).iter() {
                let _removed = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
            }
            crate::progress::clear();
            process::exit(exit(signal).code().into());
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    // the thread waits for them
    let _ = hand_over.send(Signals::new([SIGINT, SIGTERM])?);
    Ok(())
}

/// A file or folder that is removed if a signal ends this process.
pub(crate) fn remove_at_end(path: &Path) {
    SCRATCH.lock().unwrap_or_else(|e| e.into_inner()).push(path.to_owned());
}

/// While this lives a program runs that signals are for.
pub(crate) struct SignalForwarding;

/// From now on SIGINT is no end, since the terminal sends it to the program too, and SIGTERM is passed on.
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
    fn signals_have_their_status() {
        assert_eq!(exit(SIGINT).code(), 130);
        assert_eq!(exit(SIGTERM).code(), 143);
    }
}
