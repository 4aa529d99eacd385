//! Reference for lattices with boundaries in time: links, plaquettes, field strengths, gauge actions, gradient flow
//! and quarks, from paths of links that exist.

use super::dirac::Block;
use super::gamma::{gammas, mul_colour, mul_spin, one_plus, sigma, Basis};
use super::hmc::{algebra, generator};
use super::matrix::{add, dag, exponential, mul, one, scale, sub, trace, zero, Matrix};
use super::su3::exp_i;
use super::{Field, Gauge, Lattice, Spinor, C};

/// Links with boundaries in time on slices 0 to T; slice T is stored if the upper boundary is open.
pub struct Bounded<'a> {
    pub lat: Lattice,
    pub links: &'a Gauge,
    /// Whether slice 0 is open; otherwise its spatial links are fixed.
    pub open_below: bool,
    /// `None` if the last stored slice is slice T; otherwise the angles of the fixed spatial links on slice T, one
    /// behind it.
    pub above: Option<[f64; 3]>,
}

/// The matrix exp(i diag(angles) / l).
pub fn diagonal(angles: [f64; 3], l: usize) -> Matrix<3> {
    let mut u = zero();
    for (i, angle) in angles.into_iter().enumerate() {
        u[i][i] = C::from_polar(1.0, angle / l as f64);
    }
    u
}

const PLANES: [(usize, usize); 6] = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)];

/// Coefficients of a gauge action with boundaries.
pub struct Action {
    pub beta: f64,
    pub c1: f64,
    pub cg: [f64; 2],
}

