//! Solves with the clover operator, whose links, clover term and inverse clover term come from the host.

use std::ffi::c_int;
use std::sync::{Arc, TryLockError};

use super::{precision_of, QudaInvertArgs_t};
use crate::backend::{Device, External, Location};
use crate::bail;
use crate::capi::args::{choose, Data, DataOut, Memory, Out};
use crate::capi::quda::enums::Inverter;
use crate::capi::quda::invert::notify;
use crate::capi::quda::session::{self, Session};
use crate::capi::quda::uploads::{CloverKey, Digest, Links, Solves};
use crate::compose::{DiracSolver, Schur, SolveParams};
use crate::error::{significant, Result};
use crate::fields::{
    CloverField, GammaBasis, GaugeField, Group, Layout, LinkOptions, Precision, Recon, SpinorField,
    Subset,
};
use crate::operators::{phase, DiracParams, Wilson};
use crate::ops::observables;
use crate::params::Key;
use crate::refuse;
use crate::solvers::{SolverKind, SolverParams, Stop};

/// Largest deviation from SU(3) of links that may be stored as two rows in a solve in `precision`.
fn two_rows(precision: Precision) -> f64 {
    if precision == Precision::F64 {
        1e-12
    } else {
        1e-6
    }
}
/// Largest deviation from SU(3) of links that the iteration may store as two rows if residuals in higher precision
/// correct its errors.
const TWO_ROWS_SLOPPY: f64 = 1e-5;

#[allow(clippy::too_many_arguments)]
pub fn invert(
    external_precision: c_int,
    quda_precision: c_int,
    kappa: f64,
    _clover_coeff: f64,
    inv_args: QudaInvertArgs_t,
    target_residual: f64,
    target_fermilab_residual: f64,
    link: &Data,
    clover: &Data,
    clover_inv: &Data,
    source: &Data,
    solution: &DataOut,
    final_residual: &mut Out<f64>,
    final_fermilab_residual: &mut Out<f64>,
    num_iters: &mut Out<c_int>,
) -> Result<()> {
    let session = session::get()?;
    let outer = precision_of(external_precision, "external_precision")?;
    let inner = precision_of(quda_precision, "quda_precision")?;
    let params = params(&inv_args, target_residual, target_fermilab_residual)?;
    if !(kappa > 0.0 && kappa.is_finite()) {
        refuse!(BadParameter, "kappa", expected("a number above 0"), found("{kappa}"));
    }
    if inv_args.boundary_phase.iter().any(|angle| !angle.is_finite()) {
        let found = inv_args.boundary_phase;
        refuse!(
            BadParameter,
            "inv_args.boundary_phase",
            expected("angles in units of pi"),
            found("{found:?}")
        );
    }
    let sloppy = match inv_args.mixed_precision {
        0 => inner,
        1 => Precision::F32,
        2 => Precision::F16,
        other => refuse!(
            InvalidArgument,
            "inv_args.mixed_precision",
            expected("0 (no other), 1 (single) or 2 (half)"),
            found("{other}")
        ),
    };
    let mut solves = match session.solves.try_lock() {
        Ok(solves) => solves,
        Err(TryLockError::WouldBlock) => bail!(Busy, "another thread's solve is not done"),
        Err(TryLockError::Poisoned(_)) => bail!(Internal, "an earlier solve broke off"),
    };
    let boundary = inv_args.boundary_phase;
    let host = Host { session: &session, device: session.context.device(), outer, inner, sloppy };
    let arrays = [link, clover, clover_inv];
    host.precompile(arrays, kappa, boundary, &params, source, solution);
    let solver = host.solver(&mut solves, arrays, kappa, boundary, params)?;
    let [mut x, mut b] = host.spinors(&mut solves)?;
    let done = host.load(&mut b, source).and_then(|()| {
        let report = solver.solve(&mut x, &b, &mut notify)?.solver;
        host.save(&x, solution)?;
        Ok(report)
    });
    solves.spinors = Some([x, b]);
    let report = done?;
    log::info!(
        "clover solve: {} iterations, residual {}, heavy-quark residual {}, {:.3} s{}",
        report.iterations,
        significant(report.residual[0], 4),
        significant(report.residual_hq[0], 4),
        report.seconds,
        if report.converged { "" } else { ", not converged" }
    );
    final_residual.set(report.residual[0]);
    final_fermilab_residual.set(report.residual_hq[0]);
    num_iters.set(report.iterations as c_int);
    Ok(())
}

