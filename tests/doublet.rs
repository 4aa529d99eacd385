//! Tests of the non-degenerate twisted doublet against one-flavour operators of the reference.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, extents_on, over_ranks, ranks, shared, Lex};
use plaq::compose::{DiracSolver, Schur, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{
    blas, Components, GaugeField, Geometry, Noise, Precision, Recon, Subset, VectorField,
};
use plaq::operators::{ActionParams, DiracParams, DoubletParams, LaplaceParams, QuarkAction};
use plaq::solvers::{no_monitor, Shift, SolverKind, SolverParams, Stop};
use reference::dirac::{Dirac, Params};
use reference::numbers::{field_from, field_numbers, gauge_numbers};
use reference::{spinor, su3, Field, Gauge, Lattice, C};

const ALL: [Schur; 4] = [
    Schur { parity: 0, symmetric: true },
    Schur { parity: 1, symmetric: true },
    Schur { parity: 0, symmetric: false },
    Schur { parity: 1, symmetric: false },
];

/// Fields of the up and the down flavour.
type Pair = [Field; 2];

struct Setup {
    geometry: Arc<Geometry>,
    lat: Lattice,
    links: Gauge,
    gauge: Arc<GaugeField>,
}

fn setups() -> Vec<Setup> {
    let mut all = vec![];
    for device in devices() {
        for extents in extents_on(&device).into_iter().map(over_ranks) {
            let geometry = common::geometry(extents, &device);
            let lat = Lattice::new(extents);
            let links: Gauge =
                su3::smooth_gauge(lat, 0.4, 7).iter().map(su3::reunitarise).collect();
            let mut gauge =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            gauge.load_lex(&gauge_numbers(&links)).unwrap();
            all.push(Setup { geometry, lat, links, gauge: Arc::new(gauge) });
        }
    }
    all
}

/// Parameters of doublets without and with clover term, with the splitting below and above mu.
fn doublets() -> [DoubletParams; 3] {
    let one = C::new(1.0, 0.0);
    let plain = DiracParams { mass: 0.3, mu: 0.35, ..Default::default() };
    let clover = DiracParams {
        csw: 1.1,
        csw_t: 0.9,
        hop: [0.7, 0.8, 0.9, 1.0],
        boundary: [one, C::from_polar(1.0, 0.4), one, -one],
        ..plain
    };
    [
        DoubletParams { wilson: plain, epsilon: 0.3 },
        DoubletParams { wilson: clover, epsilon: 0.25 },
        DoubletParams { wilson: DiracParams { mu: 0.1, ..clover }, epsilon: 0.2 },
    ]
}

impl Setup {
    fn pairs(&self, n: u64) -> Vec<Pair> {
        (0..n).map(|k| [3 + 2 * k, 4 + 2 * k].map(|seed| spinor::random(self.lat, seed))).collect()
    }

    /// The reference's operator of one flavour, without the twist.
    fn dirac(&self, p: &DoubletParams) -> Dirac<'_> {
        let w = &p.wilson;
        let params = Params {
            mass: w.mass,
            csw: w.csw,
            csw_t: w.csw_t,
            exponential: false,
            mu: 0.0,
            hop: w.hop,
            boundary: w.boundary,
        };
        Dirac::new(self.lat, &self.links, params)
    }

    /// Numbers of M x, or of its adjoint, for pairs x by the reference; ranks compute one flavour each.
    fn images(&self, dirac: &Dirac, p: &DoubletParams, dagger: bool, pairs: &[Pair]) -> Vec<f64> {
        let w = &p.wilson;
        let c = 2.0 * w.kappa();
        let one = |f: &Field| match dagger {
            false => dirac.apply_kappa(f),
            true => spinor::scale(C::new(c, 0.0), &dirac.apply_dag(f)),
        };
        let turned = |f: &Field, mu: f64, other: &Field| {
            let twisted = spinor::axpy(C::new(0.0, c * mu), &spinor::apply_gamma5(f), &one(f));
            spinor::axpy(C::new(-c * p.epsilon, 0.0), other, &twisted)
        };
        let mu = if dagger { -w.mu } else { w.mu };
        shared(2 * pairs.len(), 24 * self.lat.volume(), |k| {
            let [up, down] = &pairs[k / 2];
            field_numbers(&match k % 2 {
                0 => turned(up, mu, down),
                _ => turned(down, -mu, up),
            })
        })
    }
}

