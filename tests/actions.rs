//! Tests of the Laplacian as a quark action, of covariant shifts, and of the versions of links.

use crate::{common, reference};
use std::sync::Arc;

use common::{devices, distance, extents_on, over_ranks, Lex};
use plaq::compose::{DiracSolver, Schur, Solution, SolveParams};
use plaq::error::Status;
use plaq::fields::{
    blas, Components, GaugeField, Geometry, Noise, Precision, Recon, RhsOrder, Subset, VectorField,
};
use plaq::linop::{LinOp, Shape};
use plaq::operators::{
    ActionParams, CovariantShift, DiracParams, DoubletParams, LaplaceParams, QuarkAction,
};
use plaq::solvers::{no_monitor, slice_modes, EigenParams, Shift, SolverKind, SolverParams, Stop};
use reference::matrix::dag;
use reference::numbers::gauge_numbers;
use reference::rng::Rng;
use reference::{su3, Gauge, Lattice, C};

const BOTH: [Components; 2] = [Components::COLOUR, Components::SPINOR];

struct Setup {
    geometry: Arc<Geometry>,
    exact: Reference,
    gauge: GaugeField,
}

/// Reference for the Laplacian and for shifts, computed site by site on the host.
struct Reference {
    lat: Lattice,
    links: Gauge,
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
            all.push(Setup { geometry, exact: Reference { lat, links }, gauge });
        }
    }
    all
}

impl Setup {
    fn load(&self, components: Components, columns: &[&[C]]) -> VectorField {
        let shape = Shape {
            device: self.gauge.device().clone(),
            geometry: self.geometry.clone(),
            precision: Precision::F64,
            subset: Subset::Full,
            components,
            order: RhsOrder::Slowest,
        };
        let mut field = shape.field(columns.len()).unwrap();
        field.load_lex(&columns.iter().flat_map(|c| numbers(c)).collect::<Vec<_>>()).unwrap();
        field
    }
    fn random(&self, spins: usize, seed: u64) -> Vec<C> {
        let mut rng = Rng::new(seed);
        (0..self.exact.lat.volume() * spins * 3).map(|_| rng.gaussian()).collect()
    }
}

impl Reference {
    /// Computes one covariant step of v site by site. Steps 0 to 3 go forward in x y z t; step 7 - mu goes back in
    /// direction mu.
    fn step(&self, spins: usize, step: u8, v: &[C]) -> Vec<C> {
        let mut out = vec![C::new(0.0, 0.0); v.len()];
        for x in 0..self.lat.volume() {
            let (u, from) = if step < 4 {
                let mu = step as usize;
                (self.links[4 * x + mu], self.lat.forward(x, mu))
            } else {
                let mu = 7 - step as usize;
                let down = self.lat.backward(x, mu);
                (dag(&self.links[4 * down + mu]), down)
            };
            for spin in 0..spins {
                for i in 0..3 {
                    for k in 0..3 {
                        out[(x * spins + spin) * 3 + i] +=
                            u[i][k] * v[(from * spins + spin) * 3 + k];
                    }
                }
            }
        }
        out
    }
    /// The reference on one time slice alone, for operators without steps in time.
    fn slice(&self, t: usize) -> Reference {
        let [x, y, z, _] = self.lat.extents;
        let lat = Lattice::new([x, y, z, 1]);
        let links = self.links[4 * lat.volume() * t..][..4 * lat.volume()].to_vec();
        Reference { lat, links }
    }
    /// Computes (2 d + m^2) v minus the sum over the neighbours in d directions.
    fn laplace(&self, spins: usize, directions: i32, mass2: f64, v: &[C]) -> Vec<C> {
        let diagonal = 2.0 * f64::from(directions.count_ones()) + mass2;
        let mut out: Vec<C> = v.iter().map(|z| diagonal * z).collect();
        for mu in (0..4u8).filter(|mu| directions >> mu & 1 == 1) {
            for step in [mu, 7 - mu] {
                out.iter_mut().zip(self.step(spins, step, v)).for_each(|(o, z)| *o -= z);
            }
        }
        out
    }
}

