//! `quda.h`: eigenvectors of Dirac operators and Laplacians.

#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use num_complex::Complex64;

use super::arrays::{InOut, List};
use super::enums::*;
use super::operators::{laplacian, Vectors};
use super::params_parts::QudaEigParam;
use super::records::Record;
use crate::bail;
use crate::capi::args::{choose, Array, DataOut, Raw};
use crate::capi::table::interface;
use crate::error::{significant, Result};
use crate::fields::Precision;
use crate::linop::{LinOp, Normal};
use crate::operators::{Gamma5Times, QuarkAction};
use crate::refuse;
use crate::solvers::{self, eigen, no_monitor, slice_modes, EigenParams, EigenReport, Filter};

interface! {
    "Eigenvectors"
    calls {
        /// Finds the n_conv normalised eigenvectors of A at the end `spectrum`, and their eigenvalues in the order
        /// from that end on. A is the operator M of invert_param, with use_pc P, with use_norm_op M^dagger M, with
        /// use_dagger too M M^dagger, with compute_gamma5 gamma5 M or gamma5 P, without the factor of
        /// mass_normalization, and must be hermitian. QUDA_EIG_TR_LANCZOS_3D: A is the Laplacian in x, y and z, and
        /// the n_conv lowest eigenvectors of every time slice are found; vector k holds eigenvector k of each slice,
        /// normalised to 1 there.
        /// `h_evecs`: n_conv arrays, or NULL; `h_evals`: n_conv complex doubles, in 3D as many for each t of the
        /// whole lattice.
        eigensolveQuda(h_evecs: Raw<*mut *mut c_void>, h_evals: Raw<*mut Complex64>, param: InOut<QudaEigParam>) = together eigensolve;
    }
}

fn counted(value: c_int, name: &str) -> Result<usize> {
    match usize::try_from(value) {
        Ok(n) if n > 0 => Ok(n),
        _ => refuse!(BadParameter, "{name}", expected("1 or more"), found("{value}")),
    }
}

/// The method and the parameters of the search; `name` is the struct's name in messages.
pub(crate) fn search(p: &QudaEigParam, name: &str) -> Result<(EigenKind, EigenParams)> {
    let method: EigenKind = choose(p.eig_type, &format!("{name}.eig_type"))?;
    let End(end) = choose(p.spectrum, &format!("{name}.spectrum"))?;
    no_file(&p.vec_infile, &format!("{name}.vec_infile"))?;
    no_file(&p.vec_outfile, &format!("{name}.vec_outfile"))?;
    let Flag(polynomial) = choose(p.use_poly_acc, &format!("{name}.use_poly_acc"))?;
    let counted = |value, member: &str| counted(value, &format!("{name}.{member}"));
    let params = EigenParams {
        end,
        count: counted(p.n_conv, "n_conv")?,
        max_vectors: counted(p.n_kr, "n_kr")?,
        block: if method == EigenKind::Block { counted(p.block_size, "block_size")? } else { 1 },
        tol: p.tol,
        max_restarts: counted(p.max_restarts, "max_restarts")?,
        filter: match usize::try_from(p.poly_deg) {
            Ok(degree @ 2..) if polynomial && p.a_max > 0.0 => {
                Filter::Chebyshev { degree, from: p.a_min, to: p.a_max }
            }
            // The largest eigenvalues are found quickly without a polynomial, the smallest hardly ever.
            _ if end == solvers::End::Largest => Filter::Plain,
            _ => Filter::Auto,
        },
        ..Default::default()
    };
    Ok((method, params))
}

/// Logs a line about a search that found this number of eigenvectors, and refuses fewer than are required.
pub(crate) fn say(
    report: &EigenReport,
    found: usize,
    (count, required): (usize, bool),
    name: &str,
) -> Result<()> {
    let worst = report.residuals.iter().fold(0.0f64, |a, b| a.max(*b));
    log::info!(
        "eigenvectors: {found} after {} restarts, largest residual {}, {:.3} s{}",
        report.restarts,
        significant(worst, 4),
        report.seconds,
        if report.converged { "" } else { ", not converged" }
    );
    if required && !report.converged {
        bail!(NotConverged, sentence("{name}.max_restarts: {found} of {count} eigenvectors after {}, with a residual of {}", report.restarts, significant(worst, 4)), hint("require_convergence of QUDA_BOOLEAN_FALSE takes what there is"));
    }
    Ok(())
}

