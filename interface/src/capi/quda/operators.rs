//! `quda.h`: clover terms, and operators applied to vectors of the host.

#![allow(non_snake_case)]

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use super::arrays::{InOut, List};
use super::enums::*;
use super::links::MAX_STEPS;
use super::params_invert::QudaInvertParam;
use super::records::{unset, Record};
use super::resident::{Links, TermSource};
use super::session::{self, Session};
use crate::backend::External;
use crate::capi::args::{choose, One};
use crate::capi::library::log_at;
use crate::capi::table::interface;
use crate::error::{within, Result};
use crate::fields::{
    blas, vanishing, CloverCoefficients, CloverField, Components, GammaBasis, GaugeField, Layout,
    Precision, RhsOrder, Subset, VectorField,
};
use crate::linop::{LinOp, Schur};
use crate::operators::{CovariantShift, Laplace, SiteTerm};
use crate::ops::smearing::{self, SPACE};
use crate::refuse;

interface! {
    "Clover terms and operators"
    calls {
        /// Sets a clover term A and its inverse. compute_clover 1: A = 1 + 2 clover_coeff (i / 4) sum sigma F of the
        /// links on the device and its inverse are computed, and copied to the host if return_clover and
        /// return_clover_inverse are 1. Otherwise the host's A is loaded, with its inverse, which is computed if the
        /// host has none. They are kept until this is called again.
        loadCloverQuda(h_clover: *mut c_void, h_clovinv: *mut c_void, inv_param: InOut<QudaInvertParam>) = together load_clover;
        /// The same as loadCloverQuda without arrays of the host.
        createCloverQuda(param: InOut<QudaInvertParam>) = together create_clover;
        /// Frees the clover term and its inverse.
        freeCloverQuda() = alone free_clover;
        /// Computes out = M in, or P in if solution_type is that of a preconditioned system; QUDA_DAG_YES: with the
        /// adjoint. M is A - kappa H times the factor of mass_normalization; for the Laplacian 1 - kappa sum (U +
        /// U^dagger) on colour vectors; for the covariant derivative the shift of spinors by covdev_mu.
        MatQuda(h_out: *mut c_void, h_in: *mut c_void, inv_param: InOut<QudaInvertParam>) = together mat;
        /// Computes out = M^dagger M in, or P^dagger P in.
        MatDagMatQuda(h_out: *mut c_void, h_in: *mut c_void, inv_param: InOut<QudaInvertParam>) = together mat_dag_mat;
        /// Computes out = H in from the other parity to `parity`, or A^-1 H in with a clover term or a twisted mass;
        /// without a factor.
        dslashQuda(h_out: *mut c_void, h_in: *mut c_void, inv_param: InOut<QudaInvertParam>, parity: One<Parity>) = together dslash;
        /// The same as dslashQuda for num_src vectors.
        dslashMultiSrcQuda(_hp_x: List, _hp_b: List, param: InOut<QudaInvertParam>, parity: One<Parity>) = together dslash_many;
        /// Computes out = A in on `parity`, including the twisted mass, or A^-1 in.
        cloverQuda(h_out: *mut c_void, h_in: *mut c_void, inv_param: InOut<QudaInvertParam>, parity: One<Parity>, inverse: c_int) = together clover;
        /// Computes out(x) = U_dir(x) in(x + dir) for dir 0 to 3, or U_dir(x - dir)^dagger in(x - dir) for dir 4 to
        /// 7, of spinors, or with QUDA_STAGGERED_DSLASH and QUDA_LAPLACE_DSLASH of colour vectors.
        covDevQuda(h_out: *mut c_void, h_in: *mut c_void, dir: c_int, param: InOut<QudaInvertParam>) = together covariant_derivative;
        /// Computes the same for dir 0 to 3 forward (sym 1), backward (sym 2), or half the sum of both (sym 3).
        shiftQuda(h_out: *mut c_void, h_in: *mut c_void, dir: c_int, sym: c_int, param: InOut<QudaInvertParam>) = together shift;
        /// Computes out = [(1 + alpha sum (U + U^dagger)) / (1 + 6 alpha)]^n_steps in, with the sum over spatial
        /// neighbours and the smeared links, if there are any; of spinors, or with QUDA_STAGGERED_DSLASH of colour
        /// vectors.
        performWuppertalnStep(h_out: *mut c_void, h_in: *mut c_void, param: InOut<QudaInvertParam>, n_steps: c_uint, alpha: f64) = together wuppertal;
    }
}

