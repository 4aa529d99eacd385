//! Covariant hops of vector fields with three colours, from which Laplacians and covariant derivatives are made.

use std::sync::Arc;

use num_complex::Complex64;

use super::boundary::{seam_phases, Boundary};
use crate::backend::args::{self, LaplaceArgs};
use crate::backend::{kernels, Work};
use crate::error::Result;
use crate::fields::{
    blas, halo, Components, GaugeField, Group, Recon, RhsOrder, Subset, VectorField,
};
use crate::linop::{LinOp, Shape, Workspace};
use crate::refuse;

/// Links by which vectors are parallel transported from neighbouring sites.
pub(super) struct Hops {
    gauge: Arc<GaugeField>,
    components: Components,
}

/// Number of columns of colour vectors that a batch of the kernel takes (kernels/laplace.h).
const COLUMNS: usize = 4;

/// Coefficients of the operation out = coef_y y + coef_out out + coef (sum over hops) in on one parity.
#[derive(Default)]
pub(super) struct Term<'a> {
    pub parity: usize,
    /// Bits of the hops in the sum: 2 mu for the one from x - mu, 2 mu + 1 for the one from x + mu.
    pub hops: i32,
    pub coef: f64,
    pub y: Option<(&'a VectorField, f64)>,
    pub coef_out: f64,
}

/// Refuses links and components of vectors for which hops are not implemented.
fn check_links(gauge: &GaugeField, components: Components) -> Result<()> {
    if components != Components::COLOUR && components != Components::SPINOR {
        refuse!(
            Unsupported,
            "laplacian",
            expected("colour vectors or spinors"),
            found("{components}")
        );
    }
    let readable = matches!(gauge.recon(), Recon::R18 | Recon::R12);
    if gauge.group() != Group::Su3 || !readable {
        refuse!(Unsupported, "laplacian", expected("SU(3) links of 18 or 12 numbers"));
    }
    Ok(())
}

/// Shape of the vectors that these links act on, on the sites of a subset.
fn shape_on(gauge: &GaugeField, components: Components, subset: Subset) -> Shape {
    Shape {
        device: gauge.device().clone(),
        geometry: gauge.geometry().clone(),
        precision: gauge.precision(),
        subset,
        components,
        order: RhsOrder::Slowest,
    }
}

impl Hops {
    /// # Errors
    /// `Unsupported`: components other than colour vectors and spinors, SU(2), or links stored as 8 numbers.
    pub fn new(gauge: Arc<GaugeField>, components: Components) -> Result<Self> {
        check_links(&gauge, components)?;
        Ok(Hops { gauge, components })
    }
    pub fn gauge(&self) -> &Arc<GaugeField> {
        &self.gauge
    }
    pub fn components(&self) -> Components {
        self.components
    }
    /// Shape of the vectors on the sites of a subset.
    pub fn shape(&self, subset: Subset) -> Shape {
        shape_on(&self.gauge, self.components, subset)
    }

    /// Computes one parity of the result: `inp` holds the other parity and `out` and y this one, or all of them hold
    /// the whole lattice.
    pub fn apply(&self, out: &mut VectorField, inp: &VectorField, term: &Term) -> Result<()> {
        hop(&self.gauge, &Boundary::PERIODIC.phases(), out, inp, term)
    }

    /// Number of floating-point operations per site with `hops` hops and a diagonal term: for each spin 66 + 6 for a
    /// hop (matrix times vector, and addition) and 12 for the diagonal term.
    pub fn flops(&self, hops: u32) -> f64 {
        (f64::from(hops) * 72.0 + 12.0) * self.components.spins as f64
    }
    /// Number of bytes that must be read and written per site for `nrhs` right-hand sides, with `hops` hops and a
    /// diagonal term.
    pub fn bytes(&self, hops: u32, nrhs: usize) -> f64 {
        let links = hops as usize * self.gauge.recon().reals();
        let vectors = 3 * nrhs * self.components.reals();
        ((links + vectors) * self.gauge.precision().bytes()) as f64
    }
}

