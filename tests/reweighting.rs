//! Tests of reweighting factors against determinants and quadratic forms of whole matrices.

use std::sync::Arc;

use crate::boundaries::Setup;
use crate::common::{devices, ranks, Lex};
use crate::reference::dirac::Dirac;
use crate::reference::matrix::eliminate;
use crate::reference::{Field, Lattice, C};
use crate::setup::reference_params;
use plaq::compose::multigrid::{LevelParams, Multigrid, MultigridParams};
use plaq::compose::{DiracSolver, Normalisation, SolveParams};
use plaq::error::Status;
use plaq::fields::{BoundaryTime, Noise};
use plaq::linop::System;
use plaq::operators::{DiracParams, QuarkAction, Wilson};
use plaq::ops::reweighting::{
    estimators, reweighting, Average, Estimator, Factor, ReweightingKind, ReweightingParams,
};
use plaq::solvers::{no_monitor, Rational, SolverKind};

type Rows = Vec<Vec<C>>;

fn unit(n: usize) -> Rows {
    (0..n).map(|i| (0..n).map(|j| if i == j { C::ONE } else { C::ZERO }).collect()).collect()
}
fn times(a: &Rows, b: &Rows) -> Rows {
    let row = |row: &Vec<C>| {
        let mut out = vec![C::ZERO; b[0].len()];
        for (z, other) in row.iter().zip(b) {
            out.iter_mut().zip(other).for_each(|(o, w)| *o += z * w);
        }
        out
    };
    a.iter().map(row).collect()
}
/// Computes a + c b.
fn plus(a: &Rows, c: f64, b: &Rows) -> Rows {
    let row = |(x, y): (&Vec<C>, &Vec<C>)| x.iter().zip(y).map(|(x, y)| x + c * y).collect();
    a.iter().zip(b).map(row).collect()
}
fn shifted(a: &Rows, s: f64) -> Rows {
    plus(a, s, &unit(a.len()))
}
fn dagger(a: &Rows) -> Rows {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j].conj()).collect()).collect()
}
fn inverse(a: &Rows) -> Rows {
    let n = a.len();
    let mut rows: Rows = a.iter().zip(unit(n)).map(|(a, e)| [a.clone(), e].concat()).collect();
    eliminate(&mut rows);
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}
fn ln_det(a: &Rows) -> f64 {
    eliminate(&mut a.clone()).re
}
/// Computes a^(-1/2) of a positive matrix near 1, by the iteration of Denman and Beavers.
fn inverse_root(a: &Rows) -> Rows {
    let (mut y, mut z) = (a.clone(), unit(a.len()));
    for _ in 0..14 {
        let (other_y, other_z) = (inverse(&z), inverse(&y));
        let half = |a: &Rows, b: &Rows| -> Rows {
            plus(a, 1.0, b).iter().map(|row| row.iter().map(|w| 0.5 * w).collect()).collect()
        };
        (y, z) = (half(&y, &other_y), half(&z, &other_z));
    }
    z
}
fn form(a: &Rows, v: &[C]) -> f64 {
    let row = |(row, z): (&Vec<C>, &C)| -> C {
        z.conj() * row.iter().zip(v).map(|(a, w)| a * w).sum::<C>()
    };
    a.iter().zip(v).map(row).sum::<C>().re
}

struct Case {
    lat: Lattice,
    op: Arc<dyn QuarkAction>,
    /// The matrix D, in mass normalisation, on sites where quarks do not vanish.
    d: Rows,
    sites: Vec<usize>,
}

const EXTENTS: [usize; 4] = [2, 2, 2, 4];