fn numbers(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().flatten().flat_map(field_numbers).collect()
}

fn pairs_of(field: &VectorField, lat: Lattice) -> Vec<Pair> {
    let all = field.save_lex().unwrap();
    let fields: Vec<Field> = all.chunks(24 * lat.volume()).map(field_from).collect();
    fields.chunks(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect()
}

fn load(op: &dyn QuarkAction, pairs: &[Pair]) -> VectorField {
    let mut field = op.shape().field(pairs.len()).unwrap();
    field.load_lex(&numbers(pairs)).unwrap();
    field
}

#[test]
fn the_operator_is_that_of_the_reference() {
    for s in setups() {
        for params in doublets() {
            let pairs = s.pairs(2);
            let dirac = s.dirac(&params);
            let [image, adjoint] =
                [false, true].map(|dagger| s.images(&dirac, &params, dagger, &pairs));
            let exact = ActionParams::from(params).create(s.gauge.clone()).unwrap();
            assert_eq!(exact.shape().components, Components::DOUBLET);
            for (storage, bound) in [
                ((Precision::F64, Recon::R18), 1e-13),
                ((Precision::F64, Recon::R12), 1e-13),
                ((Precision::F32, Recon::R12), 1e-6),
                ((Precision::F16, Recon::R12), 1e-3),
            ] {
                let op = exact.shared_copy(storage).unwrap();
                let x = load(&*op, &pairs);
                let mut y = x.like(x.precision()).unwrap();
                for (dagger, want) in [(false, &image), (true, &adjoint)] {
                    match dagger {
                        false => op.apply(&mut y, &x).unwrap(),
                        true => op.apply_dagger(&mut y, &x).unwrap(),
                    }
                    let error = distance(&y.save_lex().unwrap(), want);
                    assert!(error < bound, "{params:?} {storage:?} {dagger}: {error:e}");
                }
            }
        }
    }
}

/// Doublets are solved with every Schur complement and without, for M and its adjoint, in mixed precision, for two
/// right-hand sides at once; the reference checks the solutions. On several ranks, each of which computes the whole
/// reference, only the first and the last lattice are tested.
#[test]
fn doublets_are_solved() {
    let all = setups();
    let step = if ranks().size() > 1 { all.len() - 1 } else { 1 };
    for s in all.into_iter().step_by(step) {
        for params in doublets() {
            let op = ActionParams::from(params)
                .create_in(&s.gauge, (Precision::F64, Recon::R12))
                .unwrap();
            let pairs = s.pairs(2);
            let b = load(&*op, &pairs);
            let dirac = s.dirac(&params);
            let forms = ALL.map(Some).into_iter().chain([None]);
            for (k, even_odd) in forms.enumerate() {
                for (kind, sloppy, solution) in [
                    (SolverKind::Cgnr, Precision::F32, Solution::Mat),
                    (SolverKind::BiCgStab, Precision::F16, Solution::Mat),
                    (SolverKind::Cgne, Precision::F64, Solution::MatDag),
                    (SolverKind::Gcr, Precision::F32, Solution::Mat),
                ] {
                    // Each Schur form is solved by CGNR and, for the adjoint, by CGNE; other solvers solve one form
                    // only.
                    if matches!(kind, SolverKind::BiCgStab | SolverKind::Gcr) && k > 0 {
                        continue;
                    }
                    let solve = SolveParams {
                        solver: SolverParams { kind, stop: Stop::at(1e-10), ..Default::default() },
                        solution,
                        even_odd,
                        sloppy: Some((sloppy, Recon::R12)),
                        ..Default::default()
                    };
                    let solver = DiracSolver::new(op.clone(), solve).unwrap();
                    let mut x = b.like(Precision::F64).unwrap();
                    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                    let what = format!("{params:?} {even_odd:?} {kind} {sloppy}");
                    assert!(report.converged, "{what}: {report:?}");
                    let dagger = solution == Solution::MatDag;
                    let found = pairs_of(&x, s.lat);
                    let image = s.images(&dirac, &params, dagger, &found);
                    let error = distance(&image, &numbers(&pairs));
                    assert!(error < 1e-9, "{what}: {error:e}");
                }
            }
        }
    }
}

/// Adjoints of the Schur complements agree with the reference, and (P^dagger P + sigma) x = b is solved for several
/// sigma at once.
#[test]
fn schur_complements_and_shifts() {
    for s in setups() {
        for (params, form) in doublets().into_iter().flat_map(|p| ALL.map(|form| (p, form))) {
            let op = ActionParams::from(params).create(s.gauge.clone()).unwrap();
            let schur = op.clone().schur(form).unwrap();
            let field = |seed| {
                let mut f = schur.shape().field(2).unwrap();
                f.set_noise(Noise::Normal, seed, 0).unwrap();
                f
            };
            let (x, y) = (field(1), field(2));
            let (mut px, mut py) = (field(3), field(3));
            schur.apply(&mut px, &x).unwrap();
            schur.apply_dagger(&mut py, &y).unwrap();
            let (left, right) = (blas::dot(&y, &px).unwrap(), blas::dot(&py, &x).unwrap());
            for (l, r) in left.iter().zip(&right) {
                let size = 24.0 * s.lat.volume() as f64;
                assert!((l - r).norm() < 1e-12 * size, "{params:?} {form:?}: {l} {r}");
            }
            // Smoothers use the operators 1 - S, and r - S x.
            let (mut rest, mut r) = (field(3), field(2));
            schur.one_minus_schur(&mut rest, &x).unwrap();
            blas::axpy(&blas::uniform(2, 1.0), &px, &mut rest).unwrap();
            if form.symmetric {
                assert!(distance(&rest.save_lex().unwrap(), &x.save_lex().unwrap()) < 1e-13);
                schur.subtract(&mut r, &x).unwrap();
                blas::axpy(&blas::uniform(2, 1.0), &px, &mut r).unwrap();
                assert!(distance(&r.save_lex().unwrap(), &y.save_lex().unwrap()) < 1e-13);
            }
        }
        let params = doublets()[1];
        let op = ActionParams::from(params).create_in(&s.gauge, (Precision::F64, Recon::R12));
        let op = op.unwrap();
        let solve = SolveParams {
            solution: Solution::MatPcDagMatPc,
            even_odd: Some(ALL[3]),
            ..Default::default()
        };
        let solver = DiracSolver::new(op.clone(), solve).unwrap();
        let schur = op.schur(ALL[3]).unwrap();
        let mut b = schur.shape().field(1).unwrap();
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        let shifts = [0.0, 0.2, 1.5].map(|sigma| Shift { sigma, tol: 1e-11, heavy_quark: 0.0 });
        let mut xs: Vec<VectorField> =
            shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
        let (report, _) = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged, "{report:?}");
        for (shift, x) in shifts.iter().zip(&xs) {
            let (mut t, mut y) = (b.like(b.precision()).unwrap(), b.like(b.precision()).unwrap());
            schur.apply(&mut t, x).unwrap();
            schur.apply_dagger(&mut y, &t).unwrap();
            blas::axpy(&blas::uniform(1, shift.sigma), x, &mut y).unwrap();
            let error = distance(&y.save_lex().unwrap(), &b.save_lex().unwrap());
            assert!(error < 1e-9, "{}: {error:e}", shift.sigma);
        }
    }
}

