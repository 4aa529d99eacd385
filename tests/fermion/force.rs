//! Tests of force kernels: derivatives of 2 c Re <Y, M X> and of ln |det A|^2, both computed by the reference.

use plaq::fields::{Momenta, Precision, Recon, Subset};
use plaq::linop::LinOp;
use plaq::operators::{
    DiracParams, EvenOdd, ForceTerms, ForceWorkspace, HalfTerms, SchurAction, Wilson,
};

use super::common::{extents_on, shared};
use super::reference::dirac::{Dirac, Preconditioned};
use super::reference::{spinor, Field, Gauge};
use super::{
    clover, derivative, device, directions, exponential, moved, reference_params, setup_on, wilson,
    Setup,
};

pub const COEF: [f64; 2] = [-1.0, 0.4];
/// Coefficients of the determinants of the even and of the odd sites.
pub const DETERMINANT: [f64; 2] = [-0.5, 0.3];
const EPSILON: f64 = 2e-3;

fn setups() -> Vec<Setup> {
    let device = device();
    extents_on(&device).into_iter().map(|e| setup_on(&device, e)).collect()
}

pub fn fields(s: &Setup, seed: u64) -> Vec<Field> {
    (0..COEF.len() as u64).map(|k| spinor::random(s.lat, seed + k)).collect()
}

/// Computes sum_k 2 c_k Re <y_k, f(x_k)>.
fn terms(x: &[Field], y: &[Field], f: impl Fn(&Field) -> Field) -> f64 {
    let term = |k: usize| 2.0 * COEF[k] * spinor::dot(&y[k], &f(&x[k])).re;
    (0..COEF.len()).map(term).sum()
}

/// Compares a force with the derivative of `value` by the links along random directions, relative to the mean size of
/// a derivative along such a direction. `value` runs on one rank at a time.
pub fn compare(s: &Setup, force: &Momenta, bound: f64, what: &str, value: impl Fn(&Gauge) -> f64) {
    let size = force.norm2().unwrap().0.sqrt();
    let direction = |mu: usize| directions(s.lat, 100 + mu as u64);
    let expected = shared(4, 1, |mu| {
        let h = direction(mu);
        vec![derivative(|e| value(&moved(&s.links, &h, mu, e)), EPSILON)]
    });
    for (mu, expect) in expected.into_iter().enumerate() {
        let found = s.along(force, &direction(mu), mu);
        let error = (found - expect).abs() / size;
        assert!(
            error < bound,
            "{what}, {:?}, direction {mu}: {found} for {expect}, {error:.1e} of {size}",
            s.lat.extents
        );
    }
}

fn new_momenta(s: &Setup, precision: Precision) -> Momenta {
    Momenta::new(&s.device, &s.geometry, precision).unwrap()
}

fn all_of(s: &Setup, params: DiracParams, (precision, recon): (Precision, Recon)) -> Momenta {
    let op = Wilson::new(s.gauge(&s.links, precision, recon), params).unwrap();
    let (x, y) = (fields(s, 1), fields(s, 11));
    let [x, y] = [x, y].map(|f| s.spinors(precision, Subset::Full, &f));
    let terms = ForceTerms { x: &x, y: &y, coef: &COEF };
    let mut p = new_momenta(s, precision);
    op.hop_force(&mut p, -1.0, terms).unwrap();
    if params.has_clover() {
        let mut insertion = op.insertion().unwrap();
        op.insert(&mut insertion, Some(terms), DETERMINANT, false).unwrap();
        op.clover_force(&mut p, -1.0, &insertion).unwrap();
    }
    p
}

pub fn reference_value(s: &Setup, params: DiracParams, links: &Gauge) -> f64 {
    value_on_thin(s, params, links, links)
}

/// The value with hops on `links` and a clover term of the links `thin`.
pub fn value_on_thin(s: &Setup, params: DiracParams, links: &Gauge, thin: &Gauge) -> f64 {
    let (x, y) = (fields(s, 1), fields(s, 11));
    let dirac = Dirac::on_thin(s.lat, links, thin, reference_params(&params));
    let mut sum = terms(&x, &y, |f| dirac.apply_kappa(f));
    if params.has_clover() {
        for (parity, c) in DETERMINANT.iter().enumerate() {
            sum += 2.0 * c * dirac.ln_det_diagonal(parity).re;
        }
    }
    sum
}