impl Case {
    fn new(boundary: BoundaryTime, params: DiracParams) -> Case {
        let s = Setup::new(&devices().pop().unwrap(), EXTENTS, boundary);
        let op = Arc::new(Wilson::new(s.gauge.clone(), params).unwrap());
        let of = reference_params(&params);
        let (lat, bounded) = (s.lat, s.reference());
        let periodic = Dirac::new(lat, &s.links, reference_params(&params));
        let site_terms = match boundary.is_periodic() {
            true => vec![],
            false => bounded.site_terms(&of, [params.cf, params.cf_prime]),
        };
        let apply = |psi: &Field| match boundary.is_periodic() {
            true => periodic.apply(psi),
            false => bounded.dirac_of(&of, &site_terms, psi),
        };
        let vanishes =
            |lex: usize| !boundary.is_periodic() && bounded.is_boundary(lat.coords(lex)[3]);
        let sites: Vec<usize> = (0..lat.volume()).filter(|&lex| !vanishes(lex)).collect();
        let n = 12 * sites.len();
        let mut d = vec![vec![C::ZERO; n]; n];
        for column in 0..n {
            let mut e = vec![[[C::ZERO; 3]; 4]; lat.volume()];
            e[sites[column / 12]][column / 3 % 4][column % 3] = C::ONE;
            let image = apply(&e);
            for (row, line) in d.iter_mut().enumerate() {
                line[column] = image[sites[row / 12]][row / 3 % 4][row % 3];
            }
        }
        Case { lat, op, d, sites }
    }

    fn parity(&self, k: usize) -> usize {
        self.lat.coords(self.sites[k / 12]).iter().sum::<usize>() % 2
    }

    /// The matrix M of the system, and the sites of its vectors; the symmetric complement is A_ee^-1 times the
    /// asymmetric one.
    fn system(&self, system: System) -> (Rows, Vec<usize>) {
        let all = 0..self.d.len();
        let Some(form) = system.schur() else { return (self.d.clone(), all.collect()) };
        let of =
            |p: usize| -> Vec<usize> { all.clone().filter(|&k| self.parity(k) == p).collect() };
        let (own, other) = (of(form.parity), of(1 - form.parity));
        let block = |rows: &[usize], columns: &[usize]| -> Rows {
            rows.iter().map(|&i| columns.iter().map(|&j| self.d[i][j]).collect()).collect()
        };
        let inner = times(&inverse(&block(&other, &other)), &block(&other, &own));
        let a = block(&own, &own);
        let schur = plus(&a, -1.0, &times(&block(&own, &other), &inner));
        (if form.symmetric { times(&inverse(&a), &schur) } else { schur }, own)
    }

    fn solver(&self) -> DiracSolver {
        self.solver_with(SolverKind::Cgnr, None)
    }

    fn solver_with(&self, kind: SolverKind, multigrid: Option<Arc<Multigrid>>) -> DiracSolver {
        let mut solve =
            SolveParams { normalisation: Normalisation::Mass, ..SolveParams::default() };
        solve.solver.stop.residual = 1e-12;
        solve.solver.kind = kind;
        DiracSolver::new(self.op.clone(), solve).unwrap().with_multigrid(multigrid).unwrap()
    }

    fn solver_by_multigrid(&self) -> DiracSolver {
        let level = LevelParams { block: [2; 4], vectors: 4, ..Default::default() };
        let params = MultigridParams::with_levels(vec![level]);
        let multigrid = Multigrid::new(&*self.op, &params).unwrap();
        self.solver_with(SolverKind::Gcr, Some(Arc::new(multigrid)))
    }

    /// Compares (eta, (B - 1) eta) of noise by the estimator with that by the matrix.
    fn compare(&self, what: &str, estimator: &Estimator, system: System, b: &Rows) {
        let (_, own) = self.system(system);
        let subset = match system.schur() {
            None => plaq::fields::Subset::Full,
            Some(form) => plaq::fields::Subset::of_parity(form.parity),
        };
        let mut eta = self.op.subset_shape(subset).field(3).unwrap();
        eta.set_noise(Noise::Normal, 5, 1).unwrap();
        let (found, _) = estimator.estimate(&eta, &mut no_monitor).unwrap();
        let numbers = eta.save_lex().unwrap();
        let each = numbers.len() / 3;
        let b = shifted(b, -1.0);
        for (vector, found) in numbers.chunks(each).zip(found) {
            let number = |k: &usize| {
                let at = 24 * self.sites[k / 12] + 2 * (k % 12);
                C::new(vector[at], vector[at + 1])
            };
            let v: Vec<C> = own.iter().map(number).collect();
            let expected = form(&b, &v);
            let norm: f64 = v.iter().map(|z| z.norm_sqr()).sum();
            assert!(
                (found - expected).abs() < 1e-10 * norm.max(expected.abs()),
                "{what} {system}: {found} for {expected}"
            );
        }
    }
}

