//! Fermion forces for spinors of the caller.

use std::sync::Arc;

use super::args::{Array, Handle, One};
use super::dirac::{plaq_dirac, Dirac};
use super::momentum::{plaq_momentum, Momentum};
use super::spinor::{plaq_spinor, Spinor};
use super::table::interface;
use crate::bail;
use crate::error::Result;
use crate::fields::SpinorField;
use crate::linop::System;
use crate::operators::{ForceTerms, ForceWorkspace, HalfTerms, Wilson};
use crate::refuse;

interface! {
    "Fermion forces of given spinors"
    functions {
        /// Sets `momentum` to momentum - step F, where F is the force of the hopping term in S = sum_k 2
        /// coefficients[k] Re <y_k, M x_k>, including boundary phases. For two flavours with the action phi^dagger
        /// (M^dagger M)^-1 phi the coefficient is -1, x = (M^dagger M)^-1 phi and y = M x. F_a = dS/d omega_a for U
        /// -> exp(i omega_a T_a) U. Spinors hold the whole lattice; `count` = nrhs. Operator, spinors and momenta
        /// have the same precision, double or single, and the operator's links 18 or 12 numbers. Errors:
        /// FIELD_MISMATCH, UNSUPPORTED.
        plaq_dirac_hop_force(dirac: Handle<plaq_dirac>, momentum: Handle<plaq_momentum>, step: f64, x: Handle<plaq_spinor>, y: Handle<plaq_spinor>, coefficients: Array<f64>[count], count: i64) = wilson;
        /// Does as plaq_dirac_hop_force for the force of the clover term, if that is computed from the operator's
        /// links. S then also has the terms determinant_even ln |det A_even|^2 + determinant_odd ln |det A_odd|^2,
        /// with A including the twisted mass: for two flavours the coefficient is -1 on the parities that their Schur
        /// complement leaves out. Errors: those of plaq_dirac_hop_force; UNSUPPORTED without such a clover term.
        plaq_dirac_clover_force(dirac: Handle<plaq_dirac>, momentum: Handle<plaq_momentum>, step: f64, x: Handle<plaq_spinor>, y: Handle<plaq_spinor>, coefficients: Array<f64>[count], count: i64, determinant_even: f64, determinant_odd: f64) = clover;
        /// Does as plaq_dirac_hop_force for the force of both hopping and clover term in S = sum_k 2 coefficients[k]
        /// Re <y_k, P x_k> + determinant ln |det A|^2. P is a Schur complement (any plaq_system except the full one),
        /// spinors have the sites of its parity, and A is the site term on the sites that P leaves out, or on all
        /// sites for a symmetric P. Errors: those of plaq_dirac_hop_force.
        plaq_dirac_schur_force(dirac: Handle<plaq_dirac>, system: One<System>, momentum: Handle<plaq_momentum>, step: f64, x: Handle<plaq_spinor>, y: Handle<plaq_spinor>, coefficients: Array<f64>[count], count: i64, determinant: f64) = schur;
    }
}

/// The coefficients converted to those of the kappa-normalised operator.
fn coefficients(numbers: &Array<f64>, count: i64, x: &SpinorField, scale: f64) -> Result<Vec<f64>> {
    if count != x.nrhs() as i64 {
        refuse!(
            InvalidArgument,
            "count",
            expected("{} right-hand sides", x.nrhs()),
            found("{count}")
        );
    }
    let numbers = numbers.get(x.nrhs())?;
    if let Some(k) = numbers.iter().position(|c| !c.is_finite()) {
        bail!(InvalidArgument, "coefficients: number {k} is {}", numbers[k]);
    }
    Ok(numbers.iter().map(|c| scale * c).collect())
}

/// The operator if it is of Wilson's type, else an error.
fn wilson_of(dirac: &Dirac) -> Result<&Wilson> {
    match dirac.op().as_any().downcast_ref::<Wilson>() {
        Some(op) => Ok(op),
        None => refuse!(
            Unsupported,
            "dirac",
            expected("a Wilson-type operator"),
            found("{}", dirac.op().describe())
        ),
    }
}

