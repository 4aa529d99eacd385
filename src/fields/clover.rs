//! Clover fields: for each site and chirality one hermitian 6x6 block.

use std::sync::Arc;

use num_complex::Complex64;

use super::{GaugeField, Geometry, Layout, Precision, Recon, Subset};
use crate::backend::args::{CloverArgs, ConvertArgs};
use crate::backend::{kernels, Buffer, Device, External, FieldView, Ptr};
use crate::bail;
use crate::error::{host_array, significant, Error, Result, Status};
use crate::params::choices;
use crate::refuse;

/// Count of real numbers per site: 2 chiralities x (6 diagonal + 15 complex below the diagonal, column by column),
/// with row = 3 spin + colour; this is the packed order of QUDA and MILC.
pub const CLOVER_REALS: usize = 72;

choices! {
    /// Forms of the clover term.
    pub enum CloverForm: plaq_clover_form {
        /// Traditional: 4 + m + csw (i/4) sum sigma F (Sheikholeslami, Wohlert, Nucl. Phys. B 259 (1985) 572).
        Traditional = 0, PLAQ_CLOVER_TRADITIONAL, "traditional";
        /// Exponential: (4 + m) exp(csw / (4 + m) (i/4) sum sigma F), whose determinant is constant (Francis,
        /// Fritzsch, Luscher, Rago, Comput. Phys. Commun. 255 (2020) 107355).
        Exponential = 1, PLAQ_CLOVER_EXPONENTIAL, "exponential";
    }
}

/// Coefficients of a clover term, kappa-normalised: s + X, or s exp(X), with X = c (i/4) sum_{mu nu} sigma_mu,nu
/// F_mu,nu and c = `coef_s` in spatial planes and `coef_t` in planes with t, c = 2 kappa csw; s = 1, next to
/// boundaries in time 1 + `lower` and 1 + `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloverCoefficients {
    pub coef_s: f64,
    pub coef_t: f64,
    pub form: CloverForm,
    pub lower: f64,
    pub upper: f64,
}

impl CloverCoefficients {
    /// The coefficients of a traditional term without counterterms at boundaries.
    pub fn traditional(coef_s: f64, coef_t: f64) -> Self {
        let form = CloverForm::Traditional;
        CloverCoefficients { coef_s, coef_t, form, lower: 0.0, upper: 0.0 }
    }
    /// A bound on the norm of X: in each of the six planes, which occur twice in the sum, sigma F has norm at most 1.
    fn norm(&self) -> f64 {
        1.5 * (self.coef_s.abs() + self.coef_t.abs())
    }
    /// Number of times that X is halved before its exponential is computed, so that its norm is at most 1.
    pub(crate) fn halvings(&self) -> i32 {
        self.norm().log2().ceil().clamp(0.0, 64.0) as i32
    }
    /// Refuses coefficients whose exponential single precision may not hold.
    ///
    /// # Errors
    /// `BadParameter`.
    fn check(&self) -> Result<()> {
        const LARGEST: f64 = 80.0;
        if self.form == CloverForm::Exponential && self.norm() > LARGEST {
            refuse!(
                BadParameter,
                "csw",
                expected("an exponential clover term whose exponent is at most {LARGEST}"),
                found("one that may be {}", significant(self.norm(), 2))
            );
        }
        Ok(())
    }
}

/// The clover blocks of a site term, on all sites or on those of one parity: one set for A or A^-1, two sets A H and H
/// for a twisted inverse, with H = (A^2 + s)^-1 and s = twist^2 for the twisted mass of one flavour.
#[derive(Debug)]
pub struct CloverField {
    geometry: Arc<Geometry>,
    precision: Precision,
    subset: Subset,
    sets: usize,
    data: Buffer,
    norm: Option<Buffer>,
}

impl CloverField {
    /// Bytes of a field of this shape on all sites.
    pub fn bytes(geometry: &Geometry, precision: Precision, sets: usize) -> usize {
        let norm = if precision.has_norm() { 4 } else { 0 };
        geometry.volume() * sets * (CLOVER_REALS * precision.bytes() + norm)
    }

    pub fn new(
        device: &Device,
        geometry: &Arc<Geometry>,
        precision: Precision,
        sets: usize,
    ) -> Result<Self> {
        Self::on(device, geometry, Subset::Full, precision, sets)
    }

    /// A field of `sets` sets of zero blocks on the sites of `subset`.
    pub(crate) fn on(
        device: &Device,
        geometry: &Arc<Geometry>,
        subset: Subset,
        precision: Precision,
        sets: usize,
    ) -> Result<Self> {
        let sites = subset.parities() * geometry.plane_sites() * sets;
        let data = device.alloc(sites * CLOVER_REALS * precision.bytes())?;
        let norm = if precision.has_norm() { Some(device.alloc(sites * 4)?) } else { None };
        let geometry = geometry.on_device(device);
        Ok(CloverField { geometry, precision, subset, sets, data, norm })
    }

