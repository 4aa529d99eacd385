//! Tests of correlators of boundary fields of the Schroedinger functional: free quarks, the reference, gauge
//! transformations.

use std::sync::Arc;

use crate::boundaries::{of, Setup, PHI, PHI_PRIME};
use crate::common::{devices, distance, Lex};
use crate::reference::bounded::Bounded;
use crate::reference::gamma::{gammas, mul_spin, one_plus, Basis};
use crate::reference::matrix::{apply, dag, mul, one};
use crate::reference::numbers::field_from;
use crate::reference::solve::cgne;
use crate::reference::{su3, Field, Gauge, C};
use crate::setup::reference_params;
use plaq::compose::{DiracSolver, Normalisation, SolveParams};
use plaq::error::Status;
use plaq::fields::{BoundaryTime, GaugeField};
use plaq::operators::{DiracParams, Wilson};
use plaq::ops::contract::{mesons, Sink};
use plaq::ops::gamma::Gamma;
use plaq::ops::schroedinger::{
    boundary_correlators, boundary_propagator, BoundaryCorrelators, BoundaryEnd,
};
use plaq::solvers::no_monitor;

/// Phases of quarks in space, in units of pi.
const PHASES: [f64; 3] = [0.3, -0.2, 0.5];

fn quarks(phases: [f64; 3]) -> DiracParams {
    let turn = |p: f64| C::from_polar(1.0, std::f64::consts::PI * p);
    DiracParams {
        mass: 0.2,
        csw: 1.3,
        csw_t: 1.3,
        cf: 0.9,
        cf_prime: 1.2,
        boundary: [turn(phases[0]), turn(phases[1]), turn(phases[2]), -C::ONE],
        ..Default::default()
    }
}

fn solver(
    gauge: &Arc<GaugeField>,
    params: DiracParams,
    normalisation: Normalisation,
) -> DiracSolver {
    let op = Arc::new(Wilson::new(gauge.clone(), params).unwrap());
    let mut solve = SolveParams { normalisation, ..SolveParams::default() };
    solve.solver.stop.residual = 1e-12;
    DiracSolver::new(op, solve).unwrap()
}

fn correlators(gauge: &Arc<GaugeField>, phases: [f64; 3]) -> BoundaryCorrelators {
    let by = solver(gauge, quarks(phases), Normalisation::Mass);
    boundary_correlators(&by, (0, phases), &mut no_monitor).unwrap().0
}

fn sf(phi: [f64; 3], phi_prime: [f64; 3]) -> BoundaryTime {
    BoundaryTime::Sf { phi, phi_prime }
}

/// The propagator of a free quark of momentum zero falls by (1 + m)^-1 from slice to slice, with m + cF in place of
/// 1 + m next to boundaries.
#[test]
fn free_quarks_fall_as_they_must() {
    for device in devices() {
        let s = Setup::new(&device, [4, 2, 2, 6], sf([0.0; 3], [0.0; 3]));
        let links: Gauge = vec![one(); s.links.len()];
        let gauge = of(&device, &s.geometry, &links);
        let found = correlators(&gauge, [0.0; 3]);
        let DiracParams { mass: m, cf, cf_prime, .. } = quarks([0.0; 3]);
        let t = s.lat.extents[3];
        let site = |x: usize| {
            1.0 + m
                + if x == 1 { cf - 1.0 } else { 0.0 }
                + if x + 1 == t { cf_prime - 1.0 } else { 0.0 }
        };
        let lower = |x: usize| cf / (1..=x).map(site).product::<f64>();
        let upper = |x: usize| cf_prime / (x..t).map(site).product::<f64>();
        for x in 1..t {
            for (value, expected) in [
                (found.f_p[x], 3.0 * lower(x).powi(2)),
                (found.f_a[x], -3.0 * lower(x).powi(2)),
                (found.g_p[x], 3.0 * upper(x).powi(2)),
                (found.g_a[x], -3.0 * upper(x).powi(2)),
            ] {
                assert!((value / expected - 1.0).abs() < 1e-10, "slice {x}: {value} {expected}");
            }
        }
        let expected = 3.0 * (cf_prime * lower(t - 1)).powi(2);
        assert!((found.f_1 / expected - 1.0).abs() < 1e-10, "{} {expected}", found.f_1);
        assert!(found.f_p[0] == 0.0 && found.g_a[0] == 0.0);
    }
}

/// Reference for boundary fields: sources at both ends with spin s = 0, 1 and colour c, and the projection of H.
struct Slow<'a> {
    s: &'a Setup,
    params: DiracParams,
    phases: [f64; 3],
}