/// Computes one parity of the result as [`Hops::apply`] does; hops across the end of the lattice have the phases
/// `boundary`: psi(x + L_mu) = boundary[mu] psi(x).
fn hop(
    gauge: &GaugeField,
    boundary: &[Complex64; 4],
    out: &mut VectorField,
    inp: &VectorField,
    term: &Term,
) -> Result<()> {
    let geometry = gauge.geometry();
    let components = inp.components();
    let (precision, nrhs, reals) = (inp.precision(), inp.nrhs(), components.reals());
    let parity = term.parity;
    // Without y the field `inp` is multiplied by 0; it is finite, so the product is 0.
    let (y, coef_y) = term.y.unwrap_or((inp, 0.0));
    let (phase_mask, phases) = seam_phases(geometry, boundary);
    let mut args = LaplaceArgs {
        geom: geometry.args(),
        out: out.parity_view(parity),
        inp: inp.parity_view(1 - parity),
        y: y.parity_view(if term.y.is_some() { parity } else { 1 - parity }),
        gauge: gauge.view(),
        region: args::REGION_ALL,
        parity: parity as i32,
        hops: term.hops,
        spins: components.spins as i32,
        step_out: out.parities() as i32,
        step_in: inp.parities() as i32,
        step_y: y.parities() as i32,
        columns: nrhs as i32,
        coef: term.coef,
        coef_y,
        coef_out: term.coef_out,
        phase_mask,
        phase_re: phases.map(|z| z.re),
        phase_im: phases.map(|z| z.im),
        ..Default::default()
    };
    let laplace = kernels::Laplace::of(precision, gauge.recon())?;
    let device = gauge.device();
    let colour = components == Components::COLOUR;
    let work = geometry.work(if colour { nrhs.div_ceil(COLUMNS) } else { nrhs });
    let crossed = (0..4).filter(|mu| term.hops >> (2 * mu) & 3 != 0).map(|mu| 1 << mu);
    let mask = geometry.halo_mask() & crossed.sum::<i32>();
    // If the sum has both hops of each of its directions, a kernel reads links once for several columns.
    let both = term.hops != 0 && term.hops & 0x55 == term.hops >> 1 & 0x55;
    let pairs = !colour && nrhs > 1 && both;
    let columns = kernels::LaplaceColumns::of(precision, gauge.recon()).ok().filter(|_| pairs);
    let launch = |args: &LaplaceArgs, work| match columns {
        Some(columns) if args.region != args::REGION_OUTER => device.launch(columns, args, work),
        _ => device.launch(laplace, args, work),
    };
    if mask == 0 {
        return launch(&args, work);
    }
    let faces = geometry.vector_faces(mask, precision, reals, nrhs);
    let halo = geometry.halo_exchange(device, &faces)?;
    let mut halo = halo::lock(&halo);
    halo.begin(geometry.comm(), nrhs)?;
    let sent = |mu, upper| halo.sent(mu, upper);
    args.sent = geometry.vector_halo(mask, precision, reals, nrhs, sent);
    let received = |mu, upper| halo.received(mu, upper);
    args.received = geometry.vector_halo(mask, precision, reals, nrhs, received);
    let rows = (0..4).filter(|mu| mask >> mu & 1 == 1).map(|mu| 2 * geometry.face_rows(mu));
    let faces = Work { n: rows.sum(), ..geometry.work(nrhs) };
    device.launch(kernels::VectorPack(precision), &args, faces)?;
    let part = |region, n| {
        let args = LaplaceArgs { region, ..args };
        launch(&args, Work { n, ..work })
    };
    let inner = geometry.inner();
    halo.exchange(geometry.comm(), || part(args::REGION_INNER, inner))?;
    part(args::REGION_OUTER, geometry.outer() - inner)
}

/// Phases of hops across the end of the lattice: `phases`, but 0 in time if the links have boundaries in time, so that
/// nothing crosses them.
fn ending(gauge: &GaugeField, mut phases: [Complex64; 4]) -> [Complex64; 4] {
    if !gauge.geometry().boundary().is_periodic() {
        phases[3] = Complex64::ZERO;
    }
    phases
}

/// Computes out = a D^2 in + b in + c out with the covariant Laplacian in four dimensions D^2 in(x) = sum_mu [U_mu(x)
/// in(x + mu) + U_mu(x - mu)^dagger in(x - mu) - 2 in(x)] (Luescher, JHEP 04 (2013) 123, Eq. (5.2)), where links
/// across the end of the lattice are multiplied by the phases of `boundary`; with boundaries in time no hop crosses
/// that end in time. Colour vectors or spinors on both parities, in the precision of the links.
///
/// # Errors
/// `Unsupported`: other components, SU(2), or links stored as 8 numbers; `FieldMismatch`: fields of other lattices,
/// precisions or numbers of columns.
pub fn laplacian_4d(
    gauge: &GaugeField,
    boundary: &[Complex64; 4],
    out: &mut VectorField,
    inp: &VectorField,
    [a, b, c]: [f64; 3],
) -> Result<()> {
    check_links(gauge, inp.components())?;
    let shape = shape_on(gauge, inp.components(), Subset::Full);
    shape.check(inp, "in")?;
    inp.check_like(out, "laplacian")?;
    shape.check(out, "out")?;
    let y = Some((inp, b - 8.0 * a));
    let phases = ending(gauge, *boundary);
    (0..2).try_for_each(|parity| {
        let term = Term { parity, hops: 255, coef: a, y, coef_out: c };
        hop(gauge, &phases, out, inp, &term)
    })
}