/// Noise of a doublet equals the noise of its two slices; an operator with updated links equals a new one; impossible
/// arguments are refused.
#[test]
fn slices_updates_and_refusals() {
    for s in setups() {
        let params = doublets()[1];
        let op = ActionParams::from(params).create_in(&s.gauge, (Precision::F64, Recon::R12));
        let op = op.unwrap();
        let mut both = op.shape().field(2).unwrap();
        both.set_noise(Noise::Z4, 9, 3).unwrap();
        let (device, geometry) = (s.gauge.device(), &s.geometry);
        let mut flat = VectorField::new(device, geometry, Precision::F64, Subset::Full, 4).unwrap();
        flat.set_noise(Noise::Z4, 9, 6).unwrap();
        assert_eq!(both.save_lex().unwrap(), flat.save_lex().unwrap());
        let norms = blas::norm2(&flat).unwrap();
        for (k, n) in blas::norm2(&both).unwrap().into_iter().enumerate() {
            assert!((n / (norms[2 * k] + norms[2 * k + 1]) - 1.0).abs() < 1e-14);
        }

        let mut other = GaugeField::new(device, geometry, Precision::F64, Recon::R18).unwrap();
        other.set_near_unit(8, 0.3).unwrap();
        op.update(&other).unwrap();
        let fresh = ActionParams::from(params)
            .create_in(&Arc::new(other), (Precision::F64, Recon::R12))
            .unwrap();
        let [one, two] = [&op, &fresh].map(|op| {
            let schur = op.clone().schur(ALL[0]).unwrap();
            let mut x = schur.shape().field(1).unwrap();
            let mut y = schur.shape().field(1).unwrap();
            x.set_noise(Noise::Normal, 5, 0).unwrap();
            schur.apply(&mut y, &x).unwrap();
            y.save_lex().unwrap()
        });
        assert_eq!(one, two);

        let mut x = op.shape().field(1).unwrap();
        assert_eq!(op.apply(&mut x, &flat).unwrap_err().status, Status::FieldMismatch);
        assert!(op.coarsenable().is_none());
        let flavours = Components { slices: 2, ..Components::COLOUR };
        let laplace = LaplaceParams { components: flavours, directions: 7, mass2: 1.0 };
        let refused = ActionParams::from(laplace).create(s.gauge.clone());
        assert_eq!(refused.err().unwrap().status, Status::Unsupported);
        let plain = doublets()[0];
        for epsilon in [f64::NAN, 1e3] {
            let refused = DoubletParams { epsilon, ..plain }.check().unwrap_err();
            assert_eq!(refused.status, Status::BadParameter, "{refused}");
            assert!(refused.message().contains("epsilon"), "{refused}");
        }
    }
}

