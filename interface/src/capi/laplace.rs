//! The gauge-covariant Laplacian as an operator of the C interface.

use std::sync::Arc;

use super::args::{Handle, Out, Params};
use super::context::{plaq_context, Context};
use super::dirac::{build, plaq_dirac, OperatorSettings};
use super::gauge::{plaq_gauge, Gauge};
use super::spinor::components_of;
use super::table::interface;
use crate::compose::Normalisation;
use crate::error::Result;
use crate::fields::{Precision, Recon};
use crate::operators::{ActionParams, LaplaceParams};
use crate::params::{InC as _, Key};

crate::params::parameters! {
    /// Parameters of the operator -D^2 + m^2 on periodic fields, where D^2 is the gauge-covariant second
    /// difference: (2 d + m^2) x(n) minus the sum over d directions of U_mu(n) x(n + mu) and U_mu(n - mu)^dagger
    /// x(n - mu).
    pub struct LaplacianParams: plaq_laplace_params {
        /// m^2 in units of the lattice spacing.
        mass2: f64 = 0.0;
        /// Bits mu of the directions; 7: x, y, z, so that time slices are independent; 15: all four.
        directions: i32 = 7;
        /// Number of spins of a site: 1 for colour vectors, 4 for spinors; spins are not mixed.
        spins: i32 = 1;
        /// Precision of the operator; 0: that of the gauge field.
        precision: Option<Precision> = None;
        /// Storage of the operator's links, 18 or 12 numbers; 0: 12.
        storage: Option<Recon> = None;
    }
}

interface! {
    "Laplacians"
    tables {
        plaq_laplace_params, plaq_laplace_params_init;
    }
    functions {
        /// Makes a Laplacian on the links of `gauge` (SU(3)). Solvers, multi-shift solvers and eigensolvers accept it
        /// like any operator. It is hermitian, and Schur complements and normalisations are those of M = -D^2 + m^2.
        /// Errors: BAD_PARAMETER, UNSUPPORTED, OUT_OF_MEMORY.
        plaq_dirac_create_laplace(context: Handle<plaq_context>, gauge: Handle<plaq_gauge>, params: Params<plaq_laplace_params>, dirac: Out<plaq_dirac>) = create;
    }
}

fn create(
    context: &Arc<Context>,
    gauge: &Arc<Gauge>,
    params: &plaq_laplace_params,
    dirac: &mut Out<plaq_dirac>,
) -> Result<()> {
    let p = LaplacianParams::from_c(params, "params")?;
    let components = components_of(p.spins)?;
    let action = LaplaceParams { components, directions: p.directions, mass2: p.mass2 };
    action.check()?;
    let wanted = OperatorSettings {
        precision: p.precision,
        storage: p.storage,
        normalisation: Normalisation::Mass,
        boundary: [0.0; 4],
        mu: 0.0,
        csw: None,
        clover: None,
        key: Key::of(("Laplacian", &p)),
    };
    let op = |links, storage| ActionParams::from(action).create_in(&links, storage);
    dirac.set(context.adopt(build(context, gauge, &wanted, op)?)?);
    Ok(())
}
