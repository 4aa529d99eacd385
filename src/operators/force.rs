//! Forces of Wilson-type operators: derivatives with respect to the links of sum_k 2 c_k Re <Y_k, M X_k>, M = A -
//! kappa H (src/operators/wilson.rs); with a clover term: Jansen, Liu, hep-lat/9603008. Forces of fermion actions
//! have this form with vectors X and Y of the action: two flavours with the action phi^dagger (M^dagger M)^-1 phi
//! have c = -1, X = (M^dagger M)^-1 phi, Y = M X.
//!
//! For U -> exp(i omega_a T_a) U the force is F_a = dS / d omega_a; momenta change by -step F
//! (physics.md, HMC; kernels/fermion_force.h, kernels/clover_force.h).

use num_complex::Complex64;

use super::Wilson;
use crate::backend::args::{self, CloverForceArgs, CloverInsertionArgs, HopArgs, HopForceArgs};
use crate::backend::{kernels, FieldView, Work};
use crate::bail;
use crate::error::Result;
use crate::fields::{
    halo, CloverCoefficients, CloverField, CloverForm, MatrixField, MatrixForm, Momenta, Precision,
    SpinorField, Subset,
};
use crate::refuse;

/// The terms sum_k 2 coef_k Re <y_k, M x_k> of an action: fields on the full lattice with as many right-hand sides as
/// coefficients.
#[derive(Clone, Copy)]
pub struct ForceTerms<'a> {
    pub x: &'a SpinorField,
    pub y: &'a SpinorField,
    pub coef: &'a [f64],
}

impl Wilson {
    /// Computes momenta -= step times the force of the hopping term -kappa H, including boundary phases. Links are
    /// stored as 18 or 12 reals, in double or single precision like the fields and momenta.
    ///
    /// # Errors
    /// `Unsupported`: links in another storage; `FieldMismatch`.
    pub fn hop_force(&self, momenta: &mut Momenta, step: f64, terms: ForceTerms) -> Result<()> {
        self.check_force(momenta)?;
        self.check_terms(&terms)?;
        let (gauge, params) = (self.gauge(), self.params());
        let (geometry, device, precision) = (gauge.geometry(), gauge.device(), gauge.precision());
        let comm = geometry.comm();
        let one = Complex64::new(1.0, 0.0);
        let mut args = HopForceArgs {
            geom: geometry.args(),
            gauge: gauge.view(),
            momenta: momenta.view(),
            hop: params.hop.map(|h| -2.0 * self.kappa() * h),
            step,
            ..Default::default()
        };
        for (mu, z) in params.boundary.iter().enumerate() {
            let here = if comm.coords()[mu] + 1 == comm.grid()[mu] { *z } else { one };
            (args.phase_re[mu], args.phase_im[mu]) = (here.re, here.im);
            args.phase_mask |= ((*z != one) as i32) << mu;
        }
        for (first, count) in groups(terms.coef.len()) {
            let fields = [from_rhs(terms.x, first), from_rhs(terms.y, first)];
            [args.x, args.y] = fields;
            args.nrhs = count as i32;
            args.coef = coefficients(terms.coef, first, count);
            let faces = geometry.spinor_faces(precision, 4 * count);
            let halo = geometry.halo_exchange(device, &faces)?;
            let mut halo = halo::lock(&halo);
            if geometry.halo_mask() != 0 {
                halo.begin(geometry.comm(), 4 * count)?;
                let sent =
                    geometry.spinor_halo(precision, 4 * count, |mu, upper| halo.sent(mu, upper));
                let split = (0..4).filter(|&mu| comm.split(mu));
                let n = split.map(|mu| 2 * geometry.face_rows(mu)).sum();
                for (f, field) in fields.iter().enumerate() {
                    for parity in 0..2 {
                        // Sites of `parity` read neighbours, which have the other parity.
                        let mut inp = *field;
                        inp.data = inp.data.offset((1 - parity as u64) * inp.plane_bytes as u64);
                        let mut sent = sent;
                        let rows = ((2 * f + parity) * count) as u64;
                        for k in 0..8 {
                            let plane = sent.plane_bytes[k / 2] as u64;
                            sent.data[k] = sent.data[k].offset(rows * plane);
                        }
                        let pack = HopArgs {
                            geom: args.geom,
                            inp,
                            sent,
                            parity: parity as i32,
                            dagger: f as i32,
                            nrhs: count as i32,
                            step_in: 2,
                            ..Default::default()
                        };
                        let work = geometry.work(count);
                        device.launch(kernels::HopPack(precision), &pack, Work { n, ..work })?;
                    }
                }
                halo.exchange(comm, || Ok(()))?;
                args.received =
                    geometry.spinor_halo(precision, 4 * count, |mu, up| halo.received(mu, up));
            }
            device.launch(
                kernels::HopForce::of(precision, gauge.recon())?,
                &args,
                geometry.work(2),
            )?;
        }
        momenta.zero_fixed()
    }

