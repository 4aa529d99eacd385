//! Approximations of the sign function on sqrt(epsilon) <= |x| <= 1: x P(x^2) with a polynomial or a
//! sum of poles P, each with the least possible error of its degree.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::bail;
use crate::error::{significant, Result};
use crate::refuse;

/// Largest number of rounds of Remez' exchange algorithm.
const TURNS: usize = 60;
/// The exchange ends when the largest error anywhere exceeds the error at the points of the exchange by no more than
/// this factor.
const LEVEL: f64 = 1.002;
/// Error below which rounding in double precision hides the difference between polynomials.
const FINEST: f64 = 1e-14;

/// P(y) = sum_k c_k T_k(z), z = (2 y - 1 - epsilon) / (1 - epsilon), which makes
/// delta = max |1 - sqrt(y) P(y)| over epsilon <= y <= 1 as small as this degree can (Giusti, Hoelbling,
/// Luescher and Wittig, hep-lat/0212012; Walk, section 2.8).
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial {
    pub coefficients: Vec<f64>,
    /// Coefficients of the odd series: x P(x^2) = sum_k odd_k T_(2k+1)(x).
    pub odd: Vec<f64>,
    pub epsilon: f64,
    pub delta: f64,
}

/// P(y) = sum_k residues_k / (y + poles_k), Zolotarev's for epsilon <= y <= 1 (van den Eshof et al.,
/// hep-lat/0202025).
#[derive(Clone, Debug, PartialEq)]
pub struct Rational {
    pub poles: Vec<f64>,
    pub residues: Vec<f64>,
    pub epsilon: f64,
    /// Largest |1 - sqrt(y) P(y)| over epsilon <= y <= 1.
    pub delta: f64,
}

fn check_interval(epsilon: f64) -> Result<()> {
    if !(epsilon > 0.0 && epsilon < 1.0) {
        refuse!(BadParameter, "epsilon", expected("a number between 0 and 1"), found("{epsilon}"));
    }
    Ok(())
}

fn check_delta(delta: f64) -> Result<()> {
    if !(FINEST..1.0).contains(&delta) {
        refuse!(BadParameter, "delta", expected("{FINEST:e} to 1"), found("{delta}"));
    }
    Ok(())
}

/// Number of degrees of the polynomial needed to reduce delta by a factor of e, 1 / (2.083 sqrt(epsilon)) (Giusti,
/// Hoelbling, Luescher and Wittig, hep-lat/0212012).
fn rate(epsilon: f64) -> f64 {
    2.083 * epsilon.sqrt()
}

impl Polynomial {
    /// The polynomial of this degree with the smallest error delta.
    ///
    /// # Errors
    /// `BadParameter`: epsilon is not between 0 and 1.
    pub fn of_degree(degree: usize, epsilon: f64) -> Result<Self> {
        check_interval(epsilon)?;
        let points = Exchange::best(degree, epsilon);
        let n = degree + 1;
        let values: Vec<f64> =
            (0..n).map(|j| points.value((PI * (j as f64 + 0.5) / n as f64).cos())).collect();
        let coefficient = |k: usize| {
            let angle = |j: usize| PI * ((k * (2 * j + 1)) % (4 * n)) as f64 / (2 * n) as f64;
            let sum: f64 = values.iter().enumerate().map(|(j, v)| v * angle(j).cos()).sum();
            sum * if k == 0 { 1.0 } else { 2.0 } / n as f64
        };
        let coefficients = (0..n).map(coefficient).collect();
        let mut polynomial = Polynomial { coefficients, odd: vec![], epsilon, delta: points.max };
        polynomial.odd = polynomial.odd_series();
        polynomial.delta = points.max.max(polynomial.measure(4 * n + 16));
        Ok(polynomial)
    }