fn quarks() -> DiracParams {
    DiracParams { mass: 0.1, csw: 1.2, csw_t: 1.2, ..Default::default() }
}

const OPEN: BoundaryTime = BoundaryTime::Open;

/// Mean and variance of exp(-(eta, (B - 1) eta)) over noise, from the matrix B.
fn mean_and_variance(b: &Rows) -> [f64; 2] {
    let mean = (-ln_det(b)).exp();
    // The mean of w^2 is 1 / det(2 B - 1).
    let twice = plus(b, 1.0, &shifted(b, -1.0));
    [mean, (-ln_det(&twice)).exp() - mean * mean]
}

fn of_twisted(x: &Rows, second: bool, [low, high]: [f64; 2]) -> Rows {
    let first = times(&shifted(x, high * high), &inverse(&shifted(x, low * low)));
    if !second {
        return first;
    }
    let more = times(&shifted(x, 2.0 * low * low), &inverse(&shifted(x, 2.0 * high * high)));
    times(&times(&first, &first), &more)
}

#[test]
fn twisted_masses_reweight_by_the_determinant() {
    if ranks().size() > 1 {
        return;
    }
    let open = DiracParams { cf: 0.9, cf_prime: 1.1, ..quarks() };
    let cases = [(BoundaryTime::Periodic, quarks()), (OPEN, open)];
    for (boundary, params) in cases {
        let case = Case::new(boundary, params);
        let solver = case.solver();
        for system in [System::Full, System::EvenAsymmetric] {
            if boundary.is_periodic() && system == System::Full {
                continue;
            }
            let (m, _) = case.system(system);
            let x = times(&dagger(&m), &m);
            for kind in [ReweightingKind::TwistedMass1, ReweightingKind::TwistedMass2] {
                let params =
                    ReweightingParams { kind, system, vectors: 160, seed: 3, ..Default::default() };
                let mu = [0.15, 0.3];
                let second = kind == ReweightingKind::TwistedMass2;
                let all = estimators(&solver, &params, &mu).unwrap();
                let pairs = [[0.0, mu[0]], mu];
                let matrices = pairs.map(|pair| of_twisted(&x, second, pair));
                for (estimator, b) in all.iter().zip(&matrices) {
                    case.compare(&format!("{boundary} {kind}"), estimator, system, b);
                }
                // Each system is tested with one of the two kinds of reweighting.
                if boundary.is_periodic() || second == (system == System::Full) {
                    continue;
                }
                let found = reweighting(&solver, &params, &mu, &mut no_monitor).unwrap();
                let mut ln = 0.0;
                for (factor, b) in found.factors.iter().zip(&matrices) {
                    let [mean, variance] = mean_and_variance(b);
                    let Average { ln: got, error } = factor.average();
                    let expected = (variance / 160.0).sqrt() / mean;
                    assert!(
                        (got - mean.ln()).abs() < 4.0 * expected,
                        "{kind}: {got} {}",
                        mean.ln()
                    );
                    // The variance is estimated from few vectors, so that its own error is large.
                    assert!((error / expected - 1.0).abs() < 0.4, "{kind}: {error} {expected}");
                    ln += mean.ln();
                }
                // The factor is det X / (X + mu^2), or for the second kind det X (X + 2 mu^2) / (X + mu^2)^2.
                let mu2 = mu[1] * mu[1];
                let one = ln_det(&x) - ln_det(&shifted(&x, mu2));
                let whole = match second {
                    false => one,
                    true => one + ln_det(&shifted(&x, 2.0 * mu2)) - ln_det(&shifted(&x, mu2)),
                };
                assert!((ln - whole).abs() < 1e-9);
                let product = found.product();
                assert!((product.ln - whole).abs() < 4.0 * product.error, "{product:?} {whole}");
            }
        }
    }
}