#[test]
fn forces_are_derivatives() {
    for s in setups() {
        // A clover exponent so large that it is halved before the series, too.
        let strong = DiracParams { csw: 3.7, csw_t: 2.9, ..exponential(-0.4) };
        for (params, what) in [
            (wilson(), "Wilson"),
            (clover(0.0), "clover"),
            (clover(0.3), "twisted"),
            (exponential(0.0), "exponential"),
            (exponential(0.3), "twisted exponential"),
            (strong, "strong exponential"),
        ] {
            let force = all_of(&s, params, (Precision::F64, Recon::R18));
            compare(&s, &force, 1e-9, what, |links| reference_value(&s, params, links));
        }
    }
}

#[test]
fn storages_agree() {
    for s in setups() {
        for params in [wilson(), clover(0.3), exponential(0.3)] {
            let exact = all_of(&s, params, (Precision::F64, Recon::R18));
            let size = exact.norm2().unwrap().0.sqrt();
            let forms = [
                (Precision::F64, Recon::R12, 1e-13),
                (Precision::F32, Recon::R18, 2e-6),
                (Precision::F32, Recon::R12, 2e-6),
            ];
            for (precision, recon, bound) in forms {
                let force = all_of(&s, params, (precision, recon));
                let mut difference = new_momenta(&s, Precision::F64);
                difference.copy_from(&exact).unwrap();
                difference.add(1.0, -1.0, &force).unwrap();
                let error = difference.norm2().unwrap().0.sqrt() / size;
                assert!(error < bound, "{precision:?} {recon:?}: {error:.1e}");
            }
        }
    }
}

#[test]
fn preconditioned_forces_are_derivatives() {
    for s in setups() {
        for symmetric in [false, true] {
            let all = [
                (wilson(), 0),
                (clover(0.0), 1),
                (clover(0.3), 0),
                (exponential(0.0), 0),
                (exponential(0.3), 1),
            ];
            for (params, parity) in all {
                let pc = Preconditioned { parity, symmetric };
                let links = s.gauge(&s.links, Precision::F64, Recon::R18);
                let op = Wilson::new(links, params).unwrap();
                let op = EvenOdd::new(std::sync::Arc::new(op), parity, symmetric);
                let subset = Subset::of_parity(parity);
                let (x, y) = (fields(&s, 1), fields(&s, 11));
                let [hx, hy] = [&x, &y].map(|f| s.spinors(Precision::F64, subset, f));
                let mut px = op.shape().field(COEF.len()).unwrap();
                op.apply(&mut px, &hx).unwrap();
                let mut force = new_momenta(&s, Precision::F64);
                let mut work = ForceWorkspace::default();
                for _ in 0..2 {
                    force.clear().unwrap();
                    work.begin();
                    let terms = HalfTerms { x: &hx, y: &hy, px: &px, coef: &COEF };
                    op.add_force(&mut work, &mut force, -1.0, terms).unwrap();
                    op.add_determinant_force(&mut work, -0.7).unwrap();
                    op.finish_force(&work, &mut force, -1.0).unwrap();
                }
                let y: Vec<Field> = y.iter().map(|f| spinor::on_parity(s.lat, parity, f)).collect();
                let what = format!("parity {parity}, symmetric {symmetric}");
                compare(&s, &force, 1e-9, &what, |links| {
                    let dirac = Dirac::new(s.lat, links, reference_params(&params));
                    let scale = if symmetric { 1.0 } else { 2.0 * params.kappa() };
                    let mut sum = scale * terms(&x, &y, |f| dirac.apply_eo(pc, false, f));
                    if params.has_clover() {
                        for p in (0..2).filter(|&p| symmetric || p != parity) {
                            sum += 2.0 * -0.7 * dirac.ln_det_diagonal(p).re;
                        }
                    }
                    sum
                });
            }
        }
    }
}