    /// The polynomial of the lowest degree whose error is at most `delta`.
    ///
    /// # Errors
    /// `BadParameter`: epsilon or delta out of range, or a degree above `max` is needed: the message
    /// says which.
    pub fn for_delta(delta: f64, epsilon: f64, max: usize) -> Result<Self> {
        check_interval(epsilon)?;
        check_delta(delta)?;
        let rate = rate(epsilon);
        let guess = ((0.41 / delta).ln() / rate).ceil().max(1.0);
        if guess > 1.2 * max as f64 + 10.0 {
            bail!(
                BadParameter,
                sentence(
                    "a polynomial with error {delta:e} for |x| from {} to 1 has a degree of about \
                     {guess}, more than {max}",
                    significant(epsilon.sqrt(), 4)
                ),
                hint("project more low modes, allow a larger delta or a higher degree")
            );
        }
        let mut degree = guess as usize;
        let (mut best, mut short): (Option<Polynomial>, usize) = (None, 0);
        for _ in 0..12 {
            let found = Polynomial::of_degree(degree, epsilon)?;
            let error = found.delta;
            // Rounding limits how small the error of a polynomial can become.
            if error <= delta.max(2.0 * FINEST) {
                best = Some(found);
            } else {
                short = short.max(degree);
            }
            let steps = ((error / delta).ln() / rate).ceil() as i64;
            let next = degree as i64 + if steps == 0 && error > delta { 1 } else { steps };
            let next = match &best {
                Some(b) => next.clamp(short as i64 + 1, b.coefficients.len() as i64 - 1),
                None => next.max(short as i64 + 1),
            };
            if best.as_ref().is_some_and(|b| next as usize + 1 == b.coefficients.len()) {
                break;
            }
            degree = next as usize;
        }
        match best {
            Some(found) if found.degree() <= max => Ok(found),
            Some(found) => bail!(
                BadParameter,
                sentence(
                    "a polynomial with error {delta:e} for |x| from {} to 1 has degree {}, more \
                     than {max}",
                    significant(epsilon.sqrt(), 4),
                    found.degree()
                ),
                hint("project more low modes, allow a larger delta or a higher degree")
            ),
            None => bail!(BadParameter, "no polynomial with error {delta:e} was found"),
        }
    }

    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// P(y) by Clenshaw's recurrence.
    pub fn value(&self, y: f64) -> f64 {
        let z = (2.0 * y - 1.0 - self.epsilon) / (1.0 - self.epsilon);
        let (mut d1, mut d2) = (0.0, 0.0);
        for &c in self.coefficients[1..].iter().rev() {
            (d1, d2) = (2.0 * z * d1 - d2 + c, d1);
        }
        z * d1 - d2 + self.coefficients[0]
    }

    /// Coefficients of x P(x^2) in odd Chebyshev polynomials, by interpolation at the positive zeros of T_(2n+2); x
    /// P(x^2) is odd.
    fn odd_series(&self) -> Vec<f64> {
        let n = self.coefficients.len();
        let cosines: Vec<f64> =
            (0..8 * n).map(|m| (PI * m as f64 / (4 * n) as f64).cos()).collect();
        let values: Vec<f64> =
            (0..n).map(|i| cosines[2 * i + 1]).map(|x| x * self.value(x * x)).collect();
        let coefficient = |k: usize| {
            let cosine = |i: usize| cosines[(2 * k + 1) * (2 * i + 1) % (8 * n)];
            values.iter().enumerate().map(|(i, v)| v * cosine(i)).sum::<f64>() * 2.0 / n as f64
        };
        (0..n).map(coefficient).collect()
    }

    /// Measures the largest error at `points` points.
    fn measure(&self, points: usize) -> f64 {
        let at = |j: usize| {
            let z = (PI * j as f64 / points as f64).cos();
            let y = 0.5 * ((1.0 - self.epsilon) * z + 1.0 + self.epsilon);
            (1.0 - y.sqrt() * self.value(y)).abs()
        };
        (0..=points).map(at).fold(0.0, f64::max)
    }
}

/// State of Remez' exchange algorithm: its points, with z falling from 1 to -1, and the polynomial whose error has
/// equal modulus and alternating sign at these points.
struct Exchange {
    epsilon: f64,
    z: Vec<f64>,
    /// Weights of the points in barycentric interpolation.
    weight: Vec<f64>,
    /// Values of the polynomial P at the points `z`.
    p: Vec<f64>,
    /// The error at the first point, with its sign; at the following points the sign alternates.
    level: f64,
    max: f64,
}