impl Bounded<'_> {
    pub fn slices(&self) -> usize {
        self.lat.extents[3]
    }
    /// Number T of the last slice.
    pub fn last(&self) -> usize {
        self.slices() - self.above.is_none() as usize
    }
    /// The link of direction mu at a site of slice 0 to T.
    fn link(&self, x: [usize; 4], mu: usize) -> Option<Matrix<3>> {
        match (x[3] > self.last(), x[3] == self.last(), mu) {
            (true, ..) | (_, true, 3) => None,
            (_, true, _) if self.above.is_some() => {
                self.above.map(|angles| diagonal(angles, self.lat.extents[mu]))
            }
            _ => Some(self.links[self.lat.lex(x) * 4 + mu]),
        }
    }
    fn step(&self, x: [usize; 4], mu: usize, forward: bool) -> Option<[usize; 4]> {
        let mut y = x;
        let l = self.lat.extents[mu];
        y[mu] = match (mu, forward) {
            (3, true) => x[3] + 1,
            (3, false) => x[3].checked_sub(1)?,
            (_, true) => (x[mu] + 1) % l,
            (_, false) => (x[mu] + l - 1) % l,
        };
        Some(y)
    }
    /// The ordered product of links along a path, or `None` if one of them does not exist; steps are as for
    /// `hmc::path`.
    pub fn path(&self, x: [usize; 4], steps: &[i32]) -> Option<Matrix<3>> {
        let (mut at, mut product) = (x, one());
        for &s in steps {
            if s >= 0 {
                product = mul(&product, &self.link(at, s as usize)?);
                at = self.step(at, s as usize, true)?;
            } else {
                let mu = (-1 - s) as usize;
                at = self.step(at, mu, false)?;
                product = mul(&product, &dag(&self.link(at, mu)?));
            }
        }
        Some(product)
    }
    /// Coordinates of all sites of the slices 0 to T.
    fn sites(&self) -> Vec<[usize; 4]> {
        let [x, y, z, _] = self.lat.extents;
        let all = Lattice::new([x, y, z, self.last() + 1]);
        (0..all.volume()).map(|lex| all.coords(lex)).collect()
    }
    pub fn is_boundary(&self, t: usize) -> bool {
        t == 0 || t == self.last()
    }
    /// Whether a link is updated, that is, exists and is not fixed.
    pub fn is_active(&self, lex: usize, mu: usize) -> bool {
        let t = self.lat.coords(lex)[3];
        !(mu == 3 && t == self.last()) && (mu == 3 || t > 0 || self.open_below)
    }

    /// Sums of Re tr P: spatial plaquettes with their weights, plaquettes with t, and all with weight 1.
    pub fn plaquettes(&self) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for x in self.sites() {
            for (mu, nu) in PLANES {
                let (a, b) = (mu as i32, nu as i32);
                let Some(p) = self.path(x, &[a, b, -1 - a, -1 - b]) else { continue };
                let p = trace(&p).re;
                let half = if self.is_boundary(x[3]) { 0.5 } else { 1.0 };
                match nu {
                    3 => sums[1] += p,
                    _ => sums[0] += half * p,
                }
                sums[2] += p;
            }
        }
        sums
    }

    /// Energy E of the plaquettes on every stored slice: 2 Re tr (1 - P), with spatial plaquettes of boundary slices
    /// by half, and plaquettes between two slices by half to each.
    pub fn plaquette_energy(&self) -> Vec<f64> {
        let mut e = vec![0.0; self.last() + 1];
        for x in self.sites() {
            for (mu, nu) in PLANES {
                let (a, b) = (mu as i32, nu as i32);
                let Some(p) = self.path(x, &[a, b, -1 - a, -1 - b]) else { continue };
                let p = 2.0 * (3.0 - trace(&p).re);
                if nu == 3 {
                    e[x[3]] += 0.5 * p;
                    e[x[3] + 1] += 0.5 * p;
                } else {
                    e[x[3]] += if self.is_boundary(x[3]) { 0.5 * p } else { p };
                }
            }
        }
        e.truncate(self.slices());
        e
    }

    /// The field strength (Q - Q^dagger) / 8 with Q the sum of the four leaves; zero on boundary slices.
    pub fn field_strength(&self, x: [usize; 4], mu: usize, nu: usize) -> Matrix<3> {
        if self.is_boundary(x[3]) {
            return zero();
        }
        let (a, b) = (mu as i32, nu as i32);
        let (ra, rb) = (-1 - a, -1 - b);
        let leaves = [[a, b, ra, rb], [b, ra, rb, a], [ra, rb, a, b], [rb, a, b, ra]];
        let all = leaves.map(|leaf| self.path(x, &leaf).expect("a leaf inside"));
        let q = all.iter().fold(zero(), |sum, leaf| add(&sum, leaf));
        scale(C::new(0.125, 0.0), &sub(&q, &dag(&q)))
    }

    /// The energy 1/2 sum tr F F of the traceless hermitian F, and its charge (eps_xyzt = 1), on every stored slice.
    pub fn clover_energy_and_charge(&self) -> [Vec<f64>; 2] {
        let mut found = [vec![0.0; self.slices()], vec![0.0; self.slices()]];
        for lex in 0..self.lat.volume() {
            let x = self.lat.coords(lex);
            let f = |mu, nu| {
                let full = self.field_strength(x, mu, nu);
                sub(&full, &scale(trace(&full) / 3.0, &one()))
            };
            let product = |a: &Matrix<3>, b: &Matrix<3>| -trace(&mul(a, b)).re;
            for (mu, nu) in PLANES {
                found[0][x[3]] += product(&f(mu, nu), &f(mu, nu));
            }
            let pairs = [([0, 1, 2, 3], 1.0), ([0, 2, 1, 3], -1.0), ([0, 3, 1, 2], 1.0)];
            for ([a, b, c, d], sign) in pairs {
                let norm = 8.0 / (32.0 * std::f64::consts::PI.powi(2));
                found[1][x[3]] += sign * norm * product(&f(a, b), &f(c, d));
            }
        }
        found
    }

    /// The weight of the plaquettes in a plane whose lowest slice is t.
    fn weight(&self, t: usize, timelike: bool, cg: [f64; 2]) -> f64 {
        let (open_below, open_above) = (self.open_below, self.above.is_none());
        match timelike {
            true if t == 0 && !open_below => cg[0],
            true if t + 1 == self.last() && !open_above => cg[1],
            true => 1.0,
            false if t == 0 => {
                if open_below {
                    0.5 * cg[0]
                } else {
                    0.0
                }
            }
            false if t == self.last() => {
                if open_above {
                    0.5 * cg[1]
                } else {
                    0.0
                }
            }
            false => 1.0,
        }
    }

    /// Computes sum beta [c0 w (1 - Re tr P / 3) + c1 w (1 - Re tr R / 3)], with plaquettes wound twice in place of
    /// rectangles at fixed links.
    pub fn action(&self, action: &Action) -> f64 {
        let Action { beta, c1, cg } = *action;
        let of = |u: &Matrix<3>| 1.0 - trace(u).re / 3.0;
        let mut sum = 0.0;
        for x in self.sites() {
            for (mu, nu) in PLANES {
                let (a, b) = (mu as i32, nu as i32);
                let (ra, rb) = (-1 - a, -1 - b);
                let timelike = nu == 3;
                let w = self.weight(x[3], timelike, cg);
                let Some(p) = self.path(x, &[a, b, ra, rb]) else { continue };
                sum += (1.0 - 8.0 * c1) * w * of(&p);
                let w = if timelike { 1.0 } else { w };
                for rectangle in [[a, a, b, ra, ra, rb], [a, b, b, ra, rb, rb]] {
                    sum += self.path(x, &rectangle).map_or(0.0, |r| c1 * w * of(&r));
                }
                let below = x[3] == 0 && !self.open_below;
                let above = x[3] + 1 == self.last() && self.above.is_some();
                if timelike && (below || above) {
                    sum += 0.5 * c1 * of(&mul(&p, &p));
                }
            }
        }
        beta * sum
    }

    /// Computes 2 Im tr T_a of the weighted sum of the plaquettes that begin with a link, which is -1 times the
    /// generator of the flow.
    fn flow_force(&self, lex: usize, mu: usize) -> [f64; 8] {
        let x = self.lat.coords(lex);
        let a = mu as i32;
        let mut sum = zero();
        for b in (0..4).filter(|&b| b != a) {
            for steps in [[a, b, -1 - a, -1 - b], [a, -1 - b, -1 - a, b]] {
                let Some(p) = self.path(x, &steps) else { continue };
                let w = if mu == 3 || b == 3 { 1.0 } else { self.weight(x[3], false, [1.0; 2]) };
                sum = add(&sum, &scale(C::new(w, 0.0), &p));
            }
        }
        let open = mu < 3 && self.is_boundary(x[3]);
        let twice = if open { 2.0 } else { 1.0 };
        std::array::from_fn(|k| twice * 2.0 * trace(&mul(&generator(k), &sum)).im)
    }

    /// Links after a step of the third-order flow (Luescher, JHEP 08 (2010) 071, appendix C).
    pub fn flow_step(&self, epsilon: f64) -> Gauge {
        let [_, _, last] = self.flow_stages(epsilon);
        last
    }

    /// Links after each of the three stages of a step of the flow.
    fn flow_stages(&self, epsilon: f64) -> [Gauge; 3] {
        let mut after = vec![];
        let mut u = self.links.clone();
        let mut z = vec![[0.0; 8]; u.len()];
        let stages = [(0.0, 0.25), (-17.0 / 9.0, 8.0 / 9.0), (-1.0, 0.75)];
        for (old, new) in stages {
            let now = Bounded { links: &u, ..*self };
            let mut next = u.clone();
            for (k, z) in z.iter_mut().enumerate() {
                if !self.is_active(k / 4, k % 4) {
                    continue;
                }
                let f = now.flow_force(k / 4, k % 4);
                *z = std::array::from_fn(|a| old * z[a] - new * epsilon * f[a]);
                next[k] = mul(&exp_i(&algebra(z)), &u[k]);
            }
            u = next;
            after.push(u.clone());
        }
        after.try_into().expect("three stages")
    }

    /// The value of a field at a site of slice 0 to T, or beyond: quarks vanish on boundary slices.
    fn at(&self, psi: &Field, x: [usize; 4]) -> Spinor {
        match x[3] == 0 || x[3] >= self.last() {
            true => [[C::ZERO; 3]; 4],
            false => psi[self.lat.lex(x)],
        }
    }

    /// A field that vanishes on boundary slices and equals `psi` elsewhere.
    pub fn inside(&self, psi: &Field) -> Field {
        (0..psi.len()).map(|lex| self.at(psi, self.lat.coords(lex))).collect()
    }

    /// The field at the end of the path that starts at x, of slice 0 to T, transported to x; zero where the path has
    /// links that do not exist.
    fn transported(&self, psi: &Field, x: [usize; 4], steps: &[i32]) -> Spinor {
        let Some(product) = self.path(x, steps) else { return [[C::ZERO; 3]; 4] };
        let mut end = x;
        for &s in steps {
            let (mu, forward) =
                if s >= 0 { (s as usize, true) } else { ((-1 - s) as usize, false) };
            end = self.step(end, mu, forward).expect("a path that exists");
        }
        mul_colour(&product, &self.at(psi, end))
    }

    /// The covariant shift along a path, zero where the path leaves the slices that are stored.
    pub fn shift(&self, psi: &Field, steps: &[i32]) -> Field {
        let stays = |x: [usize; 4]| {
            let mut t = x[3] as i32;
            steps.iter().all(|&s| {
                t += i32::from(s == 3) - i32::from(s == -4);
                (0..self.slices() as i32).contains(&t)
            })
        };
        let value = |lex| {
            let x = self.lat.coords(lex);
            if stays(x) {
                self.transported(psi, x, steps)
            } else {
                [[C::ZERO; 3]; 4]
            }
        };
        (0..psi.len()).map(value).collect()
    }

    /// The `order`-th derivative in time at the sites that are stored, D psi(x) = [U psi(x + t) - U^dagger psi(x - t)]
    /// / 2: a sum over all paths of `order` steps in time.
    pub fn time_derivative(&self, psi: &Field, order: u32) -> Field {
        let mut out = vec![[[C::ZERO; 3]; 4]; psi.len()];
        for (lex, to) in out.iter_mut().enumerate() {
            for signs in 0..1 << order {
                let back = |k: u32| signs >> k & 1 == 1;
                let steps: Vec<i32> = (0..order).map(|k| if back(k) { -4 } else { 3 }).collect();
                let sign =
                    if (0..order).filter(|k| back(*k)).count() % 2 == 1 { -1.0 } else { 1.0 };
                let value = self.transported(psi, self.lat.coords(lex), &steps);
                let factor = C::new(sign * 0.5f64.powi(order as i32), 0.0);
                to.iter_mut()
                    .flatten()
                    .zip(value.iter().flatten())
                    .for_each(|(z, v)| *z += factor * v);
            }
        }
        out
    }

    /// The covariant Laplacian in four dimensions with these phases at the ends of the lattice in space; psi and the
    /// result vanish on boundary slices.
    fn laplacian(&self, phases: [C; 4], psi: &Field) -> Field {
        let mut out = vec![[[C::ZERO; 3]; 4]; psi.len()];
        for (lex, to) in out.iter_mut().enumerate() {
            let x = self.lat.coords(lex);
            if self.is_boundary(x[3]) {
                continue;
            }
            let mut add_up = |f: C, s: &Spinor| {
                to.iter_mut().flatten().zip(s.iter().flatten()).for_each(|(z, v)| *z += f * v)
            };
            add_up(C::new(-8.0, 0.0), &psi[lex]);
            for mu in 0..4 {
                let end = |at: bool| if at && mu < 3 { phases[mu] } else { C::ONE };
                let (ahead, back) = (x[mu] + 1 == self.lat.extents[mu], x[mu] == 0);
                let s = mu as i32;
                add_up(end(ahead), &self.transported(psi, x, &[s]));
                add_up(end(back).conj(), &self.transported(psi, x, &[-1 - s]));
            }
        }
        out
    }

    /// Links and quark fields after a step of the flow (Luescher, JHEP 04 (2013) 123, appendix D) with Dirichlet
    /// conditions at the boundaries.
    pub fn quark_flow_step(&self, e: f64, phases: [C; 4], chi: &Field) -> (Gauge, Field) {
        let [w1, w2, w3] = self.flow_stages(e);
        let laplacian =
            |links: &Gauge, chi: &Field| Bounded { links, ..*self }.laplacian(phases, chi);
        let plus = |a: &Field, terms: &[(f64, &Field)]| -> Field {
            terms
                .iter()
                .fold(a.clone(), |sum, (c, b)| super::spinor::axpy(C::new(*c, 0.0), b, &sum))
        };
        let d0 = laplacian(self.links, chi);
        let chi1 = plus(chi, &[(e / 4.0, &d0)]);
        let d1 = laplacian(&w1, &chi1);
        let chi2 = plus(chi, &[(e * 8.0 / 9.0, &d1), (-e * 2.0 / 9.0, &d0)]);
        let d2 = laplacian(&w2, &chi2);
        (w3, plus(&chi1, &[(e * 0.75, &d2)]))
    }

    /// Computes D psi of `params`, with boundary coefficients cF and cF': psi and the result vanish on boundary
    /// slices.
    pub fn dirac(&self, params: &super::dirac::Params, cf: [f64; 2], psi: &Field) -> Field {
        self.dirac_of(params, &self.site_terms(params, cf), psi)
    }

    /// The site term of D on every site, with boundary coefficients cF and cF'; zero on boundary slices.
    pub fn site_terms(&self, params: &super::dirac::Params, cf: [f64; 2]) -> Vec<[Block; 2]> {
        let at = |lex: usize| match self.lat.coords(lex) {
            x if self.is_boundary(x[3]) => [zero(); 2],
            x => self.site_blocks(params, cf, x),
        };
        (0..self.lat.volume()).map(at).collect()
    }

    /// Computes D psi from its site terms ([`Self::site_terms`]): psi and the result vanish on boundary slices.
    pub fn dirac_of(
        &self,
        params: &super::dirac::Params,
        site_terms: &[[Block; 2]],
        psi: &Field,
    ) -> Field {
        let g = gammas(Basis::DeGrandRossi);
        let mut out = vec![[[C::ZERO; 3]; 4]; psi.len()];
        for (lex, to) in out.iter_mut().enumerate() {
            let x = self.lat.coords(lex);
            if self.is_boundary(x[3]) {
                continue;
            }
            let mut add_up = |s: &Spinor, f: C| {
                for (a, row) in to.iter_mut().enumerate() {
                    for (c, z) in row.iter_mut().enumerate() {
                        *z += f * s[a][c];
                    }
                }
            };
            for (block, from) in site_terms[lex].iter().zip([0, 2]) {
                let mut s = [[C::ZERO; 3]; 4];
                for i in 0..6 {
                    for j in 0..6 {
                        s[from + i / 3][i % 3] += block[i][j] * psi[lex][from + j / 3][j % 3];
                    }
                }
                add_up(&s, C::ONE);
            }
            for mu in 0..4 {
                let f = C::new(-0.5 * params.hop[mu], 0.0);
                for forward in [true, false] {
                    let y = self.step(x, mu, forward).expect("inside");
                    if self.is_boundary(y[3]) {
                        continue;
                    }
                    let u = match forward {
                        true => self.link(x, mu),
                        false => self.link(y, mu).map(|u| dag(&u)),
                    };
                    let wraps = if forward { y[mu] < x[mu] } else { y[mu] > x[mu] };
                    let phase = match (wraps, forward) {
                        (false, _) => C::ONE,
                        (true, true) => params.boundary[mu],
                        (true, false) => params.boundary[mu].conj(),
                    };
                    let spin = one_plus(if forward { -1.0 } else { 1.0 }, &g[mu]);
                    let s = mul_colour(&u.expect("inside"), &psi[self.lat.lex(y)]);
                    add_up(&mul_spin(&spin, &s), f * phase);
                }
            }
        }
        out
    }

    /// The site term of D on sites between the boundaries.
    fn site_blocks(
        &self,
        params: &super::dirac::Params,
        cf: [f64; 2],
        x: [usize; 4],
    ) -> [Block; 2] {
        let mut diagonal = params.diagonal();
        diagonal += if x[3] == 1 { cf[0] - 1.0 } else { 0.0 };
        diagonal += if x[3] + 1 == self.last() { cf[1] - 1.0 } else { 0.0 };
        let mut blocks: [Block; 2] = [zero(); 2];
        for (mu, nu) in PLANES {
            let spin = sigma(mu, nu);
            let f = self.field_strength(x, mu, nu);
            let csw = if nu == 3 { params.csw_t } else { params.csw };
            for (chirality, block) in blocks.iter_mut().enumerate() {
                for i in 0..6 {
                    for j in 0..6 {
                        let s = spin[2 * chirality + i / 3][2 * chirality + j / 3];
                        block[i][j] += C::new(0.0, 0.5 * csw) * s * f[i % 3][j % 3];
                    }
                }
            }
        }
        for (block, twist) in blocks.iter_mut().zip([params.mu, -params.mu]) {
            if params.exponential {
                // The exponent contains the unchanged 4 + m next to boundaries, too.
                let exponent = scale(C::new(1.0 / params.diagonal(), 0.0), block);
                *block = scale(C::new(diagonal, 0.0), &exponential(&exponent));
            }
            let unit = if params.exponential { 0.0 } else { diagonal };
            for (i, row) in block.iter_mut().enumerate() {
                row[i] += C::new(unit, twist);
            }
        }
        blocks
    }
}
