//! Device memory of set-ups and cycles, from rehearsals of them before anything is allocated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::cycle::Hierarchy;
use super::{Multigrid, MultigridParams};
use crate::error::Result;
use crate::fields::{Footprint, SpinorField};
use crate::linop::{Schur, Shape, Uses};
use crate::operators::QuarkAction;

/// A set-up that was rehearsed: what it takes, and a hierarchy like the one that it makes, on a device without memory.
pub(super) struct Rehearsed {
    pub setup: Footprint,
    model: Mutex<Arc<Hierarchy>>,
    /// Footprints of cycles that were asked for, by precision and number of right-hand sides and whether the adjoint
    /// is used.
    cycles: Mutex<HashMap<String, Footprint>>,
}

impl Rehearsed {
    /// Rehearses a set-up, from vectors of the host where there are some; `compiled`: its kernels are compiled beside it.
    ///
    /// # Errors
    /// As [`Multigrid::new`]: those that do not depend on links.
    pub fn new(
        op: &dyn QuarkAction,
        params: &MultigridParams,
        vectors: Option<&SpinorField>,
        compiled: bool,
    ) -> Result<Self> {
        let (geometry, device) = (op.links().geometry(), op.shape().device.stand_in());
        let name = || format!("multigrid {} {params:?}", op.describe());
        let (made, setup) = geometry.footprint(
            &device,
            compiled.then_some(name),
            || {
                let vectors = vectors.map(|v| v.like_on(&device)).transpose()?;
                Ok((op.like_on(&device)?, vectors))
            },
            |(op, vectors)| Multigrid::set_up(&*op, params, vectors.as_ref()),
        )?;
        Ok(Rehearsed { setup, model: Mutex::new(made.0), cycles: Mutex::default() })
    }

    /// Bytes that cycles on `nrhs` right-hand sides take, as preconditioners of vectors of this shape.
    pub fn cycle(&self, form: Schur, shape: &Shape, nrhs: usize, uses: Uses) -> Result<u64> {
        let key = format!("{form} {:?} {nrhs} {}", shape.precision, uses.dagger);
        let mut known = self.cycles.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(found) = known.get(&key) {
            return Ok(found.bytes(&shape.device));
        }
        let model = self.model.lock().unwrap_or_else(|e| e.into_inner());
        model.free_idle();
        let on = Shape { device: model.fine.shape().device, ..shape.clone() };
        let (_, found) = shape.geometry.footprint(
            &on.device,
            None::<fn() -> String>,
            || Ok((on.field(nrhs)?, on.field(nrhs)?)),
            |(mut x, b)| {
                model.precondition_system(form, &mut x, &b, false)?;
                match uses.dagger {
                    true => model.precondition_system(form, &mut x, &b, true),
                    false => Ok(()),
                }
            },
        )?;
        model.free_idle();
        let bytes = found.bytes(&shape.device);
        known.insert(key, found);
        Ok(bytes)
    }
}
