//! Reports of how work ended on each rank, for work in which ranks wait for each other inside of another library: a
//! failure on one rank becomes known to ranks that still wait.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::Arc;

use super::exchange::Pending;
use super::{Comm, Message, Owner};
use crate::error::Result;

/// Tag of the messages.
const TAG: i32 = 9;
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// The outcome of the work of each rank, as far as this rank knows it.
pub(crate) struct Outcomes {
    rank: usize,
    known: Arc<[AtomicU8]>,
    pending: Pending,
}

impl Comm {
    /// Begins work whose outcome every rank reports to the others. All ranks call this, and [`Outcomes::report`] at the
    /// end. In a dry run nothing is reported, and the outcome of this rank counts as that of all.
    pub(crate) fn outcomes(&self) -> Result<Outcomes> {
        let (own, ranks) = if self.is_silent() { (0, 1) } else { (self.rank(), self.size()) };
        let known: Arc<[AtomicU8]> = (0..ranks).map(|_| AtomicU8::new(0)).collect();
        let receive = |rank| message(rank, 0, known[rank].as_ptr() as u64);
        let others = (0..ranks).filter(|&rank| rank != own);
        let messages: Vec<Message> = others.map(receive).collect();
        let pending = self.start(&messages, Some(Arc::new(known.clone()) as Owner))?;
        Ok(Outcomes { rank: own, known, pending })
    }
}

fn message(rank: usize, send: u64, recv: u64) -> Message {
    Message { to: rank, from: rank, tag: TAG, send, recv, bytes: 1 }
}

impl Outcomes {
    fn first_failed(&self) -> Option<usize> {
        self.known.iter().position(|outcome| outcome.load(Ordering::Relaxed) == FAILED)
    }

    /// The first rank that has reported a failure so far; `None`: no rank has.
    ///
    /// # Errors
    /// `CommFailed`: the ranks are lost.
    pub fn failed(&mut self) -> Result<Option<usize>> {
        self.pending.look(false)?;
        Ok(self.first_failed())
    }

    /// Reports to the other ranks whether this rank's work was `done`, and waits for the reports of all; returns
    /// whether the work was done on every rank.
    ///
    /// # Errors
    /// `CommFailed`: the ranks are lost.
    pub fn report(mut self, done: bool) -> Result<bool> {
        self.known[self.rank].store(if done { DONE } else { FAILED }, Ordering::Relaxed);
        let own = self.known[self.rank].as_ptr() as u64;
        let others = (0..self.known.len()).filter(|&rank| rank != self.rank);
        let messages: Vec<Message> = others.map(|rank| message(rank, own, 0)).collect();
        self.pending.add(&messages)?;
        let known = self.known.clone();
        std::mem::take(&mut self.pending).finish()?;
        Ok(known.iter().all(|outcome| outcome.load(Ordering::Relaxed) == DONE))
    }
}