/// Requests, in a rehearsal on `device`, the kernels of the solve that MILC does by default: an iteration in half
/// precision inside of the host's precision, with fields antiperiodic in time.
pub(super) fn run_through(session: &Session, device: &Device, precision: Precision) -> Result<()> {
    let sloppy = Precision::F16;
    let host = Host { session, device, outer: precision, inner: precision, sloppy };
    let whole = GaugeField::new(device, &session.geometry, precision, Recon::R18)?;
    let field = Arc::new(whole.to(precision, Recon::R12)?);
    let blocks = || CloverField::new(device, &session.geometry, precision, 1).map(Arc::new);
    let solver = SolverParams { kind: SolverKind::BiCgStab, ..Default::default() };
    let links = Links { field, sloppy: Recon::R12 };
    let (blocks, boundary) = ([blocks()?, blocks()?], [0.0, 0.0, 0.0, 1.0]);
    let solver = host.solver_of(links, blocks, 0.1, boundary, through_odd(solver))?;
    let (mut x, b) = (host.spinor()?, host.spinor()?);
    solver.run_through(&mut x, &b);
    Ok(())
}

/// The solver's parameters: QUDA's MAT solution by the symmetric preconditioned system on odd sites.
fn params(args: &QudaInvertArgs_t, tol: f64, tol_hq: f64) -> Result<SolveParams> {
    let Inverter(kind) = choose(args.solver_type, "inv_args.solver_type")?;
    for (value, name) in [(tol, "target_residual"), (tol_hq, "target_fermilab_residual")] {
        if !(0.0..1.0).contains(&value) {
            refuse!(
                InvalidArgument,
                "{name}",
                expected("0 (not asked for) to below 1"),
                found("{value}")
            );
        }
    }
    if tol == 0.0 && tol_hq == 0.0 {
        refuse!(
            InvalidArgument,
            "target_residual and target_fermilab_residual",
            expected("one above 0"),
            found("0 for both")
        );
    }
    if args.max_iter < 1 {
        refuse!(
            InvalidArgument,
            "inv_args.max_iter",
            expected("1 or more"),
            found("{}", args.max_iter)
        );
    }
    let max_iterations = args.max_iter as usize;
    let solver = SolverParams {
        kind,
        stop: Stop { heavy_quark: tol_hq, iterations: max_iterations, ..Stop::at(tol) },
        ..Default::default()
    };
    Ok(through_odd(solver))
}

fn through_odd(solver: SolverParams) -> SolveParams {
    let even_odd = Some(Schur { parity: 1, symmetric: true });
    SolveParams { solver, even_odd, ..Default::default() }
}

/// Adds the name of the array to an error about it.
fn named<T>(name: &str, result: Result<T>) -> Result<T> {
    result.map_err(|e| e.at(name))
}

/// The lattice of a call, and the precisions of the host's arrays, of the solve and of the iteration.
#[derive(Clone, Copy)]
struct Host<'a> {
    session: &'a Session,
    device: &'a Device,
    outer: Precision,
    inner: Precision,
    sloppy: Precision,
}

