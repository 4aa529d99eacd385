//! `quda.h`: forces of quarks on links.

#![allow(non_snake_case)]

use std::f64::consts::SQRT_2;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use num_complex::Complex64;

use super::arrays::{InOut, List};
use super::enums::{Dslash, Flavours};
use super::gauge::finite;
use super::host::Host;
use super::operators::Vectors;
use super::params::QudaGaugeParam;
use super::params_invert::QudaInvertParam;
use crate::capi::args::{Array, Raw};
use crate::capi::table::interface;
use crate::error::Result;
use crate::fields::{blas, Recon, Subset, VectorField};
use crate::operators::{
    gamma5, ActionParams, DiracParams, DoubletParams, ForceWorkspace, HalfTerms, SchurAction,
};
use crate::refuse;

interface! {
    "Forces of quarks"
    calls {
        /// Computes P = P - 2 i dt F for the momenta P, where F is the force of sum_i coeff[i] <phi, (D^dagger D +
        /// ...)^-1 phi> - multiplicity ln det A of the sites that D leaves out. D is the even-odd preconditioned
        /// clover operator of matpc_type (without a clover term Wilson's) on the links on the device, and x[i] are
        /// the solutions on its parity. `kappa2` is
        /// -kappa^2 and `ck` -kappa csw / 8. `p` and `gauge` are not used.
        computeCloverForceQuda(mom: *mut c_void, dt: f64, x: List, p: Raw<*mut *mut c_void>, coeff: Array<f64>, kappa2: f64, ck: f64, nvector: c_int, multiplicity: f64, gauge: *mut c_void, gauge_param: Array<QudaGaugeParam>, inv_param: InOut<QudaInvertParam>) = together clover_force;
        /// Computes P = P + 4 i F for the momenta P, or P = 4 i F with overwrite_mom 1. F is the force of the action
        /// sum_i w_i <phi, (R^dagger R + ...)^-1 phi> - ln |det A|^2 with w_i = coeff[i] / (4 kappa^2). R is the
        /// even-odd preconditioned operator of an asymmetric matpc_type with -mu and -tm_rho, A its site term on the
        /// other parity, x[i] are the solutions on the parity of R. For QUDA_TWIST_NONDEG_DOUBLET w_i = coeff[i] / (4
        /// kappa^2 evmax), and ln |det A| of both flavours is subtracted once. The clover term is computed from the
        /// links on the device with csw = clover_csw. detratio 1: the action has no ln |det A|, and of one flavour F
        /// is the change of
        /// -2 sum_i w_i Re <R x[i] + gamma5 x0[i], R x[i]> with R on the right; else x0 is not read.
        computeTMCloverForceQuda(mom: *mut c_void, x: List, x0: Raw<*mut *mut c_void>, coeff: Array<f64>, nvector: c_int, gauge_param: Array<QudaGaugeParam>, inv_param: InOut<QudaInvertParam>, detratio: c_int) = together twisted_force;
    }
}

/// Whether two numbers are equal up to rounding in the host's arithmetic; NaN is not equal to anything.
fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs()
}

/// The checked arguments that the force of clover quarks and that of twisted quarks share.
struct Quarks<'a> {
    host: Host,
    vectors: Vectors<'a>,
    /// Coefficient of each vector.
    coefficients: Vec<f64>,
}

impl<'a> Quarks<'a> {
    fn new(
        gauge_param: &Array<QudaGaugeParam>,
        inv_param: &'a QudaInvertParam,
        coeff: &Array<f64>,
        nvector: c_int,
    ) -> Result<Self> {
        let host = Host::new(gauge_param)?;
        let vectors = Vectors::new(inv_param, "inv_param")?;
        let max = inv_param.offset.len();
        let count = match usize::try_from(nvector) {
            Ok(n) if (1..=max).contains(&n) => n,
            _ => refuse!(InvalidArgument, "nvector", expected("1 to {max}"), found("{nvector}")),
        };
        let coefficients = coeff.get(count)?;
        if let Some(bad) = coefficients.iter().find(|c| !c.is_finite()) {
            refuse!(InvalidArgument, "coeff", expected("finite numbers"), found("{bad}"));
        }
        if host.inside != vectors.inside {
            refuse!(
                FieldMismatch,
                "gauge_param.cuda_prec",
                expected("that of inv_param, {}", vectors.inside),
                found("{}", host.inside)
            );
        }
        Ok(Quarks { host, vectors, coefficients })
    }

    /// The preconditioned operator with opposite signs of mu and tm_rho, and with a clover term made from its own
    /// links, as the force requires.
    fn operator(&self, csw: f64) -> Result<Arc<dyn SchurAction>> {
        let vectors = &self.vectors;
        let links = vectors.session.resident().links()?;
        links.plain_in_space("a force")?;
        let mut params = vectors.quark_params(&links)?;
        if let ActionParams::Wilson(wilson) | ActionParams::Doublet(DoubletParams { wilson, .. }) =
            &mut params
        {
            let (mu, rho) = (-wilson.mu, -wilson.rho);
            *wilson = DiracParams { csw, csw_t: csw, mu, rho, ..*wilson };
        }
        let field = match links.field.precision() == vectors.inside {
            true => links.field,
            false => links.field.shared_copy(vectors.inside, Recon::R18)?,
        };
        params.create(field)?.schur(vectors.schur()?)
    }