/// Reweighting corrects a rational function to the determinant; the chain's function has few poles, so that the
/// correction is visible.
#[test]
fn rational_functions_reweight_by_the_determinant() {
    if ranks().size() > 1 {
        return;
    }
    let case = Case::new(OPEN, DiracParams { cf: 0.9, ..quarks() });
    let solver = case.solver();
    let by_multigrid = case.solver_by_multigrid();
    for (system, low, high, fields) in
        [(System::EvenAsymmetric, 1.0, 40.0, 1), (System::EvenSymmetric, 0.02, 2.5, 2)]
    {
        let kind = ReweightingKind::Rational;
        let params = ReweightingParams {
            kind,
            system,
            low,
            high,
            poles: 2,
            fields,
            vectors: 100,
            ..Default::default()
        };
        let (m, _) = case.system(system);
        let x = times(&dagger(&m), &m);
        let r = Rational::with_poles(-0.5 / fields as f64, low, high, 2).unwrap();
        let mut dense = unit(x.len());
        for (s, residue) in r.shifts.iter().zip(&r.residues) {
            dense = plus(&dense, *residue, &inverse(&shifted(&x, *s)));
        }
        let dense: Rows =
            dense.iter().map(|row| row.iter().map(|z| r.constant * z).collect()).collect();
        let power = (0..2 * fields).fold(unit(x.len()), |p, _| times(&p, &dense));
        let b = inverse_root(&times(&x, &power));
        let all = estimators(&solver, &params, &[]).unwrap();
        case.compare("rational", &all[0], system, &b);
        // Multigrid solves for one of the two poles, or for both.
        for shifts in [1, 2] {
            let params = ReweightingParams { shifts, ..params.clone() };
            let all = estimators(&by_multigrid, &params, &[]).unwrap();
            case.compare("rational by multigrid", &all[0], system, &b);
        }
        let found = reweighting(&solver, &params, &[], &mut no_monitor).unwrap().product();
        let expected = 0.5 * ln_det(&x) + fields as f64 * ln_det(&dense);
        assert!((found.ln - expected).abs() < 4.0 * found.error, "{found:?} for {expected}");
        assert!(found.error > 0.0 && found.error < 0.1 * (1.0 + expected.abs()));
    }
    // The given interval does not contain the eigenvalues.
    let wrong = ReweightingParams {
        kind: ReweightingKind::Rational,
        system: System::EvenSymmetric,
        low: 10.0,
        high: 20.0,
        poles: 2,
        ..Default::default()
    };
    let refused = reweighting(&solver, &wrong, &[], &mut no_monitor).unwrap_err();
    assert_eq!(refused.status, Status::SpectralBounds, "{refused}");
}

#[test]
fn what_has_no_factor_is_refused() {
    let case = Case::new(BoundaryTime::Periodic, DiracParams { csw: 0.0, csw_t: 0.0, ..quarks() });
    let solver = case.solver();
    let plain = ReweightingParams::default();
    let symmetric = ReweightingParams { system: System::EvenSymmetric, ..plain.clone() };
    let rational =
        ReweightingParams { kind: ReweightingKind::Rational, low: 0.1, high: 1.0, ..plain.clone() };
    for (params, mu, status) in [
        (&plain, &[][..], Status::InvalidArgument),
        (&plain, &[0.2, 0.1], Status::InvalidArgument),
        (&plain, &[0.0], Status::InvalidArgument),
        (&plain, &[f64::NAN], Status::InvalidArgument),
        (&symmetric, &[0.1], Status::Unsupported),
        (&rational, &[0.1], Status::InvalidArgument),
    ] {
        let refused = reweighting(&solver, params, mu, &mut no_monitor).unwrap_err();
        assert_eq!(refused.status, status, "{mu:?}: {refused}");
    }
}

#[test]
fn averages_are_those_of_the_estimates() {
    let factor = Factor { minus_ln: vec![1000.0, 1001.0], norm2: vec![0.0; 2] };
    let Average { ln, error } = factor.average();
    let w = [1.0, (-1.0f64).exp()];
    let mean = 0.5 * (w[0] + w[1]);
    assert!((ln - (mean.ln() - 1000.0)).abs() < 1e-12);
    assert!((error - 0.5 * (w[0] - w[1]) / mean).abs() < 1e-12);
}