impl Exchange {
    fn best(degree: usize, epsilon: f64) -> Self {
        let n = degree + 1;
        let start = (0..=n).map(|i| (PI * i as f64 / n as f64).cos()).collect();
        let mut now = Exchange::at(start, epsilon);
        let mut best: Option<Exchange> = None;
        for _ in 0..TURNS {
            let next = now.extremes();
            let flat = now.max <= LEVEL * now.level.abs();
            if best.as_ref().is_none_or(|b| now.max < b.max) {
                best = Some(now);
            }
            if flat {
                break;
            }
            now = Exchange::at(next, epsilon);
        }
        best.expect("there is a first turn")
    }

    /// The polynomial whose error has the same modulus at all of the points, with alternating signs.
    fn at(z: Vec<f64>, epsilon: f64) -> Self {
        let weight: Vec<f64> = (0..z.len())
            .map(|i| {
                // Factors of two keep the product in range.
                let factors = (0..z.len()).filter(|&j| j != i).map(|j| 2.0 * (z[i] - z[j]));
                1.0 / factors.product::<f64>()
            })
            .collect();
        let mut x = Exchange { epsilon, z, weight, p: vec![], level: 0.0, max: 0.0 };
        let root: Vec<f64> = x.z.iter().map(|&z| x.y(z).sqrt()).collect();
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        // The divided difference of a polynomial over more points than its degree plus one is zero, which gives the
        // level.
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..x.z.len() {
            above += x.weight[i] / root[i];
            below += x.weight[i] * sign(i) / root[i];
        }
        x.level = above / below;
        x.p = (0..x.z.len()).map(|i| (1.0 - sign(i) * x.level) / root[i]).collect();
        x
    }

    fn y(&self, z: f64) -> f64 {
        0.5 * ((1.0 - self.epsilon) * z + 1.0 + self.epsilon)
    }

    fn value(&self, z: f64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..self.z.len() {
            let d = z - self.z[i];
            if d == 0.0 {
                return self.p[i];
            }
            let w = self.weight[i] / d;
            above += w * self.p[i];
            below += w;
        }
        above / below
    }

    fn error(&self, z: f64) -> f64 {
        1.0 - self.y(z).sqrt() * self.value(z)
    }

    /// Finds the place of the largest error near each of the points, and sets `max`.
    fn extremes(&mut self) -> Vec<f64> {
        const PIECES: usize = 8;
        let n = self.z.len();
        let angle: Vec<f64> = self.z.iter().map(|z| z.acos()).collect();
        let mut found = Vec::with_capacity(n);
        for i in 0..n {
            let sign = if i.is_multiple_of(2) { self.level.signum() } else { -self.level.signum() };
            let from = if i == 0 { 0.0 } else { 0.5 * (angle[i - 1] + angle[i]) };
            let to = if i + 1 == n { PI } else { 0.5 * (angle[i] + angle[i + 1]) };
            let width = (to - from) / PIECES as f64;
            let at = |t: f64| sign * self.error(t.cos());
            let samples: Vec<f64> = (0..=PIECES).map(|k| at(from + width * k as f64)).collect();
            let k = (0..=PIECES).max_by(|&a, &b| samples[a].total_cmp(&samples[b])).unwrap_or(0);
            let (mut best, mut value) = (from + width * k as f64, samples[k]);
            if k > 0 && k < PIECES {
                // The maximum of the parabola through three samples.
                let (l, m, r) = (samples[k - 1], samples[k], samples[k + 1]);
                let t = best + 0.5 * width * (l - r) / (l - 2.0 * m + r);
                if t.is_finite() && (t - best).abs() < width {
                    let v = at(t);
                    if v > value {
                        (best, value) = (t, v);
                    }
                }
            }
            self.max = self.max.max(value.abs());
            found.push(best.cos());
        }
        found
    }
}

