//! Rational approximations of powers x^a on an interval with the smallest relative error, as sums of poles for
//! multi-shift solvers: x^a = c (1 + sum_k r_k / (x + s_k)).
//!
//! With y = ln x the error ln r(x) - a y is a sum of smooth steps, one for every zero and pole. Remez' exchange
//! (Remez 1934) works on this error and on the logarithms of zeros, poles and of the factor in front, which keeps
//! them positive. Double precision suffices: single zeros and poles may be ill-determined, but the error, for which
//! the equations are solved, is not.

use crate::bail;
use crate::error::Result;
use crate::refuse;

/// A rational approximation c prod_k (x + z_k) / (x + s_k) of x^power on [low, high] (Clark, Kennedy, Phys. Rev.
/// Lett. 98 (2007) 051601).
#[derive(Clone, Debug, PartialEq)]
pub struct Rational {
    pub power: f64,
    pub low: f64,
    pub high: f64,
    /// Largest |r(x) / x^power - 1| on the interval [low, high].
    pub error: f64,
    /// The constant c, also the limit for large x.
    pub constant: f64,
    /// The numbers z_k, ascending like the numbers s_k.
    pub zeros: Vec<f64>,
    /// The numbers s_k, positive and ascending, which are the shifts of a multi-shift solve.
    pub shifts: Vec<f64>,
    /// Residues r_k in the form c (1 + sum_k r_k / (x + s_k)).
    pub residues: Vec<f64>,
}

/// Largest number of poles that is tried for a given error.
const MAX_POLES: usize = 40;
/// Half of ln(high / low) for the widest interval.
const WIDEST: f64 = 18.4;
/// Number of further poles that the search tries after an approximation whose error is too large and hidden by
/// rounding.
const HIDDEN: usize = 3;
/// Rounding of the error function, a sum of up to 40 logarithms.
const ROUNDING: f64 = 4e-15;

impl Rational {
    /// The approximation of x^power on [low, high] with the fewest poles whose relative error is at most `error`.
    ///
    /// # Errors
    /// `BadParameter`: the power is not between -1 and 1 or is 0, the interval is not inside of the positive numbers,
    /// or the error asked for takes more than 40 poles or is too close to rounding (1e-12 can be reached).
    pub fn new(power: f64, low: f64, high: f64, error: f64) -> Result<Self> {
        if !(error > 0.0 && error < 1.0) {
            refuse!(
                BadParameter,
                "rational",
                expected("an error between 0 and 1"),
                found("{error}")
            );
        }
        let mut hidden = 0;
        for poles in 1..=MAX_POLES {
            match Self::best(power, low, high, poles) {
                Ok((r, _)) if r.error <= error => return Ok(r),
                Ok((_, wider)) => hidden += wider as usize,
                Err(e) if poles == 1 => return Err(e),
                Err(_) => break,
            }
            if hidden > HIDDEN {
                break;
            }
        }
        bail!(
            BadParameter,
            "rational: x^{power} on [{low}, {high}] to {error} takes more than {MAX_POLES} poles, or \
             more than double precision"
        )
    }

    /// The best approximation with this number of poles. If its error is hidden by rounding, the best one on a wider
    /// interval is returned, whose error is not. Errors as in [`Rational::new`].
    pub fn with_poles(power: f64, low: f64, high: f64, poles: usize) -> Result<Self> {
        Ok(Self::best(power, low, high, poles)?.0)
    }