    /// A zero field for [`Wilson::insert`], with six hermitian matrices (54 reals) for each site.
    pub fn insertion(&self) -> Result<MatrixField> {
        let gauge = self.gauge();
        let form = MatrixForm::General;
        MatrixField::new(gauge.device(), gauge.geometry(), gauge.precision(), form, 3)
    }

    /// Bytes of a field made by [`Wilson::insertion`].
    pub fn insertion_bytes(&self) -> usize {
        let gauge = self.gauge();
        MatrixField::bytes(gauge.geometry(), gauge.precision(), MatrixForm::General, 3)
    }

    /// Computes the part of the clover term's force that depends on spinors: for each plane the matrices that are
    /// inserted in the corners of clover leaves. Writes them to `out`, or adds them with `add`. `determinant` holds
    /// the coefficients c of c ln |det A|^2, A including the twisted mass, for even and for odd sites.
    ///
    /// # Errors
    /// `Unsupported`: the operator has no clover term; `FieldMismatch`.
    pub fn insert(
        &self,
        out: &mut MatrixField,
        terms: Option<ForceTerms>,
        determinant: [f64; 2],
        add: bool,
    ) -> Result<()> {
        self.check_insertion(out)?;
        let params = self.params();
        if !params.has_clover() || !self.has_clover() {
            bail!(Unsupported, "clover force: the operator has no clover term of its links");
        }
        self.check_invertible()?;
        if let Some(terms) = &terms {
            self.check_terms(terms)?;
        }
        let geometry = self.gauge().geometry();
        let empty = self.empty_view();
        // The clover term's exponent is kept for this call only: operators keep A itself.
        let CloverCoefficients { coef_s, coef_t, lower, upper, .. } = params.clover_coefficients();
        let linear = CloverCoefficients::traditional(coef_s, coef_t);
        let exponent = match params.clover {
            CloverForm::Traditional => None,
            CloverForm::Exponential => Some(CloverField::build(self.clover_links(), linear)?),
        };
        let determinant = match self.has_constant_determinant() {
            true => [0.0; 2],
            false => determinant,
        };
        let mut args = CloverInsertionArgs {
            geom: geometry.args(),
            even: empty,
            odd: empty,
            x: empty,
            y: empty,
            out: out.view(),
            add: add as i32,
            coef_blocks: determinant,
            // 2 kappa csw, a quarter of it for each corner of a plaquette.
            coef_s: 0.5 * self.kappa() * params.csw,
            coef_t: 0.5 * self.kappa() * params.csw_t,
            exponent: exponent.as_ref().map_or(empty, |x| x.view()),
            bounds: geometry.bounds(),
            lower,
            upper,
            halvings: linear.halvings(),
            ..Default::default()
        };
        let launch = |args: &mut CloverInsertionArgs| -> Result<()> {
            let (device, precision) = (self.gauge().device(), self.gauge().precision());
            match params.clover {
                CloverForm::Traditional => {
                    device.launch(kernels::CloverInsertion::of(precision)?, args, geometry.work(2))
                }
                CloverForm::Exponential => device.launch(
                    kernels::CloverExponentialInsertion::of(precision)?,
                    args,
                    geometry.work(2),
                ),
            }?;
            (args.add, args.with_blocks, args.even, args.odd) = (1, 0, empty, empty);
            Ok(())
        };
        let parities = || (0..2).filter(|&parity| determinant[parity] != 0.0);
        let with_blocks = |args: &mut CloverInsertionArgs, parity| -> Result<_> {
            let blocks = self.clover_inverse(Subset::of_parity(parity))?;
            if let Some(blocks) = &blocks {
                *if parity == 0 { &mut args.even } else { &mut args.odd } = blocks.view();
                args.with_blocks |= 1 << parity;
            }
            Ok(blocks)
        };
        // Existing inverse blocks are used in the first launch; others are computed for one parity after the other.
        let there = self.missing_inverse(parities()) == 0;
        let first = parities().filter(|_| there);
        let _held = first.map(|p| with_blocks(&mut args, p)).collect::<Result<Vec<_>>>()?;
        let terms = terms.filter(|t| !t.coef.is_empty());
        for (first, count) in groups(terms.map_or(0, |t| t.coef.len())) {
            let Some(terms) = &terms else { break };
            [args.x, args.y] = [from_rhs(terms.x, first), from_rhs(terms.y, first)];
            args.nrhs = count as i32;
            args.coef = coefficients(terms.coef, first, count);
            launch(&mut args)?;
        }
        (args.x, args.y, args.nrhs) = (empty, empty, 0);
        if args.with_blocks != 0 {
            launch(&mut args)?;
        }
        for parity in parities().filter(|_| !there) {
            let _held = with_blocks(&mut args, parity)?;
            launch(&mut args)?;
        }
        // Without any launch so far the result is zero.
        if args.add == 0 {
            launch(&mut args)?;
        }
        Ok(())
    }

