//! Ranks of dry runs, which speak to nobody.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Comm;

/// The ranks that a silent Comm was made from, which speak, and the number of its dry run.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub ranks: Arc<Comm>,
    pub number: u64,
}

/// The silent ranks of dry runs that go on, with the number of each dry run.
#[derive(Debug, Default)]
pub(super) struct Silent(Mutex<Vec<(u64, Weak<Comm>)>>);

impl Comm {
    /// These ranks for dry run number `number`: the same process grid in the same places, and nobody is spoken to. Sums
    /// return what was put in, messages go nowhere, and this rank's status is that of all. A dry run has one such Comm
    /// of any ranks as long as somebody holds it; that of a silent Comm is made from the ranks that speak.
    pub fn silent(self: &Arc<Self>, number: u64) -> Arc<Comm> {
        let ranks = self.origin.as_ref().map_or(self, |origin| &origin.ranks);
        let mut known = ranks.silent.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, silent)| silent.strong_count() > 0);
        let same = known.iter().find(|(n, _)| *n == number);
        same.and_then(|(_, silent)| silent.upgrade()).unwrap_or_else(|| {
            let (grid, places) = (ranks.grid.clone(), ranks.places.clone());
            let split = ranks.split;
            let mut made = Self::new(ranks.rank, grid, split, places, ranks.reproducible, None);
            made.origin = Some(Origin { ranks: ranks.clone(), number });
            let made = Arc::new(made);
            known.push((number, Arc::downgrade(&made)));
            made
        })
    }
}
