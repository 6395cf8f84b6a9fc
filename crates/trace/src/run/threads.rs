//! Work on several threads, as many of them as can be had.
//!
//! ```
//! use tracemill_trace::run::threads::try_each;
//!
//! let squares = try_each(4, 10, |task| Ok::<_, String>(task * task)); // threads, tasks
//! assert_eq!(squares, Ok(vec![0, 1, 4, 9, 16, 25, 36, 49, 64, 81]));
//! let failed = try_each(4, 10, |task| if task < 7 { Ok(task) } else { Err("the eighth") });
//! assert_eq!(failed, Err("the eighth"));
//! ```
//!
//! The threads are those of a pool for each number of threads, which is made when it is first needed, and kept. Work that is shared out here never
//! waits for other work: what waits for a turn or a channel has threads of its own ([`on_dedicated_threads`], or a scope).
//!
//! Where the system has no further thread (a limit on processes, no room for a stack) work goes on with those there are, at the least with the one
//! that asked.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// The pool of so many threads; of fewer where there are no more, and `None` for one.
///
/// ```
/// use rayon::slice::ParallelSliceMut;
/// use tracemill_trace::run::threads::pool;
///
/// let mut numbers = vec![3, 1, 2];
/// match pool(4) {
///     Some(pool) => pool.install(|| numbers.par_sort_unstable()),
///     None => numbers.sort_unstable(),
/// }
/// assert_eq!(numbers, [1, 2, 3]);
/// ```
pub fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    if threads < 2 {
        return None;
    }
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Some(Arc::clone(pool));
    }
    let build = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads);
        pool.thread_name(|number| format!("work {number}")).build().ok()
    };
    let halves = std::iter::successors(Some(threads), |threads| Some(threads / 2));
    let built = Arc::new(halves.take_while(|&threads| threads > 1).find_map(build)?);
    pools.insert(threads, Arc::clone(&built));
    Some(built)
}

/// What `work` gives on each of at most `count` threads, of which this is one; its own comes last. If one panics, so does
/// this.
pub fn on_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    at_most(count, count, work)
}

/// As [`on_threads`], on `count` of the threads of the pool of `threads`.
fn at_most<T: Send>(threads: usize, count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let shared = if count > 1 { pool(threads) } else { None };
    let Some(pool) = shared else { return vec![work()] };
    let others = Mutex::new(Vec::with_capacity(count));
    let own = pool.in_place_scope(|scope| {
        for _ in 1..count {
            scope.spawn(|_| {
                let done = work();
                others.lock().unwrap_or_else(PoisonError::into_inner).push(done);
            });
        }
        work()
    });
    let mut all = others.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.push(own);
    all
}

/// As [`on_threads`], for work that waits for that of the other threads: they are started for it and end with it.
pub fn on_dedicated_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..count).map_while(start).collect();
        let own = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|p| resume_unwind(p)));
        joined.chain([own]).collect()
    })
}

/// Does tasks `0..tasks` on at most `threads` threads, each when a thread is free for it; answers in their order.
///
/// # Errors
/// That of the first task that failed; once one has, none is begun any more.
pub fn try_each<T: Send, E: Send>(
    threads: usize,
    tasks: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let done = at_most(threads, threads.min(tasks), || {
        let mut own = Vec::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return own;
            }
            let answer = work(task);
            if answer.is_err() {
                next.store(tasks, Ordering::Relaxed);
            }
            own.push((task, answer));
        }
    });
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|&(task, _)| task);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Does both of two things, at one time if there is a second thread; if one panics, so does this.
///
/// ```
/// use tracemill_trace::run::threads::both;
///
/// assert_eq!(both(2, || 6 * 7, || "beside it"), (42, "beside it")); // threads
/// ```
pub fn both<A, B: Send>(
    threads: usize,
    own: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let Some(pool) = pool(threads) else { return (own(), other()) };
    let mut done = None;
    let own = pool.in_place_scope(|scope| {
        scope.spawn(|_| done = Some(other()));
        own()
    });
    let Some(done) = done else { unreachable!("a scope ends when all is done") };
    (own, done)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn answers_come_in_the_order_of_tasks_whoever_has_done_them() {
        for threads in [1, 3] {
            let all = try_each(threads, 100, |task| Ok::<_, ()>(task * task));
            assert_eq!(all, Ok((0..100).map(|task| task * task).collect()));
            assert_eq!(try_each(threads, 0, |_| Err::<(), _>("none is begun")), Ok(vec![]));
        }
    }

    #[test]
    fn two_things_are_done_once_with_one_thread_or_two() {
        for threads in [0, 1, 2, 7] {
            let done = AtomicUsize::new(0);
            let count = |more: usize| done.fetch_add(more, Ordering::Relaxed);
            both(threads, || count(1), || count(10));
            assert_eq!(done.into_inner(), 11);
        }
        let fails = || both(2, || (), || panic!("elsewhere"));
        assert!(std::panic::catch_unwind(fails).is_err());
    }

    #[test]
    fn nothing_is_begun_behind_a_failure() {
        let begun = AtomicUsize::new(0);
        let failed: Result<Vec<()>, usize> = try_each(1, 100, |task| {
            begun.fetch_add(1, Ordering::Relaxed);
            if task < 7 { Ok(()) } else { Err(task) }
        });
        assert_eq!((failed, begun.into_inner()), (Err(7), 8));
        // all fail: it is the first that is told
        assert_eq!(try_each(4, 4, Err::<(), _>), Err(0));
    }
}