    /// Whether the clover term can be computed from links in this storage; others are first converted to 12 numbers.
    pub(crate) fn reads(recon: Recon) -> bool {
        matches!(recon, Recon::R18 | Recon::R12)
    }

    /// Computes the clover term A with these coefficients (physics.md, Wilson and clover); on slices where quarks
    /// vanish F = 0 and A = 1. Blocks have the precision of the links, but at least single.
    pub fn build(gauge: &GaugeField, coefficients: CloverCoefficients) -> Result<Self> {
        if gauge.precision() == Precision::F16 {
            let what = match (coefficients.coef_s, coefficients.coef_t) {
                (0.0, 0.0) => "cf, cf_prime: terms at boundaries in time",
                _ => "clover term",
            };
            bail!(
                Unsupported,
                "{what} from half-precision links: load the links in single or double"
            );
        }
        if !Self::reads(gauge.recon()) {
            return Self::build(&gauge.to(gauge.precision(), Recon::R12)?, coefficients);
        }
        let out = Self::new(gauge.device(), gauge.geometry(), gauge.precision(), 1)?;
        out.rebuild(gauge, coefficients)?;
        Ok(out)
    }

    /// Computes the clover term into the memory of these blocks, from links in the same precision.
    pub(crate) fn rebuild(
        &self,
        gauge: &GaugeField,
        coefficients: CloverCoefficients,
    ) -> Result<()> {
        coefficients.check()?;
        if gauge.precision() != self.precision || !Self::reads(gauge.recon()) {
            return self.fill_from(&Self::build(gauge, coefficients)?);
        }
        let CloverCoefficients { coef_s, coef_t, form, lower, upper } = coefficients;
        let args = CloverArgs {
            geom: gauge.geometry().args(),
            bounds: gauge.geometry().bounds(),
            gauge: gauge.view(),
            inp: self.view(),
            out: self.view(),
            coef_s,
            coef_t,
            lower,
            upper,
            halvings: coefficients.halvings(),
            ..Default::default()
        };
        let (device, work) = (gauge.device(), gauge.geometry().work(2));
        device.launch(kernels::CloverBuild::of(gauge.precision(), gauge.recon())?, &args, work)?;
        match form {
            CloverForm::Traditional => Ok(()),
            CloverForm::Exponential => {
                device.launch(kernels::CloverExponential::of(self.precision)?, &args, work)
            }
        }
    }

    /// The square of a twisted mass; None if it is zero.
    pub fn square(twist: f64) -> Option<f64> {
        (twist != 0.0).then_some(twist * twist)
    }

    /// Computes A^-1 or, for `square` = s, the two sets of the twisted inverse. Returns the error `SingularClover` if a
    /// block cannot be inverted, because its smallest eigenvalue is below about 1e-7 of the largest, or if A^2 + s is
    /// not positive.
    pub fn inverse(&self, square: Option<f64>) -> Result<Self> {
        let sets = 1 + square.is_some() as usize;
        let out = Self::new(self.device(), &self.geometry, self.precision, sets)?;
        let positive = self.positive(square)?;
        (0..2).try_for_each(|parity| self.invert_into(&out, parity, square, positive))?;
        Ok(out)
    }

    /// Whether all blocks of A (of A^2 + s for `square` = s) are positive. Errors as in `inverse`.
    pub(crate) fn positive(&self, square: Option<f64>) -> Result<bool> {
        Ok(self.factorised(square)?.0)
    }

    /// Computes the blocks of one parity of the inverse into a field of that shape; `positive`: the result of
    /// [`Self::positive`] for this field.
    pub(crate) fn invert_into(
        &self,
        out: &Self,
        parity: usize,
        square: Option<f64>,
        positive: bool,
    ) -> Result<()> {
        assert!(out.sets == 1 + square.is_some() as usize && out.subset.list().contains(&parity));
        let sums = self.invert(square, Some((out, parity)), !positive)?;
        if sums[0] != 0.0 {
            return Err(self.singular(square)?);
        }
        Ok(())
    }

    /// ln |det A| over the even sites and over the odd sites of the whole lattice. For `square` = s it is ln |det(A^2 +
    /// s)|, which for s = twist^2 is ln |det(A + i twist gamma5)|^2. Errors as in `inverse`.
    pub fn log_det(&self, square: Option<f64>) -> Result<[f64; 2]> {
        Ok(self.factorised(square)?.1.map(|d| d.0))
    }

    /// The signs, 1 or -1, of the determinants in `log_det`. Errors as in `inverse`.
    pub fn det_sign(&self, square: Option<f64>) -> Result<[i32; 2]> {
        Ok(self.factorised(square)?.1.map(|d| d.1))
    }