/// A checked `QudaInvertParam`, with what calls for vectors and operators derive from it.
pub struct Vectors<'a> {
    pub session: Arc<Session>,
    pub param: &'a QudaInvertParam,
    pub kind: Dslash,
    /// Flavours that a vector holds.
    pub flavours: Flavours,
    /// Precision of the host's vectors.
    outside: Precision,
    pub inside: Precision,
}

impl<'a> Vectors<'a> {
    /// Checks the members that all calls use, and sets the amount of the log to `verbosity` until the call ends.
    pub fn new(param: &'a QudaInvertParam, name: &str) -> Result<Self> {
        let session = session::get()?;
        param.check(name)?;
        if param.verbosity != unset() {
            let Verbosity(level) = choose(param.verbosity, &format!("{name}.verbosity"))?;
            log_at(Some(level));
        }
        let kind = choose(param.dslash_type, &format!("{name}.dslash_type"))?;
        let Numbers(outside) = choose(param.cpu_prec, &format!("{name}.cpu_prec"))?;
        let Numbers(inside) = choose(param.cuda_prec, &format!("{name}.cuda_prec"))?;
        let flavours = match kind {
            Dslash::Twisted | Dslash::TwistedClover => {
                choose(param.twist_flavor, &format!("{name}.twist_flavor"))?
            }
            _ => Flavours::One,
        };
        Ok(Vectors { session, param, kind, flavours, outside, inside })
    }

    fn components(&self) -> Components {
        match self.kind {
            Dslash::Laplace | Dslash::Staggered => Components::COLOUR,
            _ if self.flavours == Flavours::Two => Components::DOUBLET,
            _ => Components::SPINOR,
        }
    }

    pub fn field(&self, subset: Subset, nrhs: usize) -> Result<VectorField> {
        let (device, geometry) = (self.session.context.device(), &self.session.geometry);
        let form = (self.components(), RhsOrder::Slowest);
        VectorField::with_components(device, geometry, self.inside, subset, nrhs, form)
    }

    fn layout(&self) -> Result<Layout> {
        let Components { slices, spins, .. } = self.components();
        let Basis(basis) = choose(self.param.gamma_basis, "param.gamma_basis")?;
        let numbers = self.outside;
        let order = choose(self.param.dirac_order, "param.dirac_order")?;
        if (spins == 1 || slices == 2) && order != SpinorOrder::Dirac {
            refuse!(
                Unsupported,
                "param.dirac_order",
                expected(
                    "QUDA_DIRAC_ORDER with {}",
                    if spins == 1 { "colour vectors" } else { "QUDA_TWIST_NONDEG_DOUBLET" }
                ),
                found("{}", self.param.dirac_order.0)
            );
        }
        let layout = match order {
            SpinorOrder::Dirac if slices == 2 => Layout::dirac_doublet(numbers, basis),
            SpinorOrder::Dirac => Layout::dirac(numbers, basis),
            SpinorOrder::Qdp => Layout::qdp_spinor(numbers, basis),
            SpinorOrder::QdpJit => Layout::qdpjit_spinor(numbers, basis),
        };
        Ok(Layout { spins, ..layout })
    }

