//! A queue of jobs that threads do before their results are needed. Each job is done once, in the order of submission;
//! guesses, jobs whose results may not be needed, are done after all others.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::compiling;

type Job<T> = Box<dyn FnOnce() -> T + Send>;

enum Slot<T> {
    Waiting(Job<T>),
    Running,
    Done(T),
}

struct Queue<K, T> {
    slots: HashMap<K, Slot<T>>,
    /// Keys of the jobs that wait for a thread: first those whose results are certainly needed, then those that are
    /// only likely to be needed. Some of these jobs may have been done already.
    order: [VecDeque<K>; 2],
    threads: usize,
}

struct Shared<K, T> {
    state: Mutex<Queue<K, T>>,
    /// Signalled when a job has ended.
    ended: Condvar,
}

/// A queue of jobs that threads do before their results are needed. Results are kept until they are taken; jobs that
/// are still waiting when the queue is dropped are never done.
pub struct JobQueue<K: Copy + Eq + Hash + Send + 'static, T: Send + 'static> {
    shared: Arc<Shared<K, T>>,
    max: usize,
}

impl<K: Copy + Eq + Hash + Send + 'static, T: Send + 'static> JobQueue<K, T> {
    /// Makes a queue with at most `max` threads, which exist while there are jobs.
    pub fn new(max: usize) -> Self {
        let state =
            Queue { slots: HashMap::new(), order: [VecDeque::new(), VecDeque::new()], threads: 0 };
        JobQueue {
            shared: Arc::new(Shared { state: Mutex::new(state), ended: Condvar::new() }),
            max,
        }
    }

    /// Adds `job` unless there is one with this key already; in that case a waiting guess becomes a certain job if the
    /// new one is no guess.
    pub fn submit(&self, key: K, guess: bool, job: impl FnOnce() -> T + Send + 'static) {
        let mut state = self.shared.lock();
        let new = !state.slots.contains_key(&key);
        if new {
            state.slots.insert(key, Slot::Waiting(Box::new(job)));
        }
        if new || !guess {
            state.order[guess as usize].push_back(key);
        }
        if new && state.threads < self.max {
            let shared = self.shared.clone();
            // If no thread can be started, `take` does the job.
            let named = thread::Builder::new().name("plaq-compile".into());
            let started = compiling::without_signals(|| named.spawn(move || shared.work()));
            state.threads += started.is_ok() as usize;
        }
    }

    /// The result of the job with this key, which is done in this thread if no other has begun it. `None` if there is
    /// no such job, or it panicked.
    pub fn take(&self, key: &K) -> Option<T> {
        let mut state = self.shared.lock();
        while let Some(Slot::Running) = state.slots.get(key) {
            state = self.shared.wait(state);
        }
        let slot = state.slots.remove(key);
        drop(state);
        match slot {
            Some(Slot::Waiting(job)) => Some(job()),
            Some(Slot::Done(result)) => Some(result),
            _ => None,
        }
    }
}

impl<K, T> Queue<K, T> {
    fn next(&mut self) -> Option<K> {
        self.order.iter_mut().find_map(VecDeque::pop_front)
    }
}