    /// The approximation of [`Self::with_poles`], and whether it belongs to a wider interval.
    fn best(power: f64, low: f64, high: f64, poles: usize) -> Result<(Self, bool)> {
        if !(power.abs() > 0.0 && power.abs() < 1.0) {
            refuse!(
                BadParameter,
                "rational",
                expected("a power between -1 and 1, not 0"),
                found("{power}")
            );
        }
        if !(low > 0.0 && high > low && high.is_finite() && high / low < 1e16) {
            refuse!(BadParameter, "rational", expected("0 < low < high"), found("[{low}, {high}]"));
        }
        if !(1..=MAX_POLES).contains(&poles) {
            refuse!(BadParameter, "rational", expected("1 to {MAX_POLES} poles"), found("{poles}"));
        }
        // Positive powers are the inverses of negative ones, with the same errors of the logarithm.
        let exponent = -power.abs();
        let mut half = (high / low).ln() / 2.0;
        let mut found = Steps::best(exponent, half, poles);
        let mut wider = false;
        while found.is_err() && half < WIDEST {
            (half, wider) = (1.25 * half, true);
            found = Steps::best(exponent, half, poles);
        }
        let (steps, level) = found?;
        let middle = 0.5 * (low.ln() + high.ln());
        let unscale = |y: &f64| (y + middle).exp();
        let (mut zeros, mut shifts): (Vec<f64>, Vec<f64>) =
            (steps.zeros.iter().map(unscale).collect(), steps.poles.iter().map(unscale).collect());
        let mut constant = (steps.offset + exponent * middle).exp();
        if power > 0.0 {
            std::mem::swap(&mut zeros, &mut shifts);
            constant = 1.0 / constant;
        }
        let residue = |k: usize| {
            let others = (0..poles).filter(|&j| j != k);
            let product: f64 =
                others.map(|j| (zeros[j] - shifts[k]) / (shifts[j] - shifts[k])).product();
            product * (zeros[k] - shifts[k])
        };
        let residues = (0..poles).map(residue).collect();
        let error = level.exp_m1();
        Ok((Rational { power, low, high, error, constant, zeros, shifts, residues }, wider))
    }

    /// The value r(x), computed from its poles.
    pub fn value(&self, x: f64) -> f64 {
        let poles = self.shifts.iter().zip(&self.residues);
        self.constant * (1.0 + poles.map(|(s, r)| r / (x + s)).sum::<f64>())
    }
}

/// The error function E(y) = offset + sum_k [ln(e^y + e^zeros) - ln(e^y + e^poles)] - exponent y on [-half, half],
/// with y = ln x.
#[derive(Clone)]
struct Steps {
    exponent: f64,
    half: f64,
    offset: f64,
    zeros: Vec<f64>,
    poles: Vec<f64>,
}

/// The derivative of ln(1 + e^t).
fn slope(t: f64) -> f64 {
    let small = (-t.abs()).exp();
    if t > 0.0 {
        1.0 / (1.0 + small)
    } else {
        small / (1.0 + small)
    }
}

impl Steps {
    /// The best approximation of e^(exponent y) with `n` poles for |y| up to `half`, and its error, starting from
    /// Zolotarev's for the inverse square root: the exponent is changed in small steps, in which zeros and poles move
    /// smoothly.
    fn best(exponent: f64, half: f64, n: usize) -> Result<(Self, f64)> {
        let mut steps = Self::zolotarev(half, n);
        let mut points = steps.extrema();
        let mut level = steps.exchange(&mut points)?;
        let mut stride = 0.02f64;
        while steps.exponent != exponent {
            let left = exponent - steps.exponent;
            let to = if left.abs() <= stride {
                exponent
            } else {
                steps.exponent + stride.copysign(left)
            };
            let (mut next, mut moved) = (steps.clone(), points.clone());
            next.exponent = to;
            match next.exchange(&mut moved) {
                Ok(l) => {
                    (steps, points, level, stride) = (next, moved, l, (2.0 * stride).min(0.05))
                }
                Err(e) if stride < 1e-4 => return Err(e),
                Err(_) => stride *= 0.5,
            }
        }
        Ok((steps, level))
    }

    /// Zolotarev's approximation of x^(-1/2) with `n` poles for |ln x| up to `half`: zeros and poles alternate at equal
    /// distances of the elliptic argument.
    fn zolotarev(half: f64, n: usize) -> Self {
        let elliptic = Elliptic::new((-2.0 * half).exp());
        let place = |l: usize| elliptic.log_sc2(l as f64 / (2 * n + 1) as f64) - half;
        let poles = (0..n).map(|k| place(2 * k + 1)).collect();
        let zeros = (0..n).map(|k| place(2 * k + 2)).collect();
        let mut s = Steps { exponent: -0.5, half, offset: 0.0, zeros, poles };
        let error = s.error();
        s.offset = -0.5 * (error(-half) + error(half));
        s
    }