    /// Factorises all blocks. Returns whether all of them are positive, and for each parity ln |det| and the sign of
    /// the determinant.
    fn factorised(&self, square: Option<f64>) -> Result<(bool, [(f64, i32); 2])> {
        let singular = |sums: &[f64]| sums[0] + sums[3] != 0.0;
        let sums = self.invert(square, None, false)?;
        if !singular(&sums) {
            return Ok((true, [(sums[1], 1), (sums[4], 1)]));
        }
        if square.is_none() {
            // If not all blocks are positive, they are inverted by another, more expensive algorithm.
            let sums = self.invert(square, None, true)?;
            if !singular(&sums) {
                let sign = |negative: f64| if negative % 2.0 == 0.0 { 1 } else { -1 };
                return Ok((false, [(sums[1], sign(sums[2])), (sums[4], sign(sums[5]))]));
            }
        }
        Err(self.singular(square)?)
    }

    /// Launches the inversion on both parities, or on that of the field `out` to which it writes, and returns the
    /// kernel's sums; `any`: blocks need not be positive.
    fn invert(
        &self,
        square: Option<f64>,
        out: Option<(&Self, usize)>,
        any: bool,
    ) -> Result<Vec<f64>> {
        if self.sets != 1 || self.precision == Precision::F16 {
            bail!(Unsupported, "only a single- or double-precision clover term can be inverted");
        }
        // The first plane in the kernel's arguments is that of the requested parity.
        let first = out.map_or(0, |(_, parity)| parity);
        let args = CloverArgs {
            geom: self.geometry.args(),
            inp: self.view_from(first),
            out: out.map_or(self, |(out, _)| out).view_from(first),
            twisted: square.is_some() as i32,
            write: out.is_some() as i32,
            square: square.unwrap_or(0.0),
            ..Default::default()
        };
        let work = self.geometry.work(if out.is_some() { 1 } else { 2 });
        let (geometry, device) = (&self.geometry, self.device());
        match any {
            false => {
                geometry.reduce(device, kernels::CloverInvert::of(self.precision)?, &args, work)
            }
            true => {
                geometry.reduce(device, kernels::CloverInvertAny::of(self.precision)?, &args, work)
            }
        }
    }

    /// The error for a term that cannot be inverted; it names the site closest to singular.
    fn singular(&self, square: Option<f64>) -> Result<Error> {
        let (site, ratio) = self.most_singular(square.unwrap_or(0.0))?;
        Ok(Error::new(
            Status::SingularClover,
            format!(
                "the clover term cannot be inverted, worst at the site {site:?}: the least eigenvalue of a block is \
                 {} of the largest",
                significant(ratio, 2)
            ),
        ))
    }

    /// The coordinates in the whole lattice of the site whose block is closest to singular, i.e. has the smallest ratio
    /// of the least to the largest modulus of its eigenvalues, and this ratio.
    fn most_singular(&self, square: f64) -> Result<([usize; 4], f64)> {
        let geometry = &self.geometry;
        let mut blocks = host_array(CLOVER_REALS * geometry.volume(), 0.0, "clover blocks")?;
        let layout = Layout::lexicographic_clover(Precision::F64);
        self.save(&layout, &mut External::write(vec![&mut blocks[..]]))?;
        let mut worst = (f64::INFINITY, 0);
        for (i, block) in blocks.chunks_exact(CLOVER_REALS / 2).enumerate() {
            let ratio = eigenvalue_ratio(block, square);
            // A block with NaN counts as the most singular.
            if ratio.is_nan() || ratio < worst.0 {
                worst = (if ratio.is_nan() { 0.0 } else { ratio }, i / 2);
            }
        }
        let mut lex = worst.1;
        let mut mine = vec![worst.0];
        for mu in 0..4 {
            let l = geometry.extents()[mu];
            mine.push((lex % l + geometry.origin()[mu]) as f64);
            lex /= l;
        }
        let all = geometry.comm().all_gather(bytemuck::cast_slice(&mine))?;
        let number = |c: &[u8]| f64::from_ne_bytes(c.try_into().expect("8 bytes"));
        let all: Vec<f64> = all.chunks_exact(8).map(number).collect();
        let least = all.chunks_exact(5).min_by(|a, b| a[0].total_cmp(&b[0])).expect("a rank");
        Ok((std::array::from_fn(|mu| least[1 + mu] as usize), least[0]))
    }

    /// A copy in another precision.
    pub fn to(&self, precision: Precision) -> Result<Self> {
        let (device, geometry) = (self.device(), &self.geometry);
        let copy = Self::on(device, geometry, self.subset, precision, self.sets)?;
        copy.fill_from(self)?;
        Ok(copy)
    }