    fn external(&self, at: &[*mut c_void], name: &str) -> Result<External<'_>> {
        self.session.external(at, name)
    }

    /// Loads vectors of the host, each as a right-hand side.
    pub fn load(&self, at: &[*mut c_void], subset: Subset, name: &str) -> Result<VectorField> {
        let mut field = self.field(subset, at.len())?;
        field.load_once(&self.layout()?, &self.external(at, name)?)?;
        Ok(field)
    }

    /// Loads vectors of the host on the whole lattice, each as a right-hand side: spinors, or colour vectors if vectors
    /// have one spin. They stay in the host's spin basis, and their precision is single at least.
    pub fn load_unturned(
        &self,
        at: &[*mut c_void],
        spins: usize,
        name: &str,
    ) -> Result<VectorField> {
        let vectors = Vectors {
            session: self.session.clone(),
            kind: if spins == 1 { Dslash::Laplace } else { Dslash::Wilson },
            flavours: Flavours::One,
            inside: self.inside.max(Precision::F32),
            ..*self
        };
        let mut field = vectors.field(Subset::Full, at.len())?;
        let layout = Layout { basis: GammaBasis::DeGrandRossi, ..vectors.layout()? };
        field.load_once(&layout, &vectors.external(at, name)?)?;
        Ok(field)
    }

    pub fn save(&self, field: &VectorField, at: &[*mut c_void], name: &str) -> Result<()> {
        field.save(&self.layout()?, &mut self.external(at, name)?)
    }

    /// Parity and form of the even-odd preconditioned operator.
    pub fn schur(&self) -> Result<Schur> {
        Ok(choose(self.param.matpc_type, "param.matpc_type")?.0)
    }

    pub fn dagger(&self) -> Result<bool> {
        Ok(choose::<Dagger>(self.param.dagger, "param.dagger")?.0)
    }

    pub fn wanted(&self) -> Result<Equation> {
        choose(self.param.solution_type, "param.solution_type")
    }

    /// Factor of M, or of P, that mass_normalization asks for.
    pub fn factor(&self, preconditioned: bool) -> Result<f64> {
        let mass = 1.0 / (2.0 * self.param.kappa);
        Ok(match choose(self.param.mass_normalization, "param.mass_normalization")? {
            Factor::Kappa => 1.0,
            Factor::Mass if preconditioned => mass * mass,
            Factor::Mass | Factor::AsymmetricMass => mass,
        })
    }
}

/// Computes y = c y for a real c; z has the same shape and is only read.
pub fn scale(y: &mut VectorField, c: f64, z: &VectorField) -> Result<()> {
    match c == 1.0 {
        true => Ok(()),
        false => {
            let n = y.nrhs();
            blas::axpby(&blas::uniform(n, 0.0), z, &blas::uniform(n, c), y)
        }
    }
}

pub(crate) fn load_clover(
    h_clover: *mut c_void,
    h_clovinv: *mut c_void,
    param: &mut QudaInvertParam,
) -> Result<()> {
    let session = session::get()?;
    param.check("inv_param")?;
    let kind = choose(param.dslash_type, "inv_param.dslash_type");
    let twisted = kind.is_ok_and(|kind| kind == Dslash::TwistedClover);
    if twisted && param.return_clover_inverse != 0 {
        refuse!(
            Unsupported,
            "inv_param.return_clover_inverse",
            expected("0 with QUDA_TWISTED_CLOVER_DSLASH"),
            found("{}", param.return_clover_inverse)
        );
    }
    let (order, numbers) = (param.clover_order, param.clover_cpu_prec);
    let host = |at: *mut c_void, name: &str| -> Result<(Layout, External<'_>)> {
        let Numbers(outside) = choose(numbers, "inv_param.clover_cpu_prec")?;
        let (layout, arrays) = match choose(order, "inv_param.clover_order")? {
            CloverOrder::Packed => (Layout::packed_clover(outside), vec![at]),
            CloverOrder::QdpJit => {
                (Layout::qdpjit_clover(outside), List::at(at, name)?.get(2, name)?)
            }
        };
        Ok((layout, session.external(&arrays, name)?))
    };
    let Numbers(inside) = choose(param.cuda_prec, "inv_param.cuda_prec")?;
    let mut source = None;
    let direct = if param.compute_clover != 0 || h_clover.is_null() {
        let c = param.clover_coeff;
        if !c.is_finite() || c == 0.0 {
            refuse!(
                BadParameter,
                "inv_param.clover_coeff",
                expected("kappa csw, a finite number other than 0"),
                found("{c}")
            );
        }
        let Links { field: links, cf, .. } = session.resident().links()?;
        let version = links.version();
        source = Some(TermSource { links: version, coefficient: c, cf, precision: inside });
        let boundary_term = |cf| if cf == 1.0 { 0.0 } else { 2.0 * param.kappa * (cf - 1.0) };
        let [lower, upper] = cf.map(boundary_term);
        let term = CloverCoefficients::traditional(2.0 * c, 2.0 * c);
        let field = CloverField::build(&links, CloverCoefficients { lower, upper, ..term })?;
        if field.precision() == inside {
            field
        } else {
            field.to(inside)?
        }
    } else {
        let device = session.context.device();
        let mut field = CloverField::new(device, &session.geometry, inside, 1)?;
        let (layout, array) = host(h_clover, "h_clover")?;
        session.context.comm().agree(field.load_once(&layout, &array))?;
        field
    };
    let computed = param.compute_clover_inverse != 0 || h_clovinv.is_null();
    let square = match twisted {
        true => Vectors::new(param, "inv_param")?.square()?,
        false => None,
    };
    let inverse = if computed || twisted {
        direct.inverse(square)?
    } else {
        let device = session.context.device();
        let mut field = CloverField::new(device, &session.geometry, inside, 1)?;
        let (layout, array) = host(h_clovinv, "h_clovinv")?;
        session.context.comm().agree(field.load_once(&layout, &array))?;
        field
    };
    if param.compute_clover_trlog != 0 {
        param.trlogA = direct.log_det(square)?;
    }
    if param.return_clover != 0 {
        let (layout, mut array) = host(h_clover, "h_clover")?;
        direct.save(&layout, &mut array)?;
    }
    if param.return_clover_inverse != 0 {
        let (layout, mut array) = host(h_clovinv, "h_clovinv")?;
        inverse.save(&layout, &mut array)?;
    }
    let source = source.filter(|_| computed || twisted);
    session.resident().set_clover([direct, inverse], square, source);
    Ok(())
}

