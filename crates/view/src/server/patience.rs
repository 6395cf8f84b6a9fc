//! Limits how long and how large replies wait that clients do not read.
//!
//! Replies wait in memory until clients read them. All replies share [`ROOM`] bytes. A client that
//! reads nothing for [`PATIENCE`] is disconnected. If other replies wait for room, the limit is
//! [`CROWDED`]. So a stalled page blocks no other client.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Interval, interval_at, timeout};

/// Maximum number of bytes of all unread replies together.
const ROOM: usize = 32 << 20;
/// Number of bytes in which room is counted.
const UNIT: usize = 1 << 10;
/// Time after which a client that reads nothing is disconnected. It is long enough for a paused
/// download.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time after which a client that reads nothing is disconnected, if other replies wait for room.
const CROWDED: Duration = Duration::from_secs(1);
/// Interval at which a client that reads nothing is checked.
const EVERY: Duration = Duration::from_millis(250);
/// Maximum time that a reply waits for room.
const WAITS: Duration = Duration::from_secs(5);

/// The memory for unread replies to all clients.
pub(crate) struct Unread {
    room: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Default for Unread {
    fn default() -> Self {
        Unread { room: Arc::new(Semaphore::new(ROOM / UNIT)), waiting: AtomicUsize::new(0) }
    }
}

struct Waiting<'u>(&'u AtomicUsize);

impl<'u> Waiting<'u> {
    fn new(all: &'u AtomicUsize) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Waiting(all)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Unread {
    /// Reserves memory for a reply until the returned permit is dropped. A reply that is too large
    /// takes all memory. Returns `None` after a timeout.
    pub(crate) async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let _waiting = Waiting::new(&self.waiting);
        let units = bytes.div_ceil(UNIT).min(ROOM / UNIT) as u32;
        let acquired = timeout(WAITS, Arc::clone(&self.room).acquire_many_owned(units)).await;
        acquired.ok()?.ok()
    }

    fn patience(&self) -> Duration {
        match self.waiting.load(Ordering::Relaxed) {
            0 => PATIENCE,
            _ => CROWDED,
        }
    }
}

/// A stream whose writes fail if the client reads nothing for too long.
pub(crate) struct Patient<S> {
    stream: S,
    unread: Arc<Unread>,
    /// Time since which the client reads nothing, and the timer for checking it.
    stands: Option<(Instant, Interval)>,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, unread: Arc<Unread>) -> Self {
        Patient { stream, unread, stands: None }
    }

    /// Returns the result of a write, or an error if the client has read nothing for too long.
    fn judged(
        &mut self,
        written: Poll<io::Result<usize>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.stands = None;
            return written;
        }
        let now = Instant::now();
        let (since, looks) =
            self.stands.get_or_insert_with(|| (now, interval_at(now + EVERY, EVERY)));
        loop {
            ready!(looks.poll_tick(context));
            if since.elapsed() >= self.unread.patience() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judged(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        all: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, all);
        self.judged(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    struct Stuck;

    impl AsyncWrite for Stuck {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    async fn write(stuck: &mut Patient<Stuck>) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *stuck).poll_write(context, &[0])).await
    }

    #[test]
    fn stalled_client_is_disconnected_once_others_wait() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let unread = Arc::new(Unread::default());
            let mut stuck = Patient::new(Stuck, Arc::clone(&unread));
            let held = unread.room(ROOM * 2).await;
            assert!(held.is_some(), "the largest has all the room");
            let alone = timeout(CROWDED * 2, write(&mut stuck)).await;
            assert!(alone.is_err(), "it waits with nobody else: {alone:?}");
            let other = Arc::clone(&unread);
            let other = tokio::spawn(async move { other.room(1).await.is_some() });
            let crowded = timeout(CROWDED * 2, write(&mut stuck)).await.expect("it is cut off");
            assert_eq!(crowded.expect_err("it is cut off").kind(), io::ErrorKind::TimedOut);
            drop(held);
            assert!(other.await.is_ok_and(|is_there| is_there));
            assert_eq!(unread.patience(), PATIENCE);
        });
    }
}