/// A solve with sloppy precision half iterates in single precision on CPUs whose kernels of 16 bits work on one
/// number at a time for this operator, and its report says so.
#[test]
fn half_where_it_is_fast() {
    let s = &setups()[0];
    let gpu = !s.gauge.device().is_cpu();
    let spinors = DiracParams { mass: 0.3, ..Default::default() };
    for (params, recon, fast) in [
        (ActionParams::from(spinors), Recon::R12, true),
        (ActionParams::from(spinors), Recon::R18, gpu),
        (ActionParams::from(doublets()[0]), Recon::R12, gpu),
    ] {
        let op = params.create_in(&s.gauge, (Precision::F64, Recon::R18)).unwrap();
        let solve = SolveParams {
            solver: SolverParams {
                kind: SolverKind::Cgnr,
                stop: Stop::at(1e-9),
                ..Default::default()
            },
            sloppy: Some((Precision::F16, recon)),
            ..Default::default()
        };
        let mut b = op.shape().field(1).unwrap();
        b.set_noise(Noise::Normal, 5, 0).unwrap();
        let mut x = b.like(Precision::F64).unwrap();
        let solver = DiracSolver::new(op, solve).unwrap();
        let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged);
        let expected = if fast { Precision::F16 } else { Precision::F32 };
        assert_eq!(report.iterated, (expected, recon));
    }
}