impl Rational {
    /// Zolotarev's function with `order` poles.
    ///
    /// # Errors
    /// `BadParameter`: epsilon is not between 0 and 1, or no pole.
    pub fn of_order(order: usize, epsilon: f64) -> Result<Self> {
        check_interval(epsilon)?;
        if order == 0 {
            refuse!(BadParameter, "order", expected("at least one pole"), found("0"));
        }
        let n = order;
        // c_l = sn^2 / cn^2 at l K / (2 n), for 1 <= |x| <= 1 / sqrt(epsilon).
        let elliptic = Elliptic::new(epsilon.sqrt());
        let c: Vec<f64> = (1..2 * n)
            .map(|l| elliptic.amplitude(l as f64 / (2 * n) as f64).tan().powi(2))
            .collect();
        let (pole, zero) = (|k: usize| c[2 * k], |k: usize| c[2 * k + 1]);
        let mut residues: Vec<f64> = (0..n)
            .map(|k| {
                // Factors in pairs, so that neither product overflows.
                let mut product = 1.0;
                for j in 0..n {
                    if j < n - 1 {
                        product *= zero(j) - pole(k);
                    }
                    if j != k {
                        product /= pole(j) - pole(k);
                    }
                }
                product
            })
            .collect();
        let value = |x: f64, r: &[f64]| -> f64 {
            x * (0..n).map(|k| r[k] / (x * x + pole(k))).sum::<f64>()
        };
        let points = 200 * n;
        let top = -0.5 * epsilon.ln();
        let at = |j: usize| (top * j as f64 / points as f64).exp();
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        for j in 0..=points {
            let v = value(at(j), &residues);
            (low, high) = (low.min(v), high.max(v));
        }
        let root = epsilon.sqrt();
        residues.iter_mut().for_each(|r| *r *= 2.0 / (low + high) * root);
        Ok(Rational {
            poles: (0..n).map(|k| epsilon * pole(k)).collect(),
            residues,
            epsilon,
            delta: 1.0001 * (high - low) / (high + low),
        })
    }

    /// The function with the fewest poles whose error is at most `delta`.
    ///
    /// # Errors
    /// `BadParameter`: epsilon or delta out of range.
    pub fn for_delta(delta: f64, epsilon: f64) -> Result<Self> {
        check_interval(epsilon)?;
        check_delta(delta)?;
        for order in 1..=200 {
            let found = Self::of_order(order, epsilon)?;
            if found.delta <= delta.max(4.0 * FINEST) {
                return Ok(found);
            }
        }
        bail!(
            BadParameter,
            "no sum of 200 poles has error {delta:e} for epsilon {}",
            significant(epsilon, 6)
        )
    }

    pub fn value(&self, y: f64) -> f64 {
        self.poles.iter().zip(&self.residues).map(|(p, r)| r / (y + p)).sum()
    }
}

/// Jacobi's elliptic functions for one modulus, by the arithmetic-geometric mean (Abramowitz and
/// Stegun, 16.4).
struct Elliptic {
    /// Pairs (a_i, c_i) of the arithmetic-geometric mean.
    steps: Vec<(f64, f64)>,
}