    /// Loads the host's vectors on the operator's parity.
    fn load(&self, x: Vec<*mut c_void>, name: &str) -> Result<VectorField> {
        self.vectors.load(&x, Subset::of_parity(self.vectors.schur()?.parity), name)
    }
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
    let quarks = Quarks::new(gauge_param, inv_param, coeff, nvector)?;
    let kappa = inv_param.kappa;
    if !agree(kappa2, -kappa * kappa) {
        refuse!(
            InvalidArgument,
            "kappa2",
            expected("-kappa^2, {}", -kappa * kappa),
            found("{kappa2}")
        );
    }
    let csw = match quarks.vectors.kind {
        Dslash::Wilson => 0.0,
        Dslash::Clover => {
            let coefficient = -8.0 * ck;
            if !agree(coefficient, inv_param.clover_coeff) {
                refuse!(
                    InvalidArgument,
                    "ck",
                    expected("-inv_param.clover_coeff / 8, {}", -inv_param.clover_coeff / 8.0),
                    found("{ck}")
                );
            }
            coefficient / kappa
        }
        other => refuse!(
            Unsupported,
            "inv_param.dslash_type",
            expected("QUDA_WILSON_DSLASH or QUDA_CLOVER_WILSON_DSLASH"),
            found("{other}")
        ),
    };
    let op = quarks.operator(csw)?;
    let x = quarks.load(x.get(quarks.coefficients.len(), "x")?, "x")?;
    let mut y = op.shape().field(x.nrhs())?;
    op.apply(&mut y, &x)?;
    // With D^dagger D = P^dagger P this is sum_i -2 coeff[i] Re <P x_i, dP x_i>, and 2 ln det A = ln |det A|^2.
    let coef: Vec<f64> = quarks.coefficients.iter().map(|c| -c).collect();
    let mut momenta = quarks.host.momenta(mom)?;
    // The host's matrices are P = i sqrt(2) p, where p decreases by the step times F.
    let (step, mut work) = (SQRT_2 * dt, ForceWorkspace::default());
    op.add_force(&mut work, &mut momenta, step, HalfTerms { x: &x, y: &y, px: &y, coef: &coef })?;
    if multiplicity != 0.0 {
        op.add_determinant_force(&mut work, -0.5 * multiplicity)?;
    }
    op.finish_force(&work, &mut momenta, step)?;
    quarks.host.store_momenta(momenta, mom)
}

#[allow(clippy::too_many_arguments)]
fn twisted_force(
    mom: *mut c_void,
    x: &List,
    x0: *mut *mut c_void,
    coeff: &Array<f64>,
    nvector: c_int,
    gauge_param: &Array<QudaGaugeParam>,
    inv_param: &mut QudaInvertParam,
    detratio: c_int,
) -> Result<()> {
    let quarks = Quarks::new(gauge_param, inv_param, coeff, nvector)?;
    let p = quarks.vectors.param;
    if quarks.vectors.schur()?.symmetric {
        refuse!(
            Unsupported,
            "inv_param.matpc_type",
            expected("QUDA_MATPC_EVEN_EVEN_ASYMMETRIC or QUDA_MATPC_ODD_ODD_ASYMMETRIC"),
            found("{}", p.matpc_type.0)
        );
    }
    let csw = match quarks.vectors.kind {
        Dslash::Clover | Dslash::TwistedClover => p.clover_csw,
        Dslash::Wilson | Dslash::Twisted => 0.0,
        other => refuse!(
            Unsupported,
            "inv_param.dslash_type",
            expected("an operator of Wilson type or a twisted one"),
            found("{other}")
        ),
    };
    if csw != 0.0 && !agree(p.kappa * csw, p.clover_coeff) {
        refuse!(
            InvalidArgument,
            "inv_param.clover_csw",
            expected("clover_coeff / kappa, {}", p.clover_coeff / p.kappa),
            found("{csw}")
        );
    }
    let doublet = quarks.vectors.flavours == Flavours::Two;
    if doublet && !(p.evmax > 1e-300 && p.evmax.is_finite()) {
        refuse!(
            InvalidArgument,
            "inv_param.evmax",
            expected("a number above 0"),
            found("{:e}", p.evmax)
        );
    }
    let scale = 0.25 / (p.kappa * p.kappa) / if doublet { p.evmax } else { 1.0 };
    let op = quarks.operator(csw)?;
    let count = quarks.coefficients.len();
    let x = quarks.load(x.get(count, "x")?, "x")?;
    let mut y = op.shape().field(count)?;
    op.apply(&mut y, &x)?;
    if detratio != 0 && !doublet {
        let x0 = quarks.load(List::at(x0.cast(), "x0")?.get(count, "x0")?, "x0")?;
        let mut t = op.shape().field(count)?;
        gamma5(&mut t, &x0)?;
        blas::axpy(&vec![Complex64::ONE; count], &t, &mut y)?;
    }
    let coef: Vec<f64> = quarks.coefficients.iter().map(|c| -scale * c).collect();
    let mut momenta = match quarks.host.param.overwrite_mom {
        0 => quarks.host.momenta(mom)?,
        _ => quarks.host.new_momenta()?,
    };
    // The host's matrices P = i sqrt(2) p increase by 4 i F, so that the step of p is -2 sqrt(2).
    let (step, mut work) = (-2.0 * SQRT_2, ForceWorkspace::default());
    op.add_force(&mut work, &mut momenta, step, HalfTerms { x: &x, y: &y, px: &y, coef: &coef })?;
    if detratio == 0 {
        // A vector of a doublet holds both flavours.
        op.add_determinant_force(&mut work, if doublet { -0.5 } else { -1.0 })?;
    }
    op.finish_force(&work, &mut momenta, step)?;
    quarks.host.store_momenta(momenta, mom)
}