    /// Computes momenta -= step times the clover force of these insertions (Jansen, Liu, hep-lat/9603008), with
    /// respect to the links from which the clover term is made. Exchanges the borders of `insertion`, so that every
    /// rank must call it. Errors as in [`Wilson::insert`].
    pub fn clover_force(
        &self,
        momenta: &mut Momenta,
        step: f64,
        insertion: &MatrixField,
    ) -> Result<()> {
        self.check_force(momenta)?;
        self.check_insertion(insertion)?;
        insertion.exchange()?;
        let gauge = self.clover_links();
        let args = CloverForceArgs {
            geom: gauge.geometry().args(),
            bounds: gauge.geometry().bounds(),
            gauge: gauge.view(),
            insertion: insertion.view(),
            momenta: momenta.view(),
            step,
        };
        gauge.device().launch(
            kernels::CloverForce::of(gauge.precision(), gauge.recon())?,
            &args,
            gauge.geometry().work(2),
        )?;
        momenta.zero_fixed()
    }

    /// ln |det A|^2 of all even and of all odd sites, for the kappa-normalised site term A including its twisted mass;
    /// without it, for A_0, this is ln det (A_0^2 + s) with s the square of the twisted mass. For an exponentiated
    /// clover term without twisted mass it is 0.
    ///
    /// # Errors
    /// `SingularClover`.
    pub fn site_log_det(&self) -> Result<[f64; 2]> {
        let sites = (self.gauge().geometry().global_volume() / 2) as f64;
        if self.has_constant_determinant() {
            return Ok([0.0; 2]);
        }
        match (self.clover()?, self.square) {
            (Some(a), None) => Ok(a.log_det(None)?.map(|v| 2.0 * v)),
            (Some(a), square) => a.log_det(square),
            (None, square) => Ok([12.0 * sites * square.unwrap_or(0.0).ln_1p(); 2]),
        }
    }

    fn check_insertion(&self, m: &MatrixField) -> Result<()> {
        let gauge = self.gauge();
        let (thin, own) = (self.clover_links().precision(), gauge.precision());
        if thin != own {
            refuse!(
                Unsupported,
                "clover force",
                expected("an operator in the precision of its thin links, {thin}"),
                found("{own}")
            );
        }
        if m.geometry() != gauge.geometry() || m.device() != gauge.device() {
            bail!(
                FieldMismatch,
                "clover force: matrices and links on different lattices or devices"
            );
        }
        if (m.form(), m.count(), m.precision()) != (MatrixForm::General, 3, gauge.precision()) {
            bail!(FieldMismatch, "clover force: matrices that Wilson::insertion did not make");
        }
        Ok(())
    }

    fn check_force(&self, momenta: &Momenta) -> Result<()> {
        let gauge = self.gauge();
        momenta.matches(gauge.geometry(), gauge.device(), "links")?;
        if gauge.precision() == Precision::F16 || !CloverField::reads(gauge.recon()) {
            refuse!(
                Unsupported,
                "force",
                expected(
                    "double or single links stored as PLAQ_STORAGE_SU3_18 or PLAQ_STORAGE_SU3_12"
                ),
                found("{} links stored as {}", gauge.precision(), gauge.recon())
            );
        }
        if momenta.precision() != gauge.precision() {
            bail!(
                FieldMismatch,
                "force: links in {}, momenta in {}",
                gauge.precision(),
                momenta.precision()
            );
        }
        Ok(())
    }

    fn check_terms(&self, terms: &ForceTerms) -> Result<()> {
        for (f, name) in [(terms.x, "X"), (terms.y, "Y")] {
            self.subset_shape(Subset::Full).check(f, &format!("force: {name}"))?;
            if f.nrhs() != terms.coef.len() {
                bail!(
                    FieldMismatch,
                    "force: {} coefficients, {name} has {} right-hand sides",
                    terms.coef.len(),
                    f.nrhs()
                );
            }
        }
        Ok(())
    }
}

/// Divides right-hand sides into groups (first, count) of at most MAX_RHS, the number of coefficients of a launch.
fn groups(n: usize) -> impl Iterator<Item = (usize, usize)> {
    let max = args::MAX_RHS as usize;
    (0..n).step_by(max).map(move |first| (first, max.min(n - first)))
}

fn coefficients(all: &[f64], first: usize, count: usize) -> [f64; args::MAX_RHS as usize] {
    let mut out = [0.0; args::MAX_RHS as usize];
    out[..count].copy_from_slice(&all[first..first + count]);
    out
}

/// A view of the field's right-hand sides from number `first` on.
fn from_rhs(f: &SpinorField, first: usize) -> FieldView {
    let mut v = f.view();
    v.data = v.data.offset((2 * first) as u64 * v.plane_bytes as u64);
    v
}