fn numbers(v: &[C]) -> Vec<f64> {
    v.iter().flat_map(|z| [z.re, z.im]).collect()
}

fn complex(v: &[f64]) -> Vec<C> {
    v.chunks(2).map(|z| C::new(z[0], z[1])).collect()
}

/// The Laplacian is solved as any quark action is: with every Schur complement and without, in mixed precision, for
/// two right-hand sides at once.
#[test]
fn laplacians_are_solved() {
    for s in setups() {
        for (components, directions) in BOTH.into_iter().flat_map(|c| [(c, 7), (c, 15)]) {
            let (spins, mass2) = (components.spins, 0.4);
            let params = LaplaceParams { components, directions, mass2 };
            let links = Arc::new(s.gauge.to(Precision::F64, Recon::R12).unwrap());
            let op = ActionParams::from(params).create(links).unwrap();
            assert!((op.mass() - mass2.sqrt()).abs() < 1e-14);
            let v = s.random(spins, 3);
            let image = s.exact.laplace(spins, directions, mass2, &v);
            let b = s.load(components, &[&v, &image]);
            let schurs = [(0, true), (1, true), (0, false), (1, false)]
                .map(|(parity, symmetric)| Some(Schur { parity, symmetric }));
            for even_odd in schurs.into_iter().chain([None]) {
                for kind in [SolverKind::Cg, SolverKind::BiCgStab] {
                    let params = SolveParams {
                        solver: SolverParams { kind, stop: Stop::at(1e-11), ..Default::default() },
                        even_odd,
                        sloppy: Some((Precision::F32, Recon::R12)),
                        ..Default::default()
                    };
                    let solver = DiracSolver::new(op.clone(), params).unwrap();
                    let mut x = b.like(Precision::F64).unwrap();
                    let report = solver.solve(&mut x, &b, &mut no_monitor).unwrap().solver;
                    let what = format!("{components} {directions} {even_odd:?} {kind}");
                    assert!(report.converged, "{what}: {report:?}");
                    let found = complex(&x.save_lex().unwrap());
                    let (first, second) = found.split_at(v.len());
                    let image = numbers(&s.exact.laplace(spins, directions, mass2, first));
                    // The condition number (4 d + m^2) / m^2, at most 41, multiplies the residual.
                    assert!(distance(&image, &numbers(&v)) < 1e-9, "{what}");
                    assert!(distance(&numbers(second), &numbers(&v)) < 1e-9, "{what}");
                }
            }
        }
    }
}

/// The systems (-D^2 + m^2 + sigma) x = b are solved for several sigma from one Krylov space.
#[test]
fn laplacians_take_shifts() {
    for s in setups() {
        let (components, directions, mass2) = (Components::COLOUR, 7, 0.3);
        let params = LaplaceParams { components, directions, mass2 };
        let links = Arc::new(s.gauge.to(Precision::F64, Recon::R12).unwrap());
        let op = ActionParams::from(params).create(links).unwrap();
        let params = SolveParams { solution: Solution::Mat, ..Default::default() };
        let solver = DiracSolver::new(op, params).unwrap();
        let v = s.random(1, 5);
        let b = s.load(components, &[&v]);
        let shifts = [0.0, 0.2, 1.5].map(|sigma| Shift { sigma, tol: 1e-11, heavy_quark: 0.0 });
        let mut xs: Vec<VectorField> =
            shifts.iter().map(|_| b.like(Precision::F64).unwrap()).collect();
        let (report, _) = solver.multishift(&shifts, &mut xs, &b, &mut no_monitor).unwrap();
        assert!(report.solver.converged, "{report:?}");
        for (shift, x) in shifts.iter().zip(&xs) {
            let x = complex(&x.save_lex().unwrap());
            let image = numbers(&s.exact.laplace(1, directions, mass2 + shift.sigma, &x));
            assert!(distance(&image, &numbers(&v)) < 1e-9, "{}", shift.sigma);
        }
    }
}

