//! Silent ranks: those of dry runs, which exchange no messages.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Comm;

/// The communicating ranks from which a silent Comm was made, and the number of its dry run.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub ranks: Arc<Comm>,
    pub number: u64,
}

/// The silent ranks made so far for dry runs, with the number of each dry run.
#[derive(Debug, Default)]
pub(super) struct Silent(Mutex<Vec<(u64, Weak<Comm>)>>);

impl Comm {
    /// These ranks for dry run number `number`, with the same process grid and places but without messages. Sums over
    /// ranks return this rank's values, messages are not sent, and this rank's status counts as that of all. For each
    /// dry run there is one such Comm, which exists as long as it is in use; for a Comm that is silent already it is
    /// made from the communicating ranks.
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