    /// The error E as a function of y. Exponentials are computed once, and one logarithm is taken of the product over
    /// all pairs.
    fn error(&self) -> impl Fn(f64) -> f64 {
        let pairs = self.zeros.iter().zip(&self.poles);
        let pairs: Vec<(f64, f64)> = pairs.map(|(z, p)| (z.exp(), p.exp())).collect();
        let (offset, exponent) = (self.offset, self.exponent);
        move |y| {
            let u = (-y).exp();
            let product: f64 = pairs.iter().map(|(z, p)| (1.0 + z * u) / (1.0 + p * u)).product();
            offset + product.ln() - exponent * y
        }
    }

    /// Remez' exchange: solves for equal errors of alternating sign at 2 n + 2 points, then moves these to the
    /// extrema of the error, until all extrema are equal.
    fn exchange(&mut self, points: &mut Vec<f64>) -> Result<f64> {
        let count = 2 * self.poles.len() + 2;
        if points.len() != count {
            bail!(BadParameter, "rational: {} extrema where there must be {count}", points.len());
        }
        let mut best = f64::INFINITY;
        for _ in 0..60 {
            let level = self.level(points)?;
            let found = self.extrema();
            if found.len() != count {
                bail!(
                    BadParameter,
                    "rational: x^{} has {} extrema of {count}",
                    self.exponent,
                    found.len()
                );
            }
            let max = self.largest(&found);
            best = best.min(max);
            if max <= level.abs() * (1.0 + 1e-6) + ROUNDING {
                return Ok(max.max(ROUNDING));
            }
            *points = found;
        }
        Ok(best.max(ROUNDING))
    }

    fn largest(&self, points: &[f64]) -> f64 {
        let error = self.error();
        points.iter().fold(0.0, |m: f64, &y| m.max(error(y).abs()))
    }

    /// The extrema of the error, one in each interval between its roots, and the values at both ends.
    fn extrema(&self) -> Vec<f64> {
        let cells = 400 * self.poles.len() + 400;
        let at = |i: usize| -self.half + 2.0 * self.half * i as f64 / cells as f64;
        let error = self.error();
        let values: Vec<f64> = (0..=cells).map(|i| error(at(i))).collect();
        // Near its roots the error may have the sign of rounding.
        let least = 0.05 * values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let mut all: Vec<(f64, f64)> = vec![];
        for i in 0..=cells {
            let v = values[i];
            if v.abs() < least {
                continue;
            }
            let peak = (i == 0 || v.abs() >= values[i - 1].abs())
                && (i == cells || v.abs() >= values[i + 1].abs());
            match all.last_mut() {
                Some(last) if (last.1 < 0.0) == (v < 0.0) => {
                    if peak && v.abs() > last.1.abs() {
                        *last = (at(i), v);
                    }
                }
                _ => all.push((at(i), v)),
            }
        }
        let cell = at(1) - at(0);
        all.iter()
            .map(|&(y, v)| {
                // Vertex of the parabola through three points.
                if y <= -self.half + 0.5 * cell || y >= self.half - 0.5 * cell {
                    return y;
                }
                let (l, r) = (error(y - cell), error(y + cell));
                let bend = l - 2.0 * v + r;
                if bend == 0.0 {
                    return y;
                }
                y + (0.5 * cell * (l - r) / bend).clamp(-cell, cell)
            })
            .collect()
    }