/// The operator A, which must be hermitian, on colour vectors or spinors.
fn operator(p: &QudaEigParam, vectors: &Vectors) -> Result<Arc<dyn LinOp>> {
    let flag = |flag, name: &str| -> Result<bool> {
        Ok(choose::<Flag>(flag, &format!("param.{name}"))?.0)
    };
    if flag(p.use_smeared_gauge, "use_smeared_gauge")? {
        let there = vectors.session.resident().smeared.is_some();
        if vectors.kind != Dslash::Laplace || !there {
            refuse!(
                Unsupported,
                "param.use_smeared_gauge",
                expected(
                    "QUDA_BOOLEAN_FALSE but for QUDA_LAPLACE_DSLASH on links that were smeared"
                ),
                found("{}", if there { "another operator" } else { "no smeared links" })
            );
        }
    }
    let action: Arc<dyn QuarkAction> = match vectors.kind {
        Dslash::Laplace => Arc::new(laplacian(vectors)?),
        _ => vectors.action(&mut vectors.session.resident())?.1,
    };
    let op: Arc<dyn LinOp> = match flag(p.use_pc, "use_pc")? {
        true => action.schur(vectors.schur()?)?,
        false => action,
    };
    let dagger = flag(p.use_dagger, "use_dagger")? != vectors.dagger()?;
    let normal = flag(p.use_norm_op, "use_norm_op")?;
    if flag(p.compute_gamma5, "compute_gamma5")? {
        let symmetric = flag(p.use_pc, "use_pc")? && vectors.schur()?.symmetric;
        let hermitian = match vectors.kind {
            Dslash::Wilson => true,
            Dslash::Clover => !symmetric,
            _ => false,
        };
        if normal || dagger || !hermitian {
            refuse!(Unsupported, "param.compute_gamma5", expected("QUDA_BOOLEAN_FALSE but for gamma5 times the operator itself, which is hermitian with QUDA_WILSON_DSLASH and QUDA_CLOVER_WILSON_DSLASH, of the latter with use_pc for an asymmetric matpc_type"));
        }
        return Ok(Arc::new(Gamma5Times(op)));
    }
    Ok(match (normal, dagger) {
        (true, false) => Arc::new(Normal::mdag_m(op)),
        (true, true) => Arc::new(Normal::m_mdag(op)),
        (false, _) if op.hermitian() => op,
        (false, _) => refuse!(
            Unsupported,
            "param.use_norm_op, compute_gamma5",
            expected("QUDA_BOOLEAN_TRUE for one of them, as the operator itself is not hermitian")
        ),
    })
}

fn no_file(name: &[c_char; 256], member: &str) -> Result<()> {
    match name[0] {
        0 => Ok(()),
        _ => refuse!(
            Unsupported,
            "{member}",
            expected("an empty name, as files of eigenvectors are those of plaq.h")
        ),
    }
}

pub(crate) fn eigensolve(
    h_evecs: *mut *mut c_void,
    h_evals: *mut Complex64,
    p: &mut QudaEigParam,
) -> Result<()> {
    p.check("param")?;
    let quark = Array::at(p.invert_param, "param.invert_param")?.own(1)[0];
    let vectors = Vectors::new(&quark, "param.invert_param")?;
    if p.compute_svd.0 != 0 {
        refuse!(
            Unsupported,
            "param.compute_svd",
            expected("QUDA_BOOLEAN_FALSE"),
            found("{}", p.compute_svd.0)
        );
    }
    let (method, params) = search(p, "param")?;
    let evals = DataOut::at(h_evals.cast(), "h_evals")?;
    let op = operator(p, &vectors)?;
    let (found, report) = match method {
        EigenKind::Slices => {
            slices(p, &vectors)?;
            slice_modes(&*op, None, &params, &mut no_monitor)?
        }
        _ => eigen(&*op, None, &params, None, &mut no_monitor)?,
    };
    let Flag(required) = choose(p.require_convergence, "param.require_convergence")?;
    say(&report, found.nrhs(), (params.count, required), "param")?;
    if !h_evecs.is_null() {
        let at = List::at(h_evecs.cast(), "h_evecs")?.get(found.nrhs(), "h_evecs")?;
        vectors.save(&found, &at, "h_evecs")?;
    }
    let values: Vec<f64> = report.values.iter().flat_map(|v| [*v, 0.0]).collect();
    evals.write(Precision::F64, &values);
    Ok(())
}

/// Finds eigenvectors of the Laplacian on each time slice separately; it has no hops between them.
fn slices(p: &QudaEigParam, vectors: &Vectors) -> Result<()> {
    if vectors.kind != Dslash::Laplace || vectors.param.laplace3D != 3 {
        refuse!(
            Unsupported,
            "param.eig_type",
            expected("QUDA_EIG_TR_LANCZOS_3D with QUDA_LAPLACE_DSLASH and laplace3D 3 only")
        );
    }
    let t = vectors.session.geometry.extents()[3];
    if p.ortho_dim != 3 || p.ortho_dim_size_local as i64 != t as i64 {
        refuse!(
            InvalidArgument,
            "param.ortho_dim, ortho_dim_size_local",
            expected("3 and {t}, the t of this rank"),
            found("{} and {}", p.ortho_dim, p.ortho_dim_size_local)
        );
    }
    Ok(())
}
