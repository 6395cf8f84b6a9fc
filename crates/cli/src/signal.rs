//! SIGINT and SIGTERM: take away what is unfinished, then end with the status that shells expect. SIGXFSZ: nothing, so
//! that a file which may not become that large is an error of the write, like a full disk, and no sudden end.

use crate::exit::Exit;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use std::io;
use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

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
        if let Some(signal) = signals.forever().next() {
            let _removed = tracemill_pipeline::remove_scratch();
            crate::progress::clear();
            process::exit(exit(signal).code().into());
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    // the thread waits for them
    let _ = hand_over.send(Signals::new([SIGINT, SIGTERM])?);
    Ok(())
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
