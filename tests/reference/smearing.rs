//! Reference smearing of links and of spinors.

use super::gamma::mul_colour;
use super::matrix::{add, dag, det, inverse, mul, one, product, scale, sub, trace, zero, Matrix};
use super::su3::exp_i;
use super::{Field, Gauge, Lattice, C};

type Link = Matrix<3>;
/// A function that gives the link of a direction and a site.
type Links<'a> = dyn Fn(usize, usize) -> Link + 'a;

/// Sum of the two staples of a link in the (mu, nu) plane, with different links as sides and tops.
fn staples(lat: Lattice, side: &Links, top: &Links, x: usize, mu: usize, nu: usize) -> Link {
    let (xm, up, down) = (lat.forward(x, mu), lat.forward(x, nu), lat.backward(x, nu));
    let corner = lat.forward(down, mu);
    let over = product(&[&side(nu, x), &top(mu, up), &dag(&side(nu, xm))]);
    let under = product(&[&dag(&side(nu, down)), &top(mu, down), &side(nu, corner)]);
    add(&over, &under)
}

/// The product of links along steps (direction, forward) from x.
fn path(lat: Lattice, link: &Links, mut x: usize, steps: &[(usize, bool)]) -> Link {
    let mut line = one::<3>();
    for &(mu, forward) in steps {
        if !forward {
            x = lat.backward(x, mu);
        }
        let u = link(mu, x);
        line = mul(&line, &if forward { u } else { dag(&u) });
        if forward {
            x = lat.forward(x, mu);
        }
    }
    line
}

/// Sum of the products of five links around the six rectangles of the (mu, nu) plane that contain a link.
fn rectangles(lat: Lattice, link: &Links, x: usize, mu: usize, nu: usize) -> Link {
    let (ahead, back) = ((mu, true), (mu, false));
    [((nu, true), (nu, false)), ((nu, false), (nu, true))]
        .iter()
        .flat_map(|&(out, home)| {
            [
                [out, out, ahead, home, home],
                [out, ahead, ahead, home, back],
                [back, out, ahead, ahead, home],
            ]
        })
        .fold(zero(), |sum, steps| add(&sum, &path(lat, link, x, &steps)))
}

fn size(m: &Link) -> f64 {
    trace(&mul(&dag(m), m)).re.sqrt()
}

/// The unitary factor of V by the inverse square root of V^dagger V, in the iteration of Denman and Beavers.
fn project(v: &Link) -> Link {
    let (mut y, mut z) = (mul(&dag(v), v), one::<3>());
    // Convergence is quadratic until only rounding errors are left.
    let mut step = 1.0;
    while step > 1e-15 {
        let half = C::new(0.5, 0.0);
        let next = scale(half, &add(&y, &inverse(&z)));
        z = scale(half, &add(&z, &inverse(&y)));
        step = size(&sub(&next, &y)) / size(&next);
        y = next;
    }
    let u = mul(v, &z);
    let det = det(&u);
    scale(C::from_polar(1.0, -det.arg() / 3.0), &u)
}

fn average(u: &Link, sum: &Link, alpha: f64, weight: f64) -> Link {
    let kept = scale(C::new(1.0 - alpha, 0.0), u);
    project(&add(&kept, &scale(C::new(weight, 0.0), sum)))
}

/// The rule by which links are smeared.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The projection of (1 - alpha) U + alpha / (2 (d - 1)) (sum of staples) onto SU(3), for d directions (APE).
    Ape { alpha: f64 },
    /// exp(i Q) U, i Q the traceless antihermitian part of rho times (5 - 2 epsilon) / 3 the staples minus
    /// (1 - epsilon) / 12 those of 1 x 2 and 2 x 1 rectangles; epsilon = 1 is stout smearing.
    Stout { rho: f64, epsilon: f64 },
    /// Three levels of projected averages inside of hypercubes (HYP); for three directions two levels inside of cubes,
    /// with `alpha[1]` and `alpha[2]`.
    Hyp { alpha: [f64; 3] },
}

/// A function that calls another one for every number below a given one and returns the links in this order.
pub type Each<'a> = dyn Fn(usize, &dyn Fn(usize) -> Link) -> Gauge + 'a;

/// Computes one link after the other.
pub fn in_turn(n: usize, link: &dyn Fn(usize) -> Link) -> Gauge {
    (0..n).map(link).collect()
}