impl Slow<'_> {
    fn phase(&self, lex: usize) -> C {
        let (x, l) = (self.s.lat.coords(lex), self.s.lat.extents);
        let turn: f64 = (0..3).map(|k| self.phases[k] * x[k] as f64 / l[k] as f64).sum();
        C::from_polar(1.0, std::f64::consts::PI * turn)
    }
    /// The source of a unit vector of the projector's image, and the links that multiply it.
    fn source(&self, upper: bool, spin: usize, colour: usize) -> Field {
        let lat = self.s.lat;
        let (slice, sign) = if upper { (lat.extents[3] - 1, -1.0) } else { (1, 1.0) };
        let root = 0.5f64.sqrt();
        let mut b = vec![[[C::ZERO; 3]; 4]; lat.volume()];
        for (lex, to) in b.iter_mut().enumerate() {
            let mut x = lat.coords(lex);
            if x[3] != slice {
                continue;
            }
            let u = match upper {
                true => self.s.links[4 * lex + 3],
                false => {
                    x[3] -= 1;
                    dag(&self.s.links[4 * lat.lex(x) + 3])
                }
            };
            let mut e = [C::ZERO; 3];
            e[colour] = self.phase(lex);
            let v = apply(&u, &e);
            to[spin] = v.map(|z| root * z);
            to[spin + 2] = v.map(|z| root * sign * z);
        }
        b
    }
    fn h(&self, upper: bool, spin: usize, colour: usize) -> Field {
        let bounded: Bounded = self.s.reference();
        let of = reference_params(&self.params);
        let cf = [self.params.cf, self.params.cf_prime];
        let five = |f: &Field| -> Field {
            f.iter()
                .map(|v| {
                    let sign = |a: usize| if a < 2 { 1.0 } else { -1.0 };
                    std::array::from_fn(|a| v[a].map(|z| sign(a) * z))
                })
                .collect()
        };
        let site_terms = bounded.site_terms(&of, cf);
        let d = |f: &Field| bounded.dirac_of(&of, &site_terms, f);
        let x = cgne(d, |f| five(&d(&five(f))), &self.source(upper, spin, colour), 1e-14).x;
        let c = cf[upper as usize];
        x.iter().map(|v| v.map(|row| row.map(|z| c * z))).collect()
    }
    fn correlators(&self) -> BoundaryCorrelators {
        let lat = self.s.lat;
        let t = lat.extents[3];
        let volume = (lat.volume() / t) as f64;
        let gamma_t = gammas(Basis::DeGrandRossi)[3];
        let mut sums = [[vec![0.0; t], vec![0.0; t]], [vec![0.0; t], vec![0.0; t]]];
        let mut f_1 = [0.0; 2];
        for upper in [false, true] {
            for k in 0..6 {
                let h = self.h(upper, k / 3, k % 3);
                for (lex, v) in h.iter().enumerate() {
                    let turned = mul_spin(&one_plus(1.0, &gamma_t), v);
                    let dot = |a: &[[C; 3]; 4], b: &[[C; 3]; 4]| -> f64 {
                        a.iter()
                            .flatten()
                            .zip(b.iter().flatten())
                            .map(|(x, y)| (x.conj() * y).re)
                            .sum()
                    };
                    let norm = dot(v, v);
                    let [a, p] = &mut sums[upper as usize];
                    let x = lat.coords(lex)[3];
                    p[x] += 0.5 * norm / volume;
                    let sign = if upper { 0.5 } else { -0.5 };
                    a[x] += sign * (dot(v, &turned) - norm) / volume;
                }
                let cf = [self.params.cf_prime, self.params.cf][upper as usize];
                let projected = self.projected(upper, &h);
                f_1[upper as usize] += 0.5 * projected * (cf / volume).powi(2);
            }
        }
        assert!((f_1[0] / f_1[1] - 1.0).abs() < 1e-9, "{f_1:?}");
        let [[f_a, f_p], [g_a, g_p]] = sums;
        BoundaryCorrelators { f_a, f_p, g_a, g_p, f_1: f_1[0] }
    }
    /// Computes |sum_x P U^-1 H(x)|^2 of a column at the other end, without the phase of momentum zero.
    fn projected(&self, upper: bool, h: &Field) -> f64 {
        let lat = self.s.lat;
        let gamma_t = gammas(Basis::DeGrandRossi)[3];
        let half = one_plus(if upper { -1.0 } else { 1.0 }, &gamma_t);
        let slice = if upper { 1 } else { lat.extents[3] - 1 };
        let mut sum = [[C::ZERO; 3]; 4];
        for (lex, v) in h.iter().enumerate() {
            let mut x = lat.coords(lex);
            if x[3] != slice {
                continue;
            }
            let u = match upper {
                false => dag(&self.s.links[4 * lex + 3]),
                true => {
                    x[3] -= 1;
                    self.s.links[4 * lat.lex(x) + 3]
                }
            };
            let phase = 0.5 * self.phase(lex).conj();
            for (row, w) in sum.iter_mut().zip(mul_spin(&half, v)) {
                let carried = apply(&u, &w);
                row.iter_mut().zip(carried).for_each(|(z, c)| *z += phase * c);
            }
        }
        sum.iter().flatten().map(|z| z.norm_sqr()).sum()
    }
}