/// Number of eigenvalues of a hermitian matrix A below x, which is the number of negative pivots of A - x
/// (Sylvester).
fn eigenvalues_below(mut a: Vec<Vec<C>>, x: f64) -> usize {
    let n = a.len();
    (0..n).for_each(|i| a[i][i] -= x);
    let mut below = 0;
    for k in 0..n {
        let pivot = a[k][k].re;
        below += (pivot < 0.0) as usize;
        let row = a[k].clone();
        for i in k + 1..n {
            let f = a[i][k] / pivot;
            (k..n).for_each(|j| a[i][j] -= f * row[j]);
        }
    }
    below
}

/// The lowest modes of the three-dimensional Laplacian on each time slice are eigenvectors of the reference and
/// orthonormal, and none is missing.
#[test]
fn modes_of_time_slices() {
    for s in setups() {
        let (count, directions, mass2) = (7, 7, 0.2);
        let params = LaplaceParams { components: Components::COLOUR, directions, mass2 };
        for (precision, tol) in [(Precision::F64, 1e-10), (Precision::F32, 2e-6)] {
            let links = Arc::new(s.gauge.to(precision, Recon::R12).unwrap());
            let op = ActionParams::from(params).create(links).unwrap();
            assert!(op.within_time_slices());
            let wanted = EigenParams { count, tol, ..Default::default() };
            let (v, report) = slice_modes(&*op, None, &wanted, &mut no_monitor).unwrap();
            assert!(report.converged, "{report:?}");
            let [x, y, z, times] = s.exact.lat.extents;
            let (volume, epsilon) = (x * y * z, 20.0 * tol);
            assert_eq!((v.nrhs(), report.values.len()), (count, count * times));
            let all = complex(&v.save_lex().unwrap());
            let modes: Vec<&[C]> = all.chunks(3 * s.exact.lat.volume()).collect();
            let images: Vec<Vec<C>> =
                modes.iter().map(|v| s.exact.laplace(1, directions, mass2, v)).collect();
            for t in 0..times {
                let slice = 3 * volume * t..3 * volume * (t + 1);
                let values = &report.values[count * t..count * (t + 1)];
                for (k, lambda) in values.iter().enumerate() {
                    let v = &modes[k][slice.clone()];
                    let pairs = images[k][slice.clone()].iter().zip(v);
                    let residual: f64 = pairs.map(|(m, v)| (m - lambda * v).norm_sqr()).sum();
                    assert!(residual.sqrt() < 20.0 * epsilon, "{t} {k}: {:e}", residual.sqrt());
                    for (j, other) in modes.iter().enumerate() {
                        let w = &other[slice.clone()];
                        let dot: C = v.iter().zip(w).map(|(a, b)| a.conj() * b).sum();
                        let unit = if j == k { 1.0 } else { 0.0 };
                        assert!((dot - unit).norm() < epsilon, "{t} {k} {j}: {dot}");
                    }
                }
                // The exact matrix of this slice, column by column.
                if precision == Precision::F32 || t % 3 != 0 {
                    continue;
                }
                let exact = s.exact.slice(t);
                let column = |k: usize| {
                    let mut e = vec![C::new(0.0, 0.0); 3 * volume];
                    e[k] = C::new(1.0, 0.0);
                    exact.laplace(1, directions, mass2, &e)
                };
                let dense: Vec<Vec<C>> = (0..3 * volume).map(column).collect();
                let last = values[count - 1];
                let below = eigenvalues_below(dense.clone(), last * (1.0 - 1e-7));
                let within = eigenvalues_below(dense, last * (1.0 + 1e-7));
                assert!(below < count && within >= count, "{t}: {below} {within} {values:?}");
            }
        }
    }
}

