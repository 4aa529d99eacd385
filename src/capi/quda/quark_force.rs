//! `quda.h`: the force of quarks.

#![allow(non_snake_case)]

use std::f64::consts::SQRT_2;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use num_complex::Complex64;

use super::arrays::{InOut, List};
use super::enums::Dslash;
use super::gauge::finite;
use super::host::Host;
use super::operators::Vectors;
use super::params::QudaGaugeParam;
use super::params_invert::QudaInvertParam;
use crate::bail;
use crate::capi::args::{Array, Raw};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::{Recon, Subset};
use crate::operators::{DiracParams, ForceWorkspace, HalfTerms, QuarkAction, Wilson};

interface! {
    "Forces of quarks"
    calls {
        /// P = P - 2 i dt F of the momenta P, F the force of sum_i coeff[i] <phi, (D^dagger D + ...)^-1 phi> - multiplicity ln
        /// det A of the sites that D leaves out, D the even-odd preconditioned clover operator of matpc_type on the links on
        /// the device, and x[i] its solutions on its parity; without a clover term of Wilson's operator. `kappa2` is
        /// -kappa^2 and `ck` -kappa csw / 8. `p` and `gauge` are not used.
        computeCloverForceQuda(mom: *mut c_void, dt: f64, x: List, p: Raw<*mut *mut c_void>, coeff: Array<f64>, kappa2: f64, ck: f64, nvector: c_int, multiplicity: f64, gauge: *mut c_void, gauge_param: Array<QudaGaugeParam>, inv_param: InOut<QudaInvertParam>) = together clover_force;
    }
}

/// Equal up to the rounding of a host's arithmetic; NaN is equal to nothing.
fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

/// The operator with its clover term made of the links that it is on, as its force needs it.
fn action(vectors: &Vectors, kappa2: f64, ck: f64) -> Result<Arc<dyn QuarkAction>> {
    let p = vectors.param;
    let kappa = p.kappa;
    if !agree(kappa2, -kappa * kappa) {
        bail!(InvalidArgument, "kappa2: expected -kappa^2, {}, found {kappa2}", -kappa * kappa);
    }
    let links = vectors.session.resident().links()?;
    if links.anisotropy != 1.0 {
        bail!(
            Unsupported,
            "links: expected isotropic ones for a force, found anisotropy {}",
            links.anisotropy
        );
    }
    let csw = match vectors.kind {
        Dslash::Wilson => 0.0,
        Dslash::Clover => {
            let coefficient = -8.0 * ck;
            if !agree(coefficient, p.clover_coeff) {
                bail!(
                    InvalidArgument,
                    "ck: expected -inv_param.clover_coeff / 8, {}, found {ck}",
                    -p.clover_coeff / 8.0
                );
            }
            coefficient / kappa
        }
        other => bail!(
            Unsupported,
            "inv_param.dslash_type: expected QUDA_WILSON_DSLASH or QUDA_CLOVER_WILSON_DSLASH, found {other:?}"
        ),
    };
    let one = Complex64::ONE;
    let params = DiracParams {
        csw_s: csw,
        csw_t: csw,
        boundary: [one, one, one, Complex64::new(links.sign, 0.0)],
        ..Default::default()
    };
    let field = match links.field.precision() == vectors.inside {
        true => links.field,
        false => links.field.shared_copy(vectors.inside, Recon::R18)?,
    };
    Ok(Arc::new(Wilson::new(field, params.with_kappa(kappa))?))
}

#[allow(clippy::too_many_arguments)]
fn clover_force(
    mom: *mut c_void,
    dt: f64,
    x: &List,
    _p: *mut *mut c_void,
    coeff: &Array<f64>,
    kappa2: f64,
    ck: f64,
    nvector: c_int,
    multiplicity: f64,
    _gauge: *mut c_void,
    gauge_param: &Array<QudaGaugeParam>,
    inv_param: &mut QudaInvertParam,
) -> Result<()> {
    finite(dt, "dt")?;
    finite(multiplicity, "multiplicity")?;
    let host = Host::new(gauge_param)?;
    let vectors = Vectors::new(inv_param, "inv_param")?;
    let count = match usize::try_from(nvector) {
        Ok(n) if (1..=inv_param.offset.len()).contains(&n) => n,
        _ => bail!(
            InvalidArgument,
            "nvector: expected 1 to {}, found {nvector}",
            inv_param.offset.len()
        ),
    };
    let coefficients = coeff.get(count)?;
    if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
        bail!(InvalidArgument, "coeff: expected finite numbers, found {bad}");
    }
    // With D^dagger D = P^dagger P this is sum_i -2 coeff[i] Re <P x_i, dP x_i>, and 2 ln det A = ln |det A|^2.
    let coefficients: Vec<f64> = coefficients.iter().map(|c| -c).collect();
    let form = vectors.schur()?;
    let op = action(&vectors, kappa2, ck)?.schur(form)?;
    let x = vectors.load(&x.get(count, "x")?, Subset::of_parity(form.parity), "x")?;
    let mut y = vectors.field(Subset::of_parity(form.parity), count)?;
    op.apply(&mut y, &x)?;
    let mut momenta = host.momenta(mom)?;
    if momenta.precision() != vectors.inside {
        bail!(
            FieldMismatch,
            "gauge_param.cuda_prec: expected that of inv_param, {}, found {}",
            vectors.inside,
            momenta.precision()
        );
    }
    // P = i sqrt(2) p, and p loses its step times F.
    let (step, mut work) = (SQRT_2 * dt, ForceWorkspace::default());
    let terms = HalfTerms { x: &x, y: &y, px: &y, coef: &coefficients };
    op.add_force(&mut work, &mut momenta, step, terms)?;
    if vectors.kind == Dslash::Clover && multiplicity != 0.0 {
        op.add_determinant_force(&mut work, -0.5 * multiplicity)?;
    }
    op.finish_force(&work, &mut momenta, step)?;
    host.give_momenta(momenta, mom)
}
