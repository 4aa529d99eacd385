//! Device memory of set-ups, found by rehearsals before anything is allocated, and of solves that
//! use a hierarchy.

use std::sync::{Arc, Mutex, RwLock};

use super::cycle::Hierarchy;
use super::{Multigrid, MultigridParams, SetupRecord};
use crate::backend::Device;
use crate::error::Result;
use crate::fields::SpinorField;
use crate::operators::{ActionVersion, QuarkAction};
use crate::params::Key;
use crate::solvers::no_monitor;

/// A rehearsed set-up: the memory that it takes, and a hierarchy like the one that it makes, on a device without
/// memory.
pub(super) struct Rehearsed {
    pub setup: u64,
    /// The operator on the device without memory.
    op: Arc<dyn QuarkAction>,
    model: Mutex<Arc<Hierarchy>>,
}

impl Rehearsed {
    /// Rehearses a set-up, from vectors of the host where there are some; with `compiled` its kernels are compiled at
    /// the same time.
    ///
    /// # Errors
    /// Errors of [`Multigrid::new`] that do not depend on links.
    pub fn new(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
        compiled: bool,
    ) -> Result<Self> {
        let (geometry, real) = (op.links().geometry(), op.shape().device);
        let device = real.stand_in();
        let key = Key::of(("multigrid", op.key(), params));
        let ((model, op), setup) = geometry.footprint(
            (&real, &device),
            compiled.then_some(key),
            || {
                let vectors = vectors.map(|v| v.like_on(&device)).transpose()?;
                Ok((op.like_on(&device)?, vectors))
            },
            |(op, vectors)| {
                let made = Multigrid::set_up(&*op, params, vectors.as_ref(), &mut no_monitor)?;
                Ok((made.0, op))
            },
        )?;
        Ok(Rehearsed { setup, op, model: Mutex::new(model) })
    }
}

impl Multigrid {
    /// Runs a part of a rehearsal with a hierarchy like this one on a device without memory, one thread at a time.
    pub(crate) fn with_stand_in<T>(&self, work: impl FnOnce(&Arc<Multigrid>) -> T) -> T {
        let model = self.rehearsed.model.lock().unwrap_or_else(|e| e.into_inner());
        let stand_in = Arc::new(Multigrid {
            hierarchy: RwLock::new(model.clone()),
            state: Mutex::new(SetupRecord {
                links: ActionVersion { operator: 0, links: 0 },
                ..self.state().clone()
            }),
            rehearsed: self.rehearsed.clone(),
            updates: Mutex::default(),
        });
        model.free_idle();
        let done = work(&stand_in);
        model.free_idle();
        done
    }

    /// A hierarchy like this one, set up on another device: for rehearsals.
    ///
    /// # Errors
    /// Errors of [`Multigrid::new`].
    pub(crate) fn like_on(&self, device: &Device) -> Result<Arc<Self>> {
        let made = Multigrid::new(&*self.rehearsed.op.like_on(device)?, &self.params())?;
        made.free_idle();
        Ok(Arc::new(made))
    }
}
