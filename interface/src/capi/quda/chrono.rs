//! Solutions that the library keeps for hosts (`chrono_make_resident`), and the initial guesses that it makes from
//! them (`chrono_use_resident`), in twelve channels.

use std::ffi::c_int;
use std::sync::Arc;

use super::params_invert::QudaInvertParam;
use crate::compose::{DiracSolver, Solution};
use crate::error::Result;
use crate::fields::VectorField;
use crate::linop::{Adjoint, LinOp};
use crate::ops::hmc::fermion::Guesses;
use crate::refuse;

const CHANNELS: usize = 12;

/// Earlier solutions in kappa normalisation, for each channel with a description of their sites and precision.
#[derive(Default)]
pub struct Chronology([Option<(String, Guesses)>; CHANNELS]);

/// The number of a channel.
pub fn channel(index: c_int, name: &str) -> Result<usize> {
    match usize::try_from(index) {
        Ok(n) if n < CHANNELS => Ok(n),
        _ => {
            refuse!(InvalidArgument, "{name}", expected("0 to {}", CHANNELS - 1), found("{index}"))
        }
    }
}

/// Use of a channel of earlier solutions by a solve: it makes its initial guess from them, adds its own solution, or
/// both.
pub struct ChannelUse {
    channel: usize,
    max: usize,
    pub used: bool,
    pub kept: bool,
    /// Whether the new solution replaces the latest one of the channel.
    replaced: bool,
}

impl ChannelUse {
    /// Reads the parameters; `None`: the solve does not use a channel.
    pub fn new(p: &QudaInvertParam, sources: usize) -> Result<Option<ChannelUse>> {
        let (used, kept) = (p.chrono_use_resident != 0, p.chrono_make_resident != 0);
        if !used && !kept {
            return Ok(None);
        }
        if sources != 1 {
            refuse!(
                Unsupported,
                "param.num_src",
                expected("1 with chrono_use_resident or chrono_make_resident"),
                found("{sources}")
            );
        }
        let max = match usize::try_from(p.chrono_max_dim) {
            Ok(n @ 1..=1000) => n,
            _ => refuse!(
                InvalidArgument,
                "param.chrono_max_dim",
                expected("1 to 1000"),
                found("{}", p.chrono_max_dim)
            ),
        };
        let channel = channel(p.chrono_index, "param.chrono_index")?;
        let replaced = p.chrono_replace_last != 0;
        Ok(Some(ChannelUse { channel, max, used, kept, replaced }))
    }
}

fn key(x: &VectorField) -> String {
    format!("{} {} {}", x.subset(), x.precision(), x.components())
}

impl Chronology {
    pub fn flush(&mut self, channel: usize) {
        self.0[channel] = None;
    }

    /// Sets x to the guess for the solver's equation with source b, or to zero if there are no solutions yet.
    pub fn guess(
        &self,
        wanted: &ChannelUse,
        solver: &DiracSolver,
        x: &mut VectorField,
        b: &VectorField,
    ) -> Result<()> {
        x.clear()?;
        let Some((_, guesses)) = self.0[wanted.channel].as_ref().filter(|c| c.0 == key(x)) else {
            return Ok(());
        };
        let solution = solver.params().solution;
        let op: Arc<dyn LinOp> = match solver.params().even_odd {
            Some(form) if solution.preconditioned() => solver.op().clone().schur(form)?,
            _ => solver.op().clone(),
        };
        match solution {
            Solution::MatDagMat | Solution::MatPcDagMatPc => guesses.guess(&*op, x, b)?,
            Solution::MatMatDag | Solution::MatPcMatPcDag => guesses.guess(&Adjoint(op), x, b)?,
            Solution::Mat | Solution::MatPc => image(&*op, guesses, x, b)?,
            Solution::MatDag | Solution::MatPcDag => image(&Adjoint(op), guesses, x, b)?,
        };
        Ok(())
    }

    pub fn keep(&mut self, wanted: &ChannelUse, x: &VectorField) -> Result<()> {
        let kept = &mut self.0[wanted.channel];
        if kept.as_ref().is_none_or(|c| c.0 != key(x)) {
            *kept = Some((key(x), Guesses::new(wanted.max)));
        }
        let Some((_, guesses)) = kept else { return Ok(()) };
        if wanted.replaced {
            guesses.drop_last();
        }
        guesses.keep(x)
    }
}

/// The guess for op x = b, which is the one for op^dagger op x = op^dagger b.
fn image(op: &dyn LinOp, guesses: &Guesses, x: &mut VectorField, b: &VectorField) -> Result<bool> {
    let mut t = x.like(x.precision())?;
    op.apply_dagger(&mut t, b)?;
    guesses.guess(op, x, &t)
}