fn create_clover(param: &mut QudaInvertParam) -> Result<()> {
    load_clover(std::ptr::null_mut(), std::ptr::null_mut(), param)
}

pub(crate) fn free_clover() -> Result<()> {
    if let Some(session) = session::current() {
        let mut resident = session.resident();
        resident.forget_operators();
        resident.clover = None;
    }
    Ok(())
}

fn mat(h_out: *mut c_void, h_in: *mut c_void, param: &mut QudaInvertParam) -> Result<()> {
    apply(h_out, h_in, param, false)
}

fn mat_dag_mat(h_out: *mut c_void, h_in: *mut c_void, param: &mut QudaInvertParam) -> Result<()> {
    apply(h_out, h_in, param, true)
}

fn apply(
    h_out: *mut c_void,
    h_in: *mut c_void,
    param: &QudaInvertParam,
    normal: bool,
) -> Result<()> {
    let vectors = Vectors::new(param, "inv_param")?;
    // Distance preconditioning has no effect on an application: its weights before and after cancel.
    vectors.distance()?;
    if !vectors.quarks() {
        return apply_to_links(&vectors, h_out, h_in, normal);
    }
    let preconditioned = !matches!(vectors.wanted()?, Equation::Mat | Equation::MatDagMat);
    let subset = match preconditioned {
        true => Subset::of_parity(vectors.schur()?.parity),
        false => Subset::Full,
    };
    let x = vectors.load(&[h_in], subset, "h_in")?;
    vectors.save(&operate(&vectors, &x, normal)?, &[h_out], "h_out")
}

/// Computes M x or, preconditioned, P x; with `normal` M^dagger M x or P^dagger P x.
pub(crate) fn operate(vectors: &Vectors, x: &VectorField, normal: bool) -> Result<VectorField> {
    let preconditioned = !matches!(vectors.wanted()?, Equation::Mat | Equation::MatDagMat);
    let (_, action) = vectors.action(&mut vectors.session.resident())?;
    let boundary = action.links().geometry().boundary();
    let inside = (!boundary.is_periodic()).then(|| vanishing(x, boundary)).transpose()?;
    let x = inside.as_ref().unwrap_or(x);
    let op: Arc<dyn LinOp> = match preconditioned {
        true => action.schur(vectors.schur()?)?,
        false => action,
    };
    let mut y = vectors.field(x.subset(), x.nrhs())?;
    let mut factor = vectors.factor(preconditioned)?;
    match (vectors.dagger()?, normal) {
        (false, false) => op.apply(&mut y, x)?,
        (true, false) => op.apply_dagger(&mut y, x)?,
        (dagger, true) => {
            let mut t = vectors.field(x.subset(), x.nrhs())?;
            match dagger {
                false => op.apply(&mut t, x).and_then(|()| op.apply_dagger(&mut y, &t))?,
                true => op.apply_dagger(&mut t, x).and_then(|()| op.apply(&mut y, &t))?,
            }
            factor *= factor;
        }
    }
    scale(&mut y, factor, x)?;
    Ok(y)
}