/// The links after one step of smearing in the directions of a mask, of which bit mu is direction mu.
pub fn smeared(lat: Lattice, links: &Gauge, rule: Rule, directions: i32, links_of: &Each) -> Gauge {
    let plain = |mu: usize, x: usize| links[4 * x + mu];
    let inside = |mu: usize| directions >> mu & 1 == 1;
    let each = |f: &dyn Fn(usize, usize) -> Link| links_of(4 * lat.volume(), &|i| f(i % 4, i / 4));
    match rule {
        Rule::Ape { alpha } => {
            let weight = alpha / (2.0 * (directions.count_ones() - 1) as f64);
            each(&|mu, x| {
                if !inside(mu) {
                    return plain(mu, x);
                }
                let planes = (0..4).filter(|&nu| nu != mu && inside(nu));
                let sum =
                    planes.fold(zero(), |s, nu| add(&s, &staples(lat, &plain, &plain, x, mu, nu)));
                average(&plain(mu, x), &sum, alpha, weight)
            })
        }
        Rule::Stout { rho, epsilon } => {
            let times = |c: f64, m: &Link| scale(C::new(c, 0.0), m);
            each(&|mu, x| {
                let u = plain(mu, x);
                if !inside(mu) {
                    return u;
                }
                let planes = (0..4).filter(|&nu| nu != mu && inside(nu));
                let sum = planes.fold(zero(), |s, nu| {
                    let near = staples(lat, &plain, &plain, x, mu, nu);
                    let s = add(&s, &times((5.0 - 2.0 * epsilon) / 3.0, &near));
                    let far = rectangles(lat, &plain, x, mu, nu);
                    add(&s, &times((epsilon - 1.0) / 12.0, &far))
                });
                let omega = times(rho, &mul(&sum, &dag(&u)));
                // The exponent Q = i/2 (Omega^dagger - Omega), less its trace.
                let q = sub(&dag(&omega), &omega);
                let q = scale(C::new(0.0, 0.5), &q);
                let trace = scale(trace(&q) / 3.0, &one());
                mul(&exp_i(&sub(&q, &trace)), &u)
            })
        }
        // HYP smearing within cubes, for directions of a subspace: links are averaged with staples of links that were
        // averaged with staples in the third direction.
        Rule::Hyp { alpha } if directions != 15 => {
            let others = |mu: usize| (0..4).filter(move |&nu| nu != mu && inside(nu));
            let mut first = vec![vec![]; 16];
            for (mu, eta) in (0..4).flat_map(|mu| others(mu).map(move |eta| (mu, eta))) {
                first[4 * mu + eta] = links_of(lat.volume(), &|x| {
                    let sum = staples(lat, &plain, &plain, x, mu, eta);
                    average(&plain(mu, x), &sum, alpha[2], alpha[2] / 2.0)
                });
            }
            each(&|mu, x| {
                if !inside(mu) {
                    return plain(mu, x);
                }
                let sum = others(mu).fold(zero(), |s, nu| {
                    let third = others(mu).find(|&rho| rho != nu).unwrap();
                    let link = |d: usize, x: usize| -> Link { first[4 * d + third][x] };
                    add(&s, &staples(lat, &link, &link, x, mu, nu))
                });
                average(&plain(mu, x), &sum, alpha[1], alpha[1] / 4.0)
            })
        }
        Rule::Hyp { alpha } => {
            // first[(mu, eta)]: links mu with staples in direction eta only; second[(mu, nu)]: in all directions but
            // nu.
            let mut first = vec![vec![]; 16];
            for (mu, eta) in (0..16).map(|i| (i / 4, i % 4)).filter(|(mu, eta)| mu != eta) {
                first[4 * mu + eta] = links_of(lat.volume(), &|x| {
                    let sum = staples(lat, &plain, &plain, x, mu, eta);
                    average(&plain(mu, x), &sum, alpha[2], alpha[2] / 2.0)
                });
            }
            let mut second = vec![vec![]; 16];
            for (mu, nu) in (0..16).map(|i| (i / 4, i % 4)).filter(|(mu, nu)| mu != nu) {
                second[4 * mu + nu] = links_of(lat.volume(), &|x| {
                    let others = (0..4).filter(|&rho| rho != mu && rho != nu);
                    let sum = others.fold(zero(), |s, rho| {
                        let eta = 6 - mu - nu - rho;
                        let link = |d: usize, x: usize| -> Link { first[4 * d + eta][x] };
                        add(&s, &staples(lat, &link, &link, x, mu, rho))
                    });
                    average(&plain(mu, x), &sum, alpha[1], alpha[1] / 4.0)
                });
            }
            each(&|mu, x| {
                let sum = (0..4).filter(|&nu| nu != mu).fold(zero(), |s, nu| {
                    let side = |_: usize, x: usize| -> Link { second[4 * nu + mu][x] };
                    let top = |_: usize, x: usize| -> Link { second[4 * mu + nu][x] };
                    add(&s, &staples(lat, &side, &top, x, mu, nu))
                });
                average(&plain(mu, x), &sum, alpha[0], alpha[0] / 6.0)
            })
        }
    }
}

/// Computes [(1 + alpha sum_mu (U_mu + U_-mu)) / (1 + 2 d alpha)]^steps psi, the sum over the steps forward and back in
/// the d directions of a mask: Gaussian smearing.
pub fn smeared_spinor(
    lat: Lattice,
    links: &Gauge,
    alpha: f64,
    steps: usize,
    directions: i32,
    psi: &Field,
) -> Field {
    let norm = 1.0 / (1.0 + 2.0 * f64::from(directions.count_ones()) * alpha);
    let mut now = psi.clone();
    for _ in 0..steps {
        let mut next = now.clone();
        for (x, to) in next.iter_mut().enumerate() {
            for mu in (0..4).filter(|mu| directions >> mu & 1 == 1) {
                let (up, down) = (lat.forward(x, mu), lat.backward(x, mu));
                let ahead = mul_colour(&links[4 * x + mu], &now[up]);
                let behind = mul_colour(&dag(&links[4 * down + mu]), &now[down]);
                for i in 0..12 {
                    to[i / 3][i % 3] += alpha * (ahead[i / 3][i % 3] + behind[i / 3][i % 3]);
                }
            }
            *to = to.map(|row| row.map(|z| norm * z));
        }
        now = next;
    }
    now
}
