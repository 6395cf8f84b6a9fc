//! The same work on several threads.

use std::panic::resume_unwind;

/// What `work` gives on each of `count` threads, of which this is one; its own comes last. If one panics, so does this.
pub(crate) fn on_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|_| scope.spawn(&work)).collect();
        let own = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|p| resume_unwind(p)));
        joined.chain([own]).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_thread_works_once() {
        for (count, times) in [(0, 1), (1, 1), (3, 3)] {
            let next = AtomicUsize::new(0);
            let mut all = on_threads(count, || next.fetch_add(1, Ordering::Relaxed));
            all.sort_unstable();
            assert_eq!(all, (0..times).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_of_another_thread_goes_on_here() {
        let this = std::thread::current().id();
        let work = || assert_eq!(std::thread::current().id(), this, "elsewhere");
        assert!(std::panic::catch_unwind(|| on_threads(2, work)).is_err());
    }
}