/// The smeared links, if there are any, else the links, in the precision of the operator, multiplied by the sign and
/// anisotropy that the host's links have in the directions of the mask.
fn measured(vectors: &Vectors, directions: i32) -> Result<Arc<GaugeField>> {
    let mut resident = vectors.session.resident();
    let links = resident.measured()?;
    match resident.as_loaded(&links, directions, vectors.inside)? {
        Some(field) => Ok(field),
        None => vectors.links(&mut resident, &links),
    }
}

/// The operator 1 - kappa sum (U + U^dagger) on colour vectors, over the directions of laplace3D.
pub fn laplacian(vectors: &Vectors) -> Result<Laplace> {
    let directions = match vectors.param.laplace3D {
        mu @ 0..=3 => 15 & !(1 << mu),
        4 => 15,
        other => refuse!(
            InvalidArgument,
            "inv_param.laplace3D",
            expected("the direction that is left out, 0 to 3, or 4 for none"),
            found("{other}")
        ),
    };
    let links = measured(vectors, directions)?;
    Laplace::new(links, vectors.components(), directions, 1.0, -vectors.param.kappa)
}

/// The covariant shift by one site in a direction numbered as in QUDA.
fn covariant_shift(vectors: &Vectors, direction: c_int, name: &str) -> Result<CovariantShift> {
    let step = match direction {
        mu @ 0..=3 => mu as u8,
        mu @ 4..=7 => (7 - (mu - 4)) as u8,
        other => refuse!(
            InvalidArgument,
            "{name}",
            expected("0 to 3 (forward) or 4 to 7 (backward)"),
            found("{other}")
        ),
    };
    let links = measured(vectors, 1 << step.min(7 - step))?;
    CovariantShift::new(links, vectors.components(), vec![step])
}

pub(crate) fn covariant_derivative(
    h_out: *mut c_void,
    h_in: *mut c_void,
    dir: c_int,
    param: &mut QudaInvertParam,
) -> Result<()> {
    let vectors = Vectors::new(param, "param")?;
    let step = covariant_shift(&vectors, dir, "dir")?;
    let x = vectors.load(&[h_in], Subset::Full, "h_in")?;
    let mut y = vectors.field(Subset::Full, 1)?;
    step.apply(&mut y, &x)?;
    vectors.save(&y, &[h_out], "h_out")
}

pub(crate) fn shift(
    h_out: *mut c_void,
    h_in: *mut c_void,
    dir: c_int,
    sym: c_int,
    param: &mut QudaInvertParam,
) -> Result<()> {
    let vectors = Vectors::new(param, "param")?;
    let number = |n: c_int| usize::try_from(n).unwrap_or(usize::MAX);
    within("dir", number(dir), 0, 3)?;
    within("sym", number(sym), 1, 3)?;
    let x = vectors.load(&[h_in], Subset::Full, "h_in")?;
    let (mut y, mut t) = (vectors.field(Subset::Full, 1)?, vectors.field(Subset::Full, 1)?);
    for (way, from) in [(1, dir), (2, dir + 4)] {
        if sym & way != 0 {
            covariant_shift(&vectors, from, "dir")?.apply(&mut t, &x)?;
            let weight = if sym == 3 { 0.5 } else { 1.0 };
            blas::axpy(&blas::uniform(1, weight), &t, &mut y)?;
        }
    }
    vectors.save(&y, &[h_out], "h_out")
}

