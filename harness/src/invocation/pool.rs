//! A few threads, many jobs, results in the order in which they end.

use std::num::NonZeroUsize;
use std::sync::{Mutex, mpsc};
use std::thread;

/// Whether workers take another job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// They do.
    On,
    /// They do not.
    Stop,
}

/// Works on all items and hands each result over with the index of its item. A stop lets running jobs end.
pub fn each<T: Send, R: Send>(
    items: Vec<T>,
    workers: NonZeroUsize,
    go: impl Fn() -> Go + Sync,
    work: impl Fn(T) -> R + Sync,
    mut done: impl FnMut(usize, R),
) {
    let workers = workers.get().min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let (sender, receiver) = mpsc::channel();
    let next = || match go() {
        Go::On => queue.lock().ok()?.next(),
        Go::Stop => None,
    };
    thread::scope(|scope| {
        let mut started = 0;
        for _ in 0..workers {
            let sender = sender.clone();
            let (next, work) = (&next, &work);
            let worker = move || {
                while let Some((at, item)) = next() {
                    // Nobody listens only where the receiving thread has panicked.
                    let _ = sender.send((at, work(item)));
                }
            };
            // A machine that gives no more threads makes it slower, not wrong.
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
            started += 1;
        }
        drop(sender);
        if started == 0 {
            while let Some((at, item)) = next() {
                done(at, work(item));
            }
        }
        for (at, result) in receiver {
            done(at, result);
        }
    });
}

/// The number of workers that is asked for, else one per core.
#[must_use]
pub fn workers(jobs: Option<NonZeroUsize>) -> NonZeroUsize {
    jobs.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        let three = NonZeroUsize::new(3).unwrap();
        let mut seen = vec![0; 100];
        each(
            (0..100).collect(),
            three,
            || Go::On,
            |n: usize| n * 2,
            |at, doubled| {
                assert_eq!(doubled, at * 2);
                seen[at] += 1;
            },
        );
        assert!(seen.iter().all(|count| *count == 1));
        each(Vec::new(), three, || Go::On, |n: usize| n, |_, _| panic!("there was nothing to do"));
    }
}