impl Elliptic {
    /// Elliptic functions of the complementary modulus k', between 0 and 1.
    fn new(complementary: f64) -> Self {
        let (mut a, mut b) = (1.0, complementary);
        let mut steps = vec![(a, (1.0 - b * b).sqrt())];
        while steps.last().is_some_and(|(a, c)| c / a > 1e-17) && steps.len() < 40 {
            let c = 0.5 * (a - b);
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
            steps.push((a, c));
        }
        Elliptic { steps }
    }
    /// The amplitude am(share K).
    fn amplitude(&self, share: f64) -> f64 {
        // 2^N a_N K = 2^N pi / 2
        let mut phi = (1u64 << (self.steps.len() - 1)) as f64 * FRAC_PI_2 * share;
        for &(a, c) in self.steps[1..].iter().rev() {
            phi = 0.5 * (phi + (c / a * phi.sin()).asin());
        }
        phi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest |1 - sqrt(y) P(y)| on a logarithmic and on another grid of points y.
    fn worst(epsilon: f64, value: impl Fn(f64) -> f64) -> f64 {
        let points = 20_000;
        let at = |j: usize| {
            let t = j as f64 / points as f64;
            let y = [epsilon.powf(t), epsilon + (1.0 - epsilon) * t]
                .map(|y: f64| y.clamp(epsilon, 1.0));
            y.map(|y| (1.0 - y.sqrt() * value(y)).abs()).into_iter().fold(0.0, f64::max)
        };
        (0..=points).map(at).fold(0.0, f64::max)
    }

    #[test]
    fn the_odd_series_is_the_polynomial() {
        for (delta, epsilon) in [(1e-3, 1e-2), (1e-10, 1e-2), (1e-5, 1e-4), (0.1, 0.5)] {
            let p = Polynomial::for_delta(delta, epsilon, 2000).unwrap();
            for i in -500..=500 {
                let x = i as f64 / 500.0;
                let term = |(k, c): (usize, &f64)| c * ((2 * k + 1) as f64 * x.acos()).cos();
                let sum: f64 = p.odd.iter().enumerate().map(term).sum();
                let expect = x * p.value(x * x);
                assert!((sum - expect).abs() < 1e-11, "{delta:e} {epsilon} {x}: {sum} {expect}");
            }
        }
    }

    #[test]
    fn polynomials_have_their_error_and_no_lower_degree_does() {
        for (delta, epsilon) in
            [(1e-3, 1e-2), (1e-8, 1e-2), (1e-5, 1e-4), (1e-12, 4e-2), (0.1, 0.5)]
        {
            let p = Polynomial::for_delta(delta, epsilon, 2000).unwrap();
            let found = worst(epsilon, |y| p.value(y));
            assert!(p.delta <= delta && found <= 1.01 * p.delta, "{delta:e} {epsilon}: {found:e}");
            if p.degree() > 0 {
                let less = Polynomial::of_degree(p.degree() - 1, epsilon).unwrap();
                assert!(worst(epsilon, |y| less.value(y)) > 0.99 * delta);
            }
            // Estimate of the degree by Giusti, Hoelbling, Luescher and Wittig.
            let estimate = (0.41 / delta).ln() / rate(epsilon);
            assert!((p.degree() as f64 - estimate).abs() < 0.15 * estimate + 3.0, "{estimate}");
        }
    }

    /// A minimax error alternates between degree + 2 equal extremes.
    #[test]
    fn the_error_alternates() {
        let (degree, epsilon) = (30, 1e-2);
        let p = Polynomial::of_degree(degree, epsilon).unwrap();
        let mut signs = vec![];
        for j in 0..=20_000 {
            let z = (PI * j as f64 / 20_000.0).cos();
            let y = 0.5 * ((1.0 - epsilon) * z + 1.0 + epsilon);
            let h = 1.0 - y.sqrt() * p.value(y);
            if h.abs() > 0.99 * p.delta && signs.last() != Some(&h.signum()) {
                signs.push(h.signum());
            }
        }
        assert_eq!(signs.len(), degree + 2);
    }

    #[test]
    fn zolotarev_has_its_error_and_falls_with_the_order() {
        for epsilon in [1e-2, 1e-4, 1e-6] {
            let mut last = 1.0;
            for order in [4, 6, 8, 12] {
                let r = Rational::of_order(order, epsilon).unwrap();
                let found = worst(epsilon, |y| r.value(y));
                assert!(
                    found < 1.02 * r.delta + 1e-13,
                    "{order} {epsilon}: {found:e} {:e}",
                    r.delta
                );
                assert!(r.delta < 0.2 * last && r.residues.iter().all(|&r| r > 0.0));
                last = r.delta;
            }
        }
        // With one pole the error is known in closed form:
        let r = Rational::of_order(1, 0.25).unwrap();
        assert!((r.poles[0] - 0.5).abs() < 1e-12, "{:?}", r.poles);
    }

    #[test]
    fn what_cannot_be_says_what_to_change() {
        assert!(Polynomial::for_delta(1e-8, 0.0, 100).is_err());
        assert!(Polynomial::for_delta(0.0, 0.1, 100).is_err());
        let error = Polynomial::for_delta(1e-8, 1e-6, 500).unwrap_err();
        assert!(error.message().contains("project more low modes"), "{error}");
    }
}