#[test]
fn boundary_correlators_are_those_of_the_reference() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [2, 2, 2, 6], sf(PHI, PHI_PRIME));
    let expected = Slow { s: &s, params: quarks(PHASES), phases: PHASES }.correlators();
    let found = correlators(&s.gauge, PHASES);
    let pairs = [
        (&found.f_a, &expected.f_a),
        (&found.f_p, &expected.f_p),
        (&found.g_a, &expected.g_a),
        (&found.g_p, &expected.g_p),
    ];
    for (k, (a, b)) in pairs.into_iter().enumerate() {
        assert!(distance(a, b) < 1e-9, "{k}: {a:?} {b:?}");
    }
    assert!((found.f_1 / expected.f_1 - 1.0).abs() < 1e-9, "{} {}", found.f_1, expected.f_1);
}

/// Gauge transformations that are one on slice 0, and for this also on slice T, leave correlators unchanged; so does
/// the normalisation.
#[test]
fn boundary_correlators_do_not_depend_on_the_gauge() {
    let device = devices().pop().unwrap();
    let s = Setup::new(&device, [4, 2, 4, 4], sf(PHI, PHI_PRIME));
    let found = correlators(&s.gauge, PHASES);
    let random = su3::smooth_gauge(s.lat, 2.0, 31);
    let g = |x: [usize; 4]| match x[3] {
        0 => one(),
        _ => su3::reunitarise(&random[4 * s.lat.lex(x)]),
    };
    let turned: Gauge = (0..s.links.len())
        .map(|k| {
            let x = s.lat.coords(k / 4);
            let mut y = x;
            y[k % 4] = (y[k % 4] + 1) % s.lat.extents[k % 4];
            mul(&mul(&g(x), &s.links[k]), &dag(&g(y)))
        })
        .collect();
    let other = correlators(&of(&device, &s.geometry, &turned), PHASES);
    assert!(distance(&found.f_a, &other.f_a) < 1e-10);
    assert!(distance(&found.g_p, &other.g_p) < 1e-10);
    assert!((found.f_1 / other.f_1 - 1.0).abs() < 1e-10);

    // The propagators are those from which the correlators are made.
    let by = solver(&s.gauge, quarks(PHASES), Normalisation::Kappa);
    let all = (5, PHASES);
    let (h, report) = boundary_propagator(&by, BoundaryEnd::Upper, all, &mut no_monitor).unwrap();
    assert!(report.solver.converged && h.nrhs() == 12);
    let pion = mesons(&h, &h, Sink::at_rest(0)).unwrap().correlator(Gamma::FIVE, Gamma::FIVE);
    let volume = (s.lat.volume() / s.lat.extents[3]) as f64;
    let found_p: Vec<f64> = pion.iter().map(|z| 0.5 * z.re / volume).collect();
    assert!(distance(&found_p, &found.g_p) < 1e-10);
    let columns = h.save_lex().unwrap();
    let each = columns.len() / 12;
    let column = |k: usize| field_from(&columns[k * each..][..each]);
    let (a, b) = (column(1), column(7));
    let off = a.iter().flatten().flatten().zip(b.iter().flatten().flatten());
    assert!(off.map(|(x, y)| (x + y).norm()).fold(0.0, f64::max) < 1e-14);
}

#[test]
fn boundaries_without_fixed_links_have_no_boundary_fields() {
    let device = devices().pop().unwrap();
    let refused = |boundary: BoundaryTime, end: BoundaryEnd| {
        let s = Setup::new(&device, [4, 4, 4, 4], boundary);
        let params = match boundary.is_periodic() {
            true => DiracParams { cf: 1.0, cf_prime: 1.0, ..quarks([0.0; 3]) },
            false => quarks([0.0; 3]),
        };
        let by = solver(&s.gauge, params, Normalisation::Mass);
        boundary_propagator(&by, end, (0, [0.0; 3]), &mut no_monitor).err().map(|e| e.status)
    };
    let open_sf = BoundaryTime::OpenSf { phi_prime: PHI_PRIME };
    for (boundary, end, expected) in [
        (BoundaryTime::Open, BoundaryEnd::Lower, Some(Status::Unsupported)),
        (BoundaryTime::Periodic, BoundaryEnd::Upper, Some(Status::Unsupported)),
        (open_sf, BoundaryEnd::Lower, Some(Status::Unsupported)),
        (open_sf, BoundaryEnd::Upper, None),
    ] {
        assert_eq!(refused(boundary, end), expected, "{boundary} {end}");
    }
    let s = Setup::new(&device, [4, 4, 4, 4], open_sf);
    let found = correlators(&s.gauge, [0.0; 3]);
    assert!(found.f_1.is_nan() && found.f_a.iter().all(|f| f.is_nan()));
    assert!(found.g_p[1..].iter().all(|g| *g > 0.0));
}
