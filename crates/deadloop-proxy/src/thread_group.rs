//! [`ThreadGroup`]: a limited number of threads for short tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::STACK_BYTES;

/// A group of threads for short tasks, of limited size.
pub(crate) struct ThreadGroup {
    max_threads: usize,
    running: Arc<AtomicUsize>,
}

impl ThreadGroup {
    pub(crate) fn new(max_threads: usize) -> Self {
        Self {
            max_threads,
            running: Arc::default(),
        }
    }

    /// Runs a task on a thread, or drops the task if too many are running.
    pub(crate) fn spawn(&self, task: impl FnOnce() + Send + 'static) {
        let one = ThreadSlot(Arc::clone(&self.running));
        if self.running.fetch_add(1, Ordering::SeqCst) >= self.max_threads {
            return;
        }
        let run = move || {
            let _one = one;
            task();
        };
        drop(thread::Builder::new().stack_size(STACK_BYTES).spawn(run));
    }
}

/// The slot of one thread in its group, released when the thread ends or cannot start.
struct ThreadSlot(Arc<AtomicUsize>);

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn there_are_never_more_and_one_that_ended_makes_room() {
        let few = ThreadGroup::new(2);
        let (send, ends) = channel::<()>();
        let ends = Arc::new(std::sync::Mutex::new(ends));
        let (done, told) = channel();
        for _ in 0..5 {
            let (ends, done) = (Arc::clone(&ends), done.clone());
            few.spawn(move || {
                let _ = ends.lock().map(|ends| ends.recv());
                let _ = done.send(());
            });
        }
        assert_eq!(few.running.load(Ordering::SeqCst), 2);
        send.send(()).unwrap();
        send.send(()).unwrap();
        told.recv().unwrap();
        told.recv().unwrap();
        while few.running.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        few.spawn(move || {
            let _ = done.send(());
        });
        told.recv().unwrap();
    }
}