/// Shifts along paths move the value at a path's end to its start; the adjoint moves it the other way.
#[test]
fn shifts_follow_paths() {
    for s in setups() {
        for components in BOTH {
            let spins = components.spins;
            let (v, w) = (s.random(spins, 1), s.random(spins, 2));
            let links = Arc::new(s.gauge.to(Precision::F64, Recon::R12).unwrap());
            let inp = s.load(components, &[&v, &w]);
            for path in [vec![0], vec![3], vec![7], vec![4], vec![0, 6, 3], vec![2, 2, 4, 7, 1]] {
                let op = CovariantShift::new(links.clone(), components, path.clone()).unwrap();
                let walk = |v: &[C], path: &[u8]| {
                    path.iter().rev().fold(v.to_vec(), |v, &step| s.exact.step(spins, step, &v))
                };
                let back: Vec<u8> = path.iter().rev().map(|step| 7 - step).collect();
                let mut out = inp.like(Precision::F64).unwrap();
                for (dagger, path) in [(false, &path), (true, &back)] {
                    match dagger {
                        false => op.apply(&mut out, &inp).unwrap(),
                        true => op.apply_dagger(&mut out, &inp).unwrap(),
                    }
                    let want: Vec<f64> =
                        [&v, &w].iter().flat_map(|v| numbers(&walk(v, path))).collect();
                    let found = distance(&out.save_lex().unwrap(), &want);
                    assert!(found < 1e-14, "{components} {path:?}: {found:e}");
                }
            }
            for path in [vec![], vec![8]] {
                let refused = CovariantShift::new(links.clone(), components, path);
                assert_eq!(refused.err().unwrap().status, Status::BadParameter);
            }
        }
    }
}

/// Every change gives links a new version, copies keep the version, and operators and their copies report the version
/// of their links.
#[test]
fn links_know_their_version() {
    for device in devices() {
        let geometry = common::geometry(over_ranks([4, 4, 4, 8]), &device);
        let mut links = GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
        let mut seen = vec![links.version()];
        let mut another = |links: &GaugeField| {
            assert!(!seen.contains(&links.version()), "a change without a new version");
            seen.push(links.version());
        };
        links.set_near_unit(1, 0.3).unwrap();
        another(&links);
        links.set_near_unit(1, 0.3).unwrap();
        another(&links);
        links.reunitarise().unwrap();
        another(&links);
        let copy = links.to(Precision::F32, Recon::R12).unwrap();
        assert_eq!(copy.version(), links.version());

        // Shared copies of links are one field, which follows changes of the links.
        let one = links.shared_copy(Precision::F32, Recon::R12).unwrap();
        let two = links.shared_copy(Precision::F32, Recon::R12).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
        links.set_near_unit(2, 0.3).unwrap();
        another(&links);
        assert_ne!(one.version(), links.version());
        links.shared_copy(Precision::F32, Recon::R12).unwrap();
        assert_eq!(one.version(), links.version());

        // After an update an operator and its shared copy are on the new links; an update to the same links changes
        // nothing.
        let params = DiracParams { csw: 1.0, csw_t: 1.0, ..Default::default() }.with_kappa(0.12);
        let other = Arc::new(links.to(Precision::F64, Recon::R12).unwrap());
        let op = ActionParams::from(params).create(other).unwrap();
        let half = op.shared_copy((Precision::F32, Recon::R12)).unwrap();
        let mut b = op.shape().field(1).unwrap();
        b.set_noise(plaq::fields::Noise::Normal, 3, 0).unwrap();
        let image = |op: &dyn QuarkAction| {
            let mut source = op.shape().field(1).unwrap();
            blas::copy(&mut source, &b).unwrap();
            let mut out = op.shape().field(1).unwrap();
            op.apply(&mut out, &source).unwrap();
            out.save_lex().unwrap()
        };
        links.set_near_unit(3, 0.3).unwrap();
        op.update(&links).unwrap();
        assert_eq!(op.version().links, links.version());
        op.shared_copy((Precision::F32, Recon::R12)).unwrap();
        let fresh = ActionParams::from(params)
            .create(Arc::new(links.to(Precision::F64, Recon::R12).unwrap()))
            .unwrap();
        assert!(distance(&image(&*op), &image(&*fresh)) < 1e-13);
        assert!(distance(&image(&*half), &image(&*fresh)) < 1e-5);
        let before = op.version();
        op.update(&links).unwrap();
        assert_eq!(op.version(), before);
    }
}