impl Host<'_> {
    /// Starts to compile the kernels that the first call launches, from loading the links to the solution.
    fn precompile(
        &self,
        [link, clover, clover_inv]: [&Data; 3],
        kappa: f64,
        boundary: [f64; 4],
        params: &SolveParams,
        source: &Data,
        solution: &DataOut,
    ) {
        let forms = (self.outer, self.inner, self.sloppy);
        let geometry = &self.session.geometry;
        let key = Key::of(("clover solve", geometry.extents(), forms, params));
        geometry.precompile(self.device, None, false, key, |device| {
            let host = Host { device, ..*self };
            let links = host.links(boundary, link)?.0;
            let blocks = [host.clover(clover, "clover")?, host.clover(clover_inv, "clover_inv")?];
            let (mut x, mut b) = (host.spinor()?, host.spinor()?);
            host.load(&mut b, source)?;
            host.save(&x, solution)?;
            let solver = host.solver_of(links, blocks, kappa, boundary, params.clone())?;
            solver.run_through(&mut x, &b);
            Ok(())
        });
    }

    /// An array of the host in this layout.
    fn array<'d>(&self, layout: &Layout, data: &'d impl Memory) -> Result<External<'d>> {
        let extents = self.session.geometry.extents();
        Ok(data.block(&layout.bytes(extents, Group::Su3, Subset::Full)?, Location::Host))
    }

    /// The hash of the contents of a host's array.
    fn digest(&self, layout: &Layout, data: &Data) -> Result<Digest> {
        let extents = self.session.geometry.extents();
        let bytes = layout.bytes(extents, Group::Su3, Subset::Full)?.iter().sum();
        Ok(data.read(bytes, |bytes| self.session.threads.install(|| Digest::of(bytes))))
    }

    /// The solver for the host's links, clover term and inverse; only what depends on arrays that have changed is
    /// made again.
    fn solver(
        &self,
        solves: &mut Solves,
        [link, clover, clover_inv]: [&Data; 3],
        kappa: f64,
        boundary: [f64; 4],
        params: SolveParams,
    ) -> Result<Arc<DiracSolver>> {
        let comm = self.session.context.comm();
        let links_key =
            (self.digest(&Layout::milc(self.outer), link)?, boundary, self.outer, self.inner);
        let key = |data| -> Result<CloverKey> {
            Ok((self.digest(&Layout::packed_clover(self.outer), data)?, self.outer, self.inner))
        };
        let clover_keys = [key(clover)?, key(clover_inv)?];
        let key = (links_key, clover_keys, kappa.to_bits(), self.sloppy, params.clone());
        let Solves { links: kept, clover: [direct, inverse], solver, .. } = solves;
        solver.get(comm, key, || {
            // No solver holds the former fields any more, so that they are freed before new ones are made.
            let links = kept.get(comm, links_key, || {
                let (links, off) = self.links(boundary, link)?;
                log::info!("links uploaded, {} off SU(3)", significant(off, 2));
                Ok(links)
            })?;
            let blocks = |data, name| {
                let blocks = self.clover(data, name)?;
                log::info!("{name} uploaded");
                Ok(blocks)
            };
            let [a, b] = clover_keys;
            let direct = direct.get(comm, a, || blocks(clover, "clover"))?;
            let inverse = inverse.get(comm, b, || blocks(clover_inv, "clover_inv"))?;
            Ok(Arc::new(self.solver_of(links, [direct, inverse], kappa, boundary, params)?))
        })
    }

    fn solver_of(
        &self,
        links: Links,
        [direct, inverse]: [Arc<CloverField>; 2],
        kappa: f64,
        boundary: [f64; 4],
        params: SolveParams,
    ) -> Result<DiracSolver> {
        let dirac = DiracParams { boundary: boundary.map(phase), ..Default::default() };
        let dirac = dirac.with_kappa(kappa);
        let op = Wilson::from_parts(links.field, Some(direct), Some(inverse), dirac)?;
        let sloppy = Some((self.sloppy.min(self.inner), links.sloppy));
        DiracSolver::new(Arc::new(op), SolveParams { sloppy, ..params })
    }

    /// Loads the links. Their boundary phases are divided out, and become those of the operator. Returns also the
    /// largest deviation of the links from SU(3).
    fn links(&self, boundary: [f64; 4], data: &Data) -> Result<(Links, f64)> {
        let options = LinkOptions { tolerance: Some(f64::INFINITY), reproject: false };
        let geometry = &self.session.geometry;
        let form = (self.inner, Recon::R18);
        let layout = Layout { boundary: boundary.map(phase), ..Layout::milc(self.outer) };
        let memory = self.array(&layout, data)?;
        let whole =
            GaugeField::from_external(self.device, geometry, form, &layout, &memory, options)?;
        let off = observables::unitarity(&whole)?.worst();
        let sloppy = if off <= TWO_ROWS_SLOPPY { Recon::R12 } else { Recon::R18 };
        let field =
            if off <= two_rows(self.inner) { whole.to(self.inner, Recon::R12)? } else { whole };
        Ok((Links { field: Arc::new(field), sloppy }, off))
    }

    fn clover(&self, data: &Data, name: &str) -> Result<Arc<CloverField>> {
        let layout = Layout::packed_clover(self.outer);
        let mut field = CloverField::new(self.device, &self.session.geometry, self.inner, 1)?;
        let memory = self.array(&layout, data)?;
        let loaded = named(name, field.load(&layout, &memory, true));
        self.session.context.comm().agree(loaded)?;
        Ok(Arc::new(field))
    }

    fn load(&self, b: &mut SpinorField, source: &Data) -> Result<()> {
        let layout = Layout::dirac(self.outer, GammaBasis::DeGrandRossi);
        named("source", b.load(&layout, &self.array(&layout, source)?, true))
    }

    fn save(&self, x: &SpinorField, solution: &DataOut) -> Result<()> {
        let layout = Layout::dirac(self.outer, GammaBasis::DeGrandRossi);
        x.save(&layout, &mut self.array(&layout, solution)?)
    }

    /// Fields for a solution and a source; those of an earlier solve are used again if they have this precision.
    fn spinors(&self, solves: &mut Solves) -> Result<[SpinorField; 2]> {
        if let Some(fields) = solves.spinors.take().filter(|f| f[0].precision() == self.inner) {
            return Ok(fields);
        }
        Ok([self.spinor()?, self.spinor()?])
    }

    fn spinor(&self) -> Result<SpinorField> {
        SpinorField::new(self.device, &self.session.geometry, self.inner, Subset::Full, 1)
    }
}
