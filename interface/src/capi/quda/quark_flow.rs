//! `quda.h`: the gradient flow of quark fields and its adjoint.

#![allow(non_snake_case)]

use std::ops::ControlFlow;
use std::sync::Arc;

use num_complex::Complex64;

use super::arrays::{InOut, List};
use super::links::{flow_kind, start, Measurements};
use super::operators::Vectors;
use super::params::{QudaGaugeObservableParam, QudaGaugeSmearParam};
use super::params_invert::QudaInvertParam;
use super::records::Record;
use super::resident::Links;
use crate::capi::args::Raw;
use crate::capi::table::interface;
use crate::error::{within, Result};
use crate::fields::{Recon, Subset};
use crate::ops::quark_flow::{adjoint_of_steps, QuarkFlow, MAX_STEP};
use crate::refuse;

interface! {
    "Gradient flow of quark fields"
    calls {
        /// Flows nSpinors spinors, or with QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH colour vectors, by n_steps
        /// steps with the four-dimensional Laplacian on the flowed links, including the sign of t_boundary. The
        /// flowed links become the smeared links. obs_param as in performWFlowQuda.
        performGFlowQuda(h_out: List, h_in: List, inv_param: InOut<QudaInvertParam>, smear_param: InOut<QudaGaugeSmearParam>, obs_param: Raw<*mut QudaGaugeObservableParam>, nSpinors: usize) = together flow;
        /// Applies the adjoint of performGFlowQuda from the same links: takes spinors from the end of the flow to its
        /// start. As many states of the links are kept as half of the free memory holds; smeared links are not
        /// changed.
        performAdjGFlowSafe(h_out: List, h_in: List, inv_param: InOut<QudaInvertParam>, smear_param: InOut<QudaGaugeSmearParam>, nSpinors: usize) = together safe;
        /// The same as performAdjGFlowSafe, with adj_n_save states of the links.
        performAdjGFlowHier(h_out: List, h_in: List, inv_param: InOut<QudaInvertParam>, smear_param: InOut<QudaGaugeSmearParam>, nSpinors: usize) = together hierarchical;
    }
}

/// Largest number of spinors in a call.
const MAX_SPINORS: usize = 4096;

/// The links with which a flow begins, and the boundary phases with which they were loaded.
fn begin(vectors: &Vectors, p: &QudaGaugeSmearParam) -> Result<(Links, [Complex64; 4])> {
    let links = start(&vectors.session.resident(), p)?;
    links.plain_in_space("a flow")?;
    let one = Complex64::ONE;
    let phases = [one, one, one, Complex64::new(links.sign, 0.0)];
    Ok((links, phases))
}

/// Refuses steps with which the flow of quarks is unstable.
fn check_step(p: &QudaGaugeSmearParam) -> Result<()> {
    if p.epsilon.is_nan() || p.epsilon.abs() > MAX_STEP {
        refuse!(
            InvalidArgument,
            "smear_param.epsilon",
            expected("at most {MAX_STEP}, above which the scheme is unstable"),
            found("{}", p.epsilon)
        );
    }
    Ok(())
}

fn flow(
    h_out: &List,
    h_in: &List,
    inv_param: &mut QudaInvertParam,
    p: &mut QudaGaugeSmearParam,
    obs_param: *mut QudaGaugeObservableParam,
    nSpinors: usize,
) -> Result<()> {
    p.check("smear_param")?;
    check_step(p)?;
    let vectors = Vectors::new(inv_param, "inv_param")?;
    let (kind, n) = (flow_kind(p)?, p.n_steps as usize);
    within("nSpinors", nSpinors, 1, MAX_SPINORS)?;
    let (inp, out) = (h_in.get(nSpinors, "h_in")?, h_out.get(nSpinors, "h_out")?);
    let (mut links, phases) = begin(&vectors, p)?;
    let form = (links.field.precision(), links.field.recon());
    let mut measured = Measurements::new(obs_param, p)?;
    measured.take(&mut links, 0)?;
    let mut psi = vectors.load(&inp, Subset::Full, "h_in")?;
    let mut field = links.field.to(psi.precision(), Recon::R18)?;
    let mut both = QuarkFlow::new(&mut psi, &field, kind, phases)?;
    for step in 1..=n {
        both.step(&mut psi, &mut field, p.epsilon)?;
        if step == n || step.is_multiple_of(measured.interval.max(1)) {
            links.field = Arc::new(field.to(form.0, form.1)?);
            measured.take(&mut links, step)?;
        }
    }
    vectors.save(&psi, &out, "h_out")?;
    vectors.session.resident().smeared = Some(links);
    measured.write();
    Ok(())
}

fn safe(
    h_out: &List,
    h_in: &List,
    inv_param: &mut QudaInvertParam,
    p: &mut QudaGaugeSmearParam,
    nSpinors: usize,
) -> Result<()> {
    back([h_out, h_in], inv_param, p, nSpinors, None)
}

fn hierarchical(
    h_out: &List,
    h_in: &List,
    inv_param: &mut QudaInvertParam,
    p: &mut QudaGaugeSmearParam,
    nSpinors: usize,
) -> Result<()> {
    let kept = Some(p.adj_n_save as usize).filter(|n| *n > 0);
    back([h_out, h_in], inv_param, p, nSpinors, kept)
}

fn back(
    [h_out, h_in]: [&List; 2],
    inv_param: &QudaInvertParam,
    p: &QudaGaugeSmearParam,
    nSpinors: usize,
    kept: Option<usize>,
) -> Result<()> {
    p.check("smear_param")?;
    check_step(p)?;
    let vectors = Vectors::new(inv_param, "inv_param")?;
    let kind = flow_kind(p)?;
    within("nSpinors", nSpinors, 1, MAX_SPINORS)?;
    let (inp, out) = (h_in.get(nSpinors, "h_in")?, h_out.get(nSpinors, "h_out")?);
    let (links, phases) = begin(&vectors, p)?;
    let mut psi = vectors.load(&inp, Subset::Full, "h_in")?;
    let steps = vec![p.epsilon; p.n_steps as usize];
    let mut go_on = |_| ControlFlow::Continue(());
    adjoint_of_steps(&mut psi, &links.field, (kind, phases), steps, kept, &mut go_on)?;
    vectors.save(&psi, &out, "h_out")
}