/// Applies an operator that depends only on links, the Laplacian or a covariant shift.
fn apply_to_links(
    vectors: &Vectors,
    h_out: *mut c_void,
    h_in: *mut c_void,
    normal: bool,
) -> Result<()> {
    let p = vectors.param;
    let op: Box<dyn LinOp> = match vectors.kind {
        Dslash::Laplace => Box::new(laplacian(vectors)?),
        Dslash::Shift => Box::new(covariant_shift(vectors, p.covdev_mu, "inv_param.covdev_mu")?),
        other => refuse!(
            Unsupported,
            "inv_param.dslash_type",
            expected(
                "an operator of Wilson type, twisted or not, the Laplacian or the covariant shift"
            ),
            found("{other}")
        ),
    };
    let x = vectors.load(&[h_in], Subset::Full, "h_in")?;
    let mut y = vectors.field(Subset::Full, 1)?;
    match vectors.dagger()? {
        false => op.apply(&mut y, &x)?,
        true => op.apply_dagger(&mut y, &x)?,
    }
    if normal {
        let mut t = vectors.field(Subset::Full, 1)?;
        std::mem::swap(&mut t, &mut y);
        match vectors.dagger()? {
            false => op.apply_dagger(&mut y, &t)?,
            true => op.apply(&mut y, &t)?,
        }
    }
    vectors.save(&y, &[h_out], "h_out")
}

fn dslash(
    h_out: *mut c_void,
    h_in: *mut c_void,
    param: &mut QudaInvertParam,
    Parity(parity): Parity,
) -> Result<()> {
    hop(&[h_out], &[h_in], param, parity)
}

fn dslash_many(x: &List, b: &List, param: &mut QudaInvertParam, parity: Parity) -> Result<()> {
    let n = sources(param)?;
    hop(&x.get(n, "_hp_x")?, &b.get(n, "_hp_b")?, param, parity.0)
}

/// The number of vectors in a call.
pub fn sources(param: &QudaInvertParam) -> Result<usize> {
    match usize::try_from(param.num_src) {
        Ok(n) if (1..=128).contains(&n) => Ok(n),
        _ => refuse!(
            InvalidArgument,
            "param.num_src",
            expected("1 to 128"),
            found("{}", param.num_src)
        ),
    }
}

fn hop(
    out: &[*mut c_void],
    inp: &[*mut c_void],
    param: &QudaInvertParam,
    parity: usize,
) -> Result<()> {
    let vectors = Vectors::new(param, "inv_param")?;
    let dagger = vectors.dagger()?;
    vectors.distance()?;
    let (_, action) = vectors.action(&mut vectors.session.resident())?;
    let x = vectors.load(inp, Subset::of_parity(1 - parity), "h_in")?;
    let mut y = vectors.field(Subset::of_parity(parity), inp.len())?;
    action.hop_to(&mut y, &x, parity, dagger)?;
    if vectors.kind != Dslash::Wilson {
        let mut t = vectors.field(Subset::of_parity(parity), inp.len())?;
        std::mem::swap(&mut t, &mut y);
        action.apply_site(&mut y, &t, parity, SiteTerm::Inverse, dagger, 1.0)?;
    }
    vectors.save(&y, out, "h_out")
}

fn clover(
    h_out: *mut c_void,
    h_in: *mut c_void,
    param: &mut QudaInvertParam,
    Parity(parity): Parity,
    inverse: c_int,
) -> Result<()> {
    let vectors = Vectors::new(param, "inv_param")?;
    let term = match inverse {
        0 => SiteTerm::Direct,
        1 => SiteTerm::Inverse,
        other => refuse!(InvalidArgument, "inverse", expected("0 or 1"), found("{other}")),
    };
    let (_, action) = vectors.action(&mut vectors.session.resident())?;
    let x = vectors.load(&[h_in], Subset::of_parity(parity), "h_in")?;
    let mut y = vectors.field(Subset::of_parity(parity), 1)?;
    action.apply_site(&mut y, &x, parity, term, false, 1.0)?;
    vectors.save(&y, &[h_out], "h_out")
}

fn wuppertal(
    h_out: *mut c_void,
    h_in: *mut c_void,
    param: &mut QudaInvertParam,
    n_steps: c_uint,
    alpha: f64,
) -> Result<()> {
    let vectors = Vectors::new(param, "param")?;
    within("n_steps", n_steps as usize, 0, MAX_STEPS)?;
    let links = measured(&vectors, SPACE)?;
    let mut psi = vectors.load(&[h_in], Subset::Full, "h_in")?;
    smearing::wuppertal(&mut psi, &links, alpha, n_steps as usize, SPACE)?;
    vectors.save(&psi, &[h_out], "h_out")
}