    /// Overwrites the blocks with those of `other` on the same sites, of any precision.
    pub(crate) fn fill_from(&self, other: &Self) -> Result<()> {
        if self.subset == Subset::Full && other.subset == Subset::Full {
            return self.convert(other, other.view(), self.view(), 2 * self.sets);
        }
        self.subset.list().try_for_each(|parity| self.fill_parity(other, parity))
    }

    /// Overwrites the blocks of one parity, which both fields have.
    pub(crate) fn fill_parity(&self, other: &Self, parity: usize) -> Result<()> {
        assert!([self, other].iter().all(|f| f.subset.list().contains(&parity)));
        let [from, to] = [other, self].map(|f| {
            let view = f.view_from(parity);
            let (plane_bytes, norm_bytes) = (2 * view.plane_bytes, 2 * view.norm_bytes);
            FieldView { plane_bytes, norm_bytes, ..view }
        });
        self.convert(other, from, to, self.sets)
    }

    fn convert(&self, other: &Self, from: FieldView, to: FieldView, planes: usize) -> Result<()> {
        assert!(other.sets == self.sets && other.geometry == self.geometry);
        let args = ConvertArgs { from, to, ..Default::default() };
        let kernel = kernels::ConvertClover(other.precision, self.precision);
        self.device().launch(kernel, &args, self.geometry.work(planes))
    }

    pub fn device(&self) -> &Device {
        self.data.device()
    }
    pub fn geometry(&self) -> &Arc<Geometry> {
        &self.geometry
    }
    pub fn precision(&self) -> Precision {
        self.precision
    }
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// The sites on which the field has blocks.
    pub(crate) fn subset(&self) -> Subset {
        self.subset
    }

    /// The field as an argument of kernels: the even and odd plane of the first set, then those of the second; a field
    /// on one parity has only the planes of that parity.
    pub(crate) fn view(&self) -> FieldView {
        let first = self.subset.list().start as i64;
        let view = self.view_from(first as usize);
        let back = |at: Ptr, plane: i64| at.offset((-first * plane) as u64);
        match first {
            0 => view,
            _ => FieldView {
                data: back(view.data, view.plane_bytes),
                norm: back(view.norm, view.norm_bytes),
                ..view
            },
        }
    }

    /// The field as an argument of kernels such that plane 0 is that of `parity` and plane 2 that of its second set; in
    /// a field on one parity the distance between planes is half of that between its sets.
    fn view_from(&self, parity: usize) -> FieldView {
        let sites = self.geometry.plane_sites() as i64;
        let plane = sites * (CLOVER_REALS * self.precision.bytes()) as i64;
        let norm = if self.precision.has_norm() { sites * 4 } else { 0 };
        let (skipped, step) = match self.subset {
            Subset::Full => (parity as i64, 2),
            _ => (self.sets as i64 - 1, -1),
        };
        FieldView {
            data: self.data.ptr().offset((skipped * plane) as u64),
            norm: self.norm.as_ref().map_or(Ptr::NULL, |n| n.ptr().offset((skipped * norm) as u64)),
            plane_bytes: step * plane / 2,
            norm_bytes: step * norm / 2,
            volume: self.geometry.outer() as i32,
        }
    }
}

/// The smallest root of |a^2 + square| over the largest, for the eigenvalues a of a packed hermitian block, by Jacobi
/// rotations.
fn eigenvalue_ratio(block: &[f64], square: f64) -> f64 {
    let mut a = [[Complex64::ZERO; 6]; 6];
    let mut k = 6;
    for j in 0..6 {
        a[j][j] = block[j].into();
        for i in j + 1..6 {
            a[i][j] = Complex64::new(block[k], block[k + 1]);
            a[j][i] = a[i][j].conj();
            k += 2;
        }
    }
    for _ in 0..20 {
        for (p, q) in (0..6).flat_map(|p| (p + 1..6).map(move |q| (p, q))) {
            let size = a[p][q].norm();
            if size == 0.0 {
                continue;
            }
            let half = 0.5 * (a[q][q].re - a[p][p].re) / size;
            let t = 1.0 / (half.abs() + half.hypot(1.0)) * if half < 0.0 { -1.0 } else { 1.0 };
            let c = 1.0 / t.hypot(1.0);
            let s = a[p][q] / size * (t * c);
            for row in a.iter_mut() {
                (row[p], row[q]) = (c * row[p] - s.conj() * row[q], s * row[p] + c * row[q]);
            }
            for i in 0..6 {
                (a[p][i], a[q][i]) = (c * a[p][i] - s * a[q][i], s.conj() * a[p][i] + c * a[q][i]);
            }
        }
    }
    let sizes: [f64; 6] = std::array::from_fn(|i| (a[i][i].re.powi(2) + square).abs().sqrt());
    if sizes.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let max = sizes.iter().fold(0.0f64, |m, &v| m.max(v));
    sizes.iter().fold(f64::INFINITY, |m, &v| m.min(v)) / max
}
