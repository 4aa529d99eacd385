//! The reference for programs in C and Python, by the functions that `reference.h` declares.

use std::slice::{from_raw_parts, from_raw_parts_mut};

use super::dirac::{clover_blocks, hop, site_product, Block, Dirac, Params};
use super::gamma::{gamma5, gammas, Basis, Gamma};
use super::hmc::path;
use super::matrix::{inverse, Matrix};
use super::observables::{charge_density, field_strength, plaquette, polyakov_loop};
use super::smearing::{in_turn, smeared, smeared_spinor, Rule};
use super::solve::cgne;
use super::spinor::axpy;
use super::{Field, Lattice, Spinor, C};

/// The struct `reference_quark` of C.
#[repr(C)]
struct Quark {
    mass: f64,
    csw: f64,
    csw_t: f64,
    mu: f64,
    hop: [f64; 4],
    boundary: [C; 4],
    exponential: i32,
}

impl Quark {
    fn params(&self) -> Params {
        Params {
            mass: self.mass,
            csw: self.csw,
            csw_t: self.csw_t,
            exponential: self.exponential != 0,
            mu: self.mu,
            hop: self.hop,
            boundary: self.boundary,
        }
    }
}

fn lattice(extents: &[i32; 4]) -> Lattice {
    Lattice::new(extents.map(|l| usize::try_from(l).expect("a positive extent")))
}

// SAFETY of the functions below: a caller passes arrays of the lengths that `reference.h` states, and outputs that
// overlap no other argument.

/// Copies an array of C.
unsafe fn copied<T: Clone>(data: *const T, count: usize) -> Vec<T> {
    from_raw_parts(data, count).to_vec()
}

/// Writes into an array of C.
unsafe fn write<T: Clone>(data: *mut T, values: &[T]) {
    from_raw_parts_mut(data, values.len()).clone_from_slice(values);
}

#[no_mangle]
unsafe extern "C" fn reference_gammas(gamma: *mut Gamma) {
    write(gamma, &gammas(Basis::DeGrandRossi));
    write(gamma.add(4), &[gamma5(Basis::DeGrandRossi)]);
}

#[no_mangle]
unsafe extern "C" fn reference_clover(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    csw: f64,
    blocks: *mut [Block; 2],
) {
    let lat = lattice(extents);
    let links = copied(links, 4 * lat.volume());
    let all = (0..lat.volume()).map(|x| clover_blocks(lat, &links, csw, csw, x));
    write(blocks, &all.collect::<Vec<_>>());
}

#[no_mangle]
unsafe extern "C" fn reference_inverse(count: usize, blocks: *const Block, out: *mut Block) {
    let all: Vec<Block> = copied(blocks, count).iter().map(inverse).collect();
    write(out, &all);
}

#[no_mangle]
unsafe extern "C" fn reference_apply(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    blocks: *const [Block; 2],
    kappa: f64,
    psi: *const Spinor,
    out: *mut Spinor,
) {
    let lat = lattice(extents);
    let psi: Field = copied(psi, lat.volume());
    let mut image = site_product(from_raw_parts(blocks, lat.volume()), false, &psi);
    if kappa != 0.0 {
        let links = copied(links, 4 * lat.volume());
        let params = Params { boundary: [C::ONE; 4], ..Params::wilson(0.0) };
        image = axpy(C::new(-kappa, 0.0), &hop(lat, &links, &params, false, &psi), &image);
    }
    write(out, &image);
}

#[no_mangle]
unsafe extern "C" fn reference_dirac(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    quark: &Quark,
    psi: *const Spinor,
    out: *mut Spinor,
) {
    let lat = lattice(extents);
    let links = copied(links, 4 * lat.volume());
    let dirac = Dirac::new(lat, &links, quark.params());
    write(out, &dirac.apply(&copied(psi, lat.volume())));
}

#[no_mangle]
unsafe extern "C" fn reference_solve(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    quark: &Quark,
    tol: f64,
    columns: usize,
    b: *const Spinor,
    x: *mut Spinor,
) {
    let lat = lattice(extents);
    let links = copied(links, 4 * lat.volume());
    let dirac = Dirac::new(lat, &links, quark.params());
    for at in (0..columns).map(|k| k * lat.volume()) {
        let b = copied(b.add(at), lat.volume());
        let solved = cgne(|v| dirac.apply(v), |v| dirac.apply_dag(v), &b, tol);
        assert!(solved.residual <= 100.0 * tol.max(1e-15), "residual {:e}", solved.residual);
        write(x.add(at), &solved.x);
    }
}

#[no_mangle]
unsafe extern "C" fn reference_plaquettes(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    spatial: &mut f64,
    temporal: &mut f64,
) {
    let lat = lattice(extents);
    let found = plaquette(lat, &copied(links, 4 * lat.volume()));
    (*spatial, *temporal) = (found.spatial, found.temporal);
}

#[no_mangle]
unsafe extern "C" fn reference_polyakov(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    loops: &mut C,
) {
    let lat = lattice(extents);
    *loops = polyakov_loop(lat, &copied(links, 4 * lat.volume()));
}

#[no_mangle]
unsafe extern "C" fn reference_path(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    site: i32,
    steps: *const i32,
    length: usize,
    product: *mut Matrix<3>,
) -> i32 {
    let lat = lattice(extents);
    let start = usize::try_from(site).expect("a site");
    let signed = |&s: &i32| if s < 4 { s } else { s - 8 };
    let steps: Vec<i32> = from_raw_parts(steps, length).iter().map(signed).collect();
    write(product, &[path(lat, from_raw_parts(links, 4 * lat.volume()), start, &steps)]);
    let step = |x: usize, &s: &i32| match s {
        0.. => lat.forward(x, s as usize),
        _ => lat.backward(x, (-1 - s) as usize),
    };
    steps.iter().fold(start, step) as i32
}

#[no_mangle]
unsafe extern "C" fn reference_field_strength(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    mu: i32,
    nu: i32,
    f: *mut Matrix<3>,
) {
    let lat = lattice(extents);
    let links = copied(links, 4 * lat.volume());
    let at = |x| field_strength(lat, &links, x, mu as usize, nu as usize);
    write(f, &(0..lat.volume()).map(at).collect::<Vec<_>>());
}

#[no_mangle]
unsafe extern "C" fn reference_charge(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    density: *mut f64,
) {
    let lat = lattice(extents);
    write(density, &charge_density(lat, &copied(links, 4 * lat.volume()), true));
}

#[no_mangle]
unsafe extern "C" fn reference_smear(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    rule: i32,
    alpha: &[f64; 3],
    directions: i32,
    out: *mut Matrix<3>,
) {
    let lat = lattice(extents);
    let rule = match rule {
        0 => Rule::Ape { alpha: alpha[0] },
        1 => Rule::Stout { rho: alpha[0], epsilon: 1.0 },
        2 => Rule::Hyp { alpha: *alpha },
        3 => Rule::Stout { rho: alpha[0], epsilon: alpha[1] },
        _ => panic!("no rule {rule}"),
    };
    write(out, &smeared(lat, &copied(links, 4 * lat.volume()), rule, directions, &in_turn));
}

#[no_mangle]
unsafe extern "C" fn reference_smear_spinor(
    extents: &[i32; 4],
    links: *const Matrix<3>,
    alpha: f64,
    steps: usize,
    directions: i32,
    psi: *const Spinor,
    out: *mut Spinor,
) {
    let lat = lattice(extents);
    let (links, psi) = (copied(links, 4 * lat.volume()), copied(psi, lat.volume()));
    write(out, &smeared_spinor(lat, &links, alpha, steps, directions, &psi));
}