/// Covariant shifts along a path: out(x) is in at the end of the path that starts at x, parallel transported to x by
/// the links. One step forward is out(x) = U_mu(x) in(x + mu), one back out(x) = U_mu(x - mu)^dagger in(x - mu),
/// which QUDA calls covariant derivative. Fields are periodic. With boundaries of the links in time out(x) is zero
/// where the path leaves the slices that are stored.
pub struct CovariantShift {
    hops: Hops,
    path: Vec<u8>,
    /// Phases of hops across the end of the lattice.
    phases: [Complex64; 4],
    workspace: Workspace,
}

impl CovariantShift {
    /// Makes the shift along `path`, a list of steps starting from x: 0 to 3 forward in x, y, z, t and 7 - mu back in
    /// direction mu. It acts on colour vectors or spinors in the precision of the links.
    ///
    /// # Errors
    /// `Unsupported`: other components, SU(2), links stored as 8 numbers; `BadParameter`: an empty path or a
    /// step that is not 0 to 7.
    pub fn new(gauge: Arc<GaugeField>, components: Components, path: Vec<u8>) -> Result<Self> {
        if path.is_empty() {
            refuse!(BadParameter, "path", expected("at least one step"), found("none"));
        }
        if let Some(step) = path.iter().find(|step| **step > 7) {
            refuse!(BadParameter, "path", expected("steps 0 to 7"), found("{step}"));
        }
        let hops = Hops::new(gauge, components)?;
        let phases = ending(hops.gauge(), Boundary::PERIODIC.phases());
        Ok(CovariantShift { hops, path, phases, workspace: Workspace::default() })
    }

    /// The same shift with slice 0 in the place of slice N_t, the one after the last: for boundary fields, which are
    /// stored on slice 0 for both boundaries of the links in time.
    pub fn with_boundary_fields(self) -> Self {
        CovariantShift { phases: Boundary::PERIODIC.phases(), ..self }
    }

    fn step(&self, out: &mut VectorField, inp: &VectorField, step: u8) -> Result<()> {
        // Bit 2 mu of `hops` is the hop from x - mu, bit 2 mu + 1 the one from x + mu.
        let hops = if step < 4 { 2 << (2 * step) } else { 1 << (2 * (7 - step)) };
        (0..2).try_for_each(|parity| {
            let term = Term { parity, hops, coef: 1.0, ..Term::default() };
            hop(self.hops.gauge(), &self.phases, out, inp, &term)
        })
    }

    /// Applies the steps from the last to the first, since the value at the end is transported back along the path.
    fn along(
        &self,
        out: &mut VectorField,
        inp: &VectorField,
        path: impl Iterator<Item = u8>,
    ) -> Result<()> {
        let shape = self.shape();
        shape.check(inp, "in")?;
        inp.check_like(out, "shift")?;
        shape.check(out, "out")?;
        let mut first = true;
        for step in path {
            if std::mem::take(&mut first) {
                self.step(out, inp, step)?;
                continue;
            }
            {
                let t = &mut *self.workspace.field(&shape, inp.nrhs())?;
                blas::copy(t, out)?;
                self.step(out, t, step)?;
            }
        }
        Ok(())
    }
}

impl LinOp for CovariantShift {
    fn shape(&self) -> Shape {
        self.hops.shape(Subset::Full)
    }
    fn apply(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.along(out, inp, self.path.iter().rev().copied())
    }
    /// Shifts along the path in the opposite direction.
    fn apply_dagger(&self, out: &mut VectorField, inp: &VectorField) -> Result<()> {
        self.along(out, inp, self.path.iter().map(|step| 7 - step))
    }
    fn flops(&self) -> f64 {
        self.path.len() as f64 * self.hops.flops(1) * self.shape().sites() as f64
    }
    fn bytes(&self, nrhs: usize) -> f64 {
        self.path.len() as f64 * self.hops.bytes(1, nrhs) * self.shape().sites() as f64
    }
}
