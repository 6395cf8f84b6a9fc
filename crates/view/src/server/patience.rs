//! Clients that do not read what they asked for: how much waits for them, and how long.
//!
//! Answers wait in memory until they are read. All of them have [`ROOM`]; whoever reads nothing for [`PATIENCE`], or for [`CROWDED`] while
//! others wait for room, is cut off. So a page that stands still holds up nobody, and no memory but its share.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Interval, interval_at, timeout};

/// Bytes of answers that wait to be read.
const ROOM: usize = 32 << 20;
/// Room is counted in these.
const UNIT: usize = 1 << 10;
/// How long a client may read nothing: a download may be paused for a while.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same while others wait for room.
const CROWDED: Duration = Duration::from_secs(1);
/// How often a client that reads nothing is looked at.
const EVERY: Duration = Duration::from_millis(250);
/// How long an answer waits for room.
const WAITS: Duration = Duration::from_secs(5);

/// What waits to be read, of all clients.
pub(crate) struct Unread {
    room: Arc<Semaphore>,
    /// Answers that have no room yet.
    waiting: AtomicUsize,
}

impl Default for Unread {
    fn default() -> Self {
        Unread { room: Arc::new(Semaphore::new(ROOM / UNIT)), waiting: AtomicUsize::new(0) }
    }
}

/// Counts an answer that waits for room.
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
    /// Room for an answer of so many bytes, until the permit is dropped; one that is larger than all of it has all of it. Nothing if there is
    /// none for long.
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

/// A stream that breaks off when nothing that is written is read for too long.
pub(crate) struct Patient<S> {
    stream: S,
    unread: Arc<Unread>,
    /// Since when nothing is read, and when that is looked at.
    stands: Option<(Instant, Interval)>,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, unread: Arc<Unread>) -> Self {
        Patient { stream, unread, stands: None }
    }

    /// What a write says, unless it waits for too long.
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

    /// Nobody reads it.
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
    fn who_reads_nothing_is_cut_off_as_soon_as_others_wait() {
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