    /// Newton's iteration for E(points[i]) = (-1)^i level; returns the level.
    fn level(&mut self, points: &[f64]) -> Result<f64> {
        let n = self.poles.len();
        let size = 2 * n + 2;
        let mut level = {
            let error = self.error();
            let sum: f64 = points.iter().enumerate().map(|(i, &y)| sign(i) * error(y)).sum();
            sum / size as f64
        };
        let deviation = |s: &Steps, level: f64| -> f64 {
            let error = s.error();
            let all = points.iter().enumerate();
            all.fold(0.0, |m: f64, (i, &y)| m.max((error(y) - sign(i) * level).abs()))
        };
        let mut before = deviation(self, level);
        for _ in 0..50 {
            if before <= 1e-7 * level.abs() + 0.1 * ROUNDING {
                break;
            }
            let error = self.error();
            let mut rows: Vec<Vec<f64>> = points
                .iter()
                .enumerate()
                .map(|(i, &y)| {
                    let mut row = vec![1.0, -sign(i)];
                    row.extend(self.zeros.iter().map(|z| slope(z - y)));
                    row.extend(self.poles.iter().map(|p| -slope(p - y)));
                    row.push(sign(i) * level - error(y));
                    row
                })
                .collect();
            let change = solve(&mut rows);
            // Takes the whole step, or a part of it that keeps the order of the points and lowers the error.
            let mut part = 1.0;
            let largest = change[2..].iter().fold(0.0, |m: f64, c| m.max(c.abs()));
            if largest > 0.5 {
                part = 0.5 / largest;
            }
            let mut moved = false;
            while part > 1e-4 {
                let next = Steps {
                    offset: self.offset + part * change[0],
                    zeros: self.zeros.iter().zip(&change[2..]).map(|(z, c)| z + part * c).collect(),
                    poles: self
                        .poles
                        .iter()
                        .zip(&change[2 + n..])
                        .map(|(p, c)| p + part * c)
                        .collect(),
                    ..*self
                };
                let next_level = level + part * change[1];
                let after = deviation(&next, next_level);
                if after < before {
                    (*self, level, before, moved) = (next, next_level, after, true);
                    break;
                }
                part *= 0.5;
            }
            if !moved {
                break;
            }
        }
        if !level.is_finite() {
            bail!(BadParameter, "rational: the exchange for x^{} did not converge", self.exponent);
        }
        Ok(level)
    }
}

fn sign(i: usize) -> f64 {
    if i.is_multiple_of(2) {
        1.0
    } else {
        -1.0
    }
}

/// Solves the linear system (A | b) by Gaussian elimination with pivoting. An unknown whose pivot is only rounding
/// error is set to 0.
fn solve(rows: &mut [Vec<f64>]) -> Vec<f64> {
    let n = rows.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()));
        rows.swap(k, pivot.unwrap_or(k));
        let top = rows[k].clone();
        if top[k] == 0.0 {
            continue;
        }
        for row in rows[k + 1..].iter_mut() {
            let factor = row[k] / top[k];
            row[k..].iter_mut().zip(&top[k..]).for_each(|(a, t)| *a -= factor * t);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = if rows[k][k] == 0.0 { 0.0 } else { (rows[k][n] - known) / rows[k][k] };
    }
    x
}

/// Jacobi's elliptic functions for modulus k, given 1 - k^2 (arithmetic-geometric mean, Abramowitz and Stegun 16.4).
struct Elliptic {
    a: Vec<f64>,
    c: Vec<f64>,
}

impl Elliptic {
    fn new(complement: f64) -> Self {
        let (mut a, mut b) = (1.0f64, complement.sqrt());
        let (mut all, mut c) = (vec![a], vec![(1.0 - complement).sqrt()]);
        while c[c.len() - 1] > 1e-15 * a && all.len() < 30 {
            c.push(0.5 * (a - b));
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
            all.push(a);
        }
        Elliptic { a: all, c }
    }

    /// ln sc^2(u K) for u from 0 to 1.
    fn log_sc2(&self, u: f64) -> f64 {
        let n = self.a.len() - 1;
        // u K = u pi / 2 a_n; the largest angle is 2^n a_n u K.
        let mut phi = (1u64 << n) as f64 * u * std::f64::consts::FRAC_PI_2;
        for i in (1..=n).rev() {
            phi = 0.5 * (phi + (self.c[i] / self.a[i] * phi.sin()).asin());
        }
        2.0 * phi.tan().abs().ln()
    }
}