/// The residual of a Schur complement that is computed from the other parity is source minus image, for one
/// right-hand side and several.
#[test]
fn residuals_by_way_of_the_other_parity() {
    let phase = C::from_polar(1.0, 0.4);
    let plain =
        DiracParams { mass: 0.3, boundary: [phase, C::ONE, C::ONE, -C::ONE], ..Default::default() };
    let clover = DiracParams { csw: 1.1, csw_t: 0.9, hop: [0.7, 0.8, 0.9, 1.0], ..plain };
    let twisted = DiracParams { mu: 0.35, ..clover };
    let every: Vec<(Schur, bool, usize)> = [(0, true), (1, true), (0, false), (1, false)]
        .into_iter()
        .flat_map(|(parity, symmetric)| {
            let form = Schur { parity, symmetric };
            [(form, false, 1), (form, true, 1), (form, false, 3), (form, true, 3)]
        })
        .collect();
    // On a GPU, where each variant is compiled, some are tested.
    let few: Vec<_> = every
        .iter()
        .copied()
        .filter(|(form, _, n)| (form.parity == 0) == form.symmetric && *n == 1)
        .collect();
    let mut setups = setups();
    if setups.iter().any(|s| !s.gauge.device().is_cpu()) {
        setups.truncate(1);
    }
    for s in setups {
        let actions: [(ActionParams, &Vec<_>); 6] = [
            (plain.into(), &few),
            (clover.into(), &every),
            (DiracParams { mu: 0.35, ..plain }.into(), &few),
            (twisted.into(), &few),
            (DoubletParams { wilson: twisted, epsilon: 0.25 }.into(), &few),
            (
                LaplaceParams { components: Components::COLOUR, directions: 15, mass2: 0.7 }.into(),
                &few,
            ),
        ];
        let gauge = Arc::new(s.gauge);
        for (params, cases) in actions {
            let op = params.create(gauge.clone()).unwrap();
            for &(form, dagger, n) in cases {
                let what = format!("{params:?} {form} {dagger} {n}");
                let schur = op.clone().schur(form).unwrap();
                let mut b = op.shape().field(n).unwrap();
                b.set_noise(Noise::Normal, 5, 0).unwrap();
                let half = || schur.shape().field(n).unwrap();
                let (mut x, mut source, mut r, mut image) = (half(), half(), half(), half());
                x.set_noise(Noise::Normal, 6, 0).unwrap();
                schur.prepare(&mut source, &b, dagger).unwrap();
                match dagger {
                    true => schur.apply_dagger(&mut image, &x).unwrap(),
                    false => schur.apply(&mut image, &x).unwrap(),
                }
                let expected = blas::uniform(n, -1.0);
                blas::axpby(&blas::uniform(n, 1.0), &source, &expected, &mut image).unwrap();
                schur.residual(&mut r, &x, &mut source, &b, dagger).unwrap();
                blas::axpy(&blas::uniform(n, -1.0), &image, &mut r).unwrap();
                for (d, v) in blas::norm2(&r).unwrap().iter().zip(blas::norm2(&image).unwrap()) {
                    assert!(d / v < 1e-30, "{what}: {:e}", (d / v).sqrt());
                }
            }
        }
    }
}
