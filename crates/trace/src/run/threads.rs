//! Runs tasks on several threads.
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
//! Threads come from a pool per thread count, created on first use. Tasks in a pool never wait for
//! each other; work that waits has its own threads ([`on_dedicated_threads`], or a scope).
//!
//! If the system refuses more threads, work continues on the existing threads.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// Returns the shared pool of `threads` threads, or of fewer threads if the system refuses. Returns
/// `None` for one thread.
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

/// Runs `work` on at most `count` threads, including the calling thread, whose result is last.
/// Propagates panics.
pub fn on_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    at_most(count, count, work)
}

/// Runs `work` like [`on_threads`], on `count` threads of the pool of `threads`.
fn at_most<T: Send>(threads: usize, count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let shared = if count > 1 { pool(threads) } else { None };
    let Some(pool) = shared else { return vec![work()] };
    let others = Mutex::new(Vec::with_capacity(count));
    let result = pool.in_place_scope(|scope| {
        for _ in 1..count {
            scope.spawn(|_| {
                let done = work();
                others.lock().unwrap_or_else(PoisonError::into_inner).push(done);
            });
        }
        work()
    });
    let mut all = others.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.push(result);
    all
}

/// Runs `work` like [`on_threads`], but on new threads, for work that waits for other threads. The
/// new threads end with the work.
pub fn on_dedicated_threads<T: Send>(count: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |_| Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..count).map_while(start).collect();
        let result = work();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|p| resume_unwind(p)));
        joined.chain([result]).collect()
    })
}

/// Runs tasks `0..tasks` on at most `threads` threads. Returns the results in task order.
///
/// # Errors
/// Returns the error of the first failed task. No task starts after a failure.
pub fn try_each<T: Send, E: Send>(
    threads: usize,
    tasks: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let done = at_most(threads, threads.min(tasks), || {
        let mut results = Vec::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return results;
            }
            let answer = work(task);
            if answer.is_err() {
                next.store(tasks, Ordering::Relaxed);
            }
            results.push((task, answer));
        }
    });
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_unstable_by_key(|&(task, _)| task);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// Runs two closures, concurrently if there is a second thread. Propagates panics.
///
/// ```
/// use tracemill_trace::run::threads::both;
///
/// assert_eq!(both(2, || 6 * 7, || "beside it"), (42, "beside it")); // threads
/// ```
pub fn both<A, B: Send>(
    threads: usize,
    task: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let Some(pool) = pool(threads) else { return (task(), other()) };
    let mut done = None;
    let answer = pool.in_place_scope(|scope| {
        scope.spawn(|_| done = Some(other()));
        task()
    });
    let Some(done) = done else { unreachable!("a scope ends when all is done") };
    (answer, done)
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
    fn panic_of_a_thread_reaches_the_caller() {
        let this = std::thread::current().id();
        let work = || assert_eq!(std::thread::current().id(), this, "elsewhere");
        assert!(std::panic::catch_unwind(|| on_threads(2, work)).is_err());
    }

    #[test]
    fn results_come_in_task_order() {
        for threads in [1, 3] {
            let all = try_each(threads, 100, |task| Ok::<_, ()>(task * task));
            assert_eq!(all, Ok((0..100).map(|task| task * task).collect()));
            assert_eq!(try_each(threads, 0, |_| Err::<(), _>("none is begun")), Ok(vec![]));
        }
    }

    #[test]
    fn both_runs_each_closure_once() {
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
    fn no_task_starts_after_a_failure() {
        let begun = AtomicUsize::new(0);
        let failed: Result<Vec<()>, usize> = try_each(1, 100, |task| {
            begun.fetch_add(1, Ordering::Relaxed);
            if task < 7 { Ok(()) } else { Err(task) }
        });
        assert_eq!((failed, begun.into_inner()), (Err(7), 8));
        // all fail; the first task's error is returned
        assert_eq!(try_each(4, 4, Err::<(), _>), Err(0));
    }
}