impl<K: Copy + Eq + Hash + Send, T: Send> Shared<K, T> {
    fn lock(&self) -> MutexGuard<'_, Queue<K, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, Queue<K, T>>) -> MutexGuard<'a, Queue<K, T>> {
        self.ended.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a thread, which does jobs until none are waiting.
    fn work(&self) {
        compiling::on_any_core();
        let mut state = self.lock();
        while let Some(key) = state.next() {
            match state.slots.remove(&key) {
                Some(Slot::Waiting(job)) => {
                    state.slots.insert(key, Slot::Running);
                    drop(state);
                    let result = catch_unwind(AssertUnwindSafe(job)).ok();
                    state = self.lock();
                    state.slots.remove(&key);
                    if let Some(result) = result {
                        state.slots.insert(key, Slot::Done(result));
                    }
                    self.ended.notify_all();
                }
                Some(other) => _ = state.slots.insert(key, other),
                None => {}
            }
        }
        state.threads -= 1;
    }
}

impl<K: Copy + Eq + Hash + Send + 'static, T: Send + 'static> Drop for JobQueue<K, T> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.order.iter_mut().for_each(VecDeque::clear);
        state.slots.retain(|_, slot| !matches!(slot, Slot::Waiting(_)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    /// Two threads do waiting jobs. A caller that asks for a result waits if the job is running, and does it if it is
    /// still waiting.
    #[test]
    fn each_job_is_done_once_and_its_result_found() {
        let ahead = JobQueue::new(2);
        let done = Arc::new(AtomicUsize::new(0));
        let (start, started) = channel();
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().unwrap();
        for key in 0..6 {
            let (done, start, gate) = (done.clone(), start.clone(), gate.clone());
            let job = move || {
                let _ = start.send(thread::current().id());
                drop(gate.lock());
                done.fetch_add(1, Ordering::Relaxed);
                10 * key
            };
            ahead.submit(key, false, job);
        }
        ahead.submit(1, false, || panic!("this key has a job"));
        // Both threads have begun one of the first two jobs each, and wait.
        let threads = [started.recv().unwrap(), started.recv().unwrap()];
        assert_ne!(threads[0], threads[1]);
        assert_eq!(done.load(Ordering::Relaxed), 0);
        assert_eq!(ahead.take(&7), None);
        // No worker has begun the last job: this thread does it.
        drop(held);
        let mine = ahead.take(&5);
        let order: Vec<_> = [0, 1, 2, 3, 4].iter().map(|key| ahead.take(key)).collect();
        assert_eq!(
            (mine, order),
            (Some(50), vec![Some(0), Some(10), Some(20), Some(30), Some(40)])
        );
        assert_eq!(done.load(Ordering::Relaxed), 6);
        assert_eq!(ahead.take(&0), None);
    }

    #[test]
    fn a_job_that_nobody_has_begun_is_done_by_who_asks() {
        let ahead = JobQueue::new(0);
        ahead.submit("a", true, || thread::current().id());
        assert_eq!(ahead.take(&"a"), Some(thread::current().id()));
    }

    /// A job that panics has no result, and no caller waits for it; the thread continues with other jobs.
    #[test]
    fn a_job_that_breaks_off_leaves_its_key_free() {
        let ahead = JobQueue::new(1);
        let (begun, has_begun) = channel();
        ahead.submit(1, false, move || {
            begun.send(()).unwrap();
            panic!("as it should")
        });
        has_begun.recv().unwrap();
        ahead.submit(2, false, || 2);
        assert_eq!((ahead.take(&1), ahead.take(&2)), (None, Some(2)));
        ahead.submit(1, false, || 1);
        assert_eq!(ahead.take(&1), Some(1));
    }

    /// Certain jobs are done before guesses, and a guess that becomes certain among them.
    #[test]
    fn guesses_come_last() {
        let ahead = JobQueue::new(1);
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().unwrap();
        let order = Arc::new(Mutex::new(vec![]));
        let (begun, has_begun) = channel();
        for (key, guess) in [(0, false), (1, true), (2, true), (3, false), (2, false), (1, true)] {
            let (gate, order, begun) = (gate.clone(), order.clone(), begun.clone());
            ahead.submit(key, guess, move || {
                let _ = begun.send(());
                drop(gate.lock());
                order.lock().unwrap().push(key);
            });
            if key == 0 {
                has_begun.recv().unwrap();
            }
        }
        drop(held);
        // Once the worker thread has begun the last job, all others have been done by it and not by this thread.
        for _ in 0..3 {
            has_begun.recv().unwrap();
        }
        assert_eq!(ahead.take(&1), Some(()));
        assert_eq!(*order.lock().unwrap(), [0, 3, 2, 1]);
    }

    /// Dropping the queue waits for nothing: running jobs continue, and the others are never done.
    #[test]
    fn what_waits_in_the_end_is_left() {
        let ahead = JobQueue::new(1);
        let done = Arc::new(AtomicUsize::new(0));
        let (begun, has_begun) = channel();
        let gate = Arc::new(Mutex::new(()));
        let held = gate.lock().unwrap();
        for key in 0..3 {
            let (done, begun, gate) = (done.clone(), begun.clone(), gate.clone());
            ahead.submit(key, false, move || {
                begun.send(()).unwrap();
                drop(gate.lock());
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        drop(begun);
        has_begun.recv().unwrap();
        drop(ahead);
        drop(held);
        // The jobs that are left are gone, and with them their ends of the channel.
        assert!(has_begun.recv().is_err());
        assert_eq!(done.load(Ordering::Relaxed), 1);
    }
}