fn check(
    dirac: &Dirac,
    momentum: &Momentum,
    [x, y]: [&Spinor; 2],
    numbers: &[(f64, &str)],
) -> Result<()> {
    let context = dirac.context();
    context.check_same(momentum.context(), "momentum")?;
    context.check_same(x.context(), "x")?;
    context.check_same(y.context(), "y")?;
    for (number, name) in numbers {
        if !number.is_finite() {
            refuse!(InvalidArgument, "{name}", expected("a finite number"), found("{number}"));
        }
    }
    Ok(())
}

fn wilson(
    dirac: &Arc<Dirac>,
    momentum: &Arc<Momentum>,
    step: f64,
    x: &Arc<Spinor>,
    y: &Arc<Spinor>,
    numbers: &Array<f64>,
    count: i64,
) -> Result<()> {
    check(dirac, momentum, [x, y], &[(step, "step")])?;
    let (x, y) = (x.read("x")?, y.read("y")?);
    let coef = coefficients(numbers, count, &x, dirac.scale(System::Full))?;
    let mut momenta = momentum.write("momentum")?;
    wilson_of(dirac)?.hop_force(&mut momenta, step, ForceTerms { x: &x, y: &y, coef: &coef })
}

#[allow(clippy::too_many_arguments)]
fn clover(
    dirac: &Arc<Dirac>,
    momentum: &Arc<Momentum>,
    step: f64,
    x: &Arc<Spinor>,
    y: &Arc<Spinor>,
    numbers: &Array<f64>,
    count: i64,
    determinant_even: f64,
    determinant_odd: f64,
) -> Result<()> {
    let all = [
        (step, "step"),
        (determinant_even, "determinant_even"),
        (determinant_odd, "determinant_odd"),
    ];
    check(dirac, momentum, [x, y], &all)?;
    let (x, y) = (x.read("x")?, y.read("y")?);
    let coef = coefficients(numbers, count, &x, dirac.scale(System::Full))?;
    let op = wilson_of(dirac)?;
    let bytes = op.insertion_bytes() as u64;
    op.gauge().device().require(bytes, "the force of the clover term")?;
    let mut insertion = op.insertion()?;
    let terms = ForceTerms { x: &x, y: &y, coef: &coef };
    op.insert(&mut insertion, Some(terms), [determinant_even, determinant_odd], false)?;
    op.clover_force(&mut *momentum.write("momentum")?, step, &insertion)
}

#[allow(clippy::too_many_arguments)]
fn schur(
    dirac: &Arc<Dirac>,
    system: System,
    momentum: &Arc<Momentum>,
    step: f64,
    x: &Arc<Spinor>,
    y: &Arc<Spinor>,
    numbers: &Array<f64>,
    count: i64,
    determinant: f64,
) -> Result<()> {
    check(dirac, momentum, [x, y], &[(step, "step"), (determinant, "determinant")])?;
    let Some(form) = system.schur() else {
        refuse!(
            InvalidArgument,
            "system",
            expected("a Schur complement"),
            found("the full operator")
        );
    };
    let op = dirac.op().clone().schur(form)?;
    let (x, y) = (x.read("x")?, y.read("y")?);
    op.shape().check(&x, "x")?;
    op.shape().check(&y, "y")?;
    let coef = coefficients(numbers, count, &x, dirac.scale(system))?;
    let mut px = op.shape().field(x.nrhs())?;
    op.apply(&mut px, &x)?;
    let mut momenta = momentum.write("momentum")?;
    let mut work = ForceWorkspace::default();
    op.add_force(&mut work, &mut momenta, step, HalfTerms { x: &x, y: &y, px: &px, coef: &coef })?;
    if determinant != 0.0 {
        op.add_determinant_force(&mut work, determinant)?;
    }
    op.finish_force(&work, &mut momenta, step)
}
