//! Means of Markov chains and their errors.

/// Values along a Markov chain, with their positions in it.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub at: Vec<f64>,
    pub values: Vec<f64>,
}

impl History {
    pub fn add(&mut self, at: f64, value: f64) {
        self.at.push(at);
        self.values.push(value);
    }
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

/// The average of (v_i - mean) (v_(i+t) - mean) over i.
fn covariance(v: &[f64], mean: f64, t: usize) -> f64 {
    let pairs = v.iter().zip(&v[t..]).map(|(a, b)| (a - mean) * (b - mean));
    pairs.sum::<f64>() / (v.len() - t) as f64
}

/// Mean of a history, its error and its integrated autocorrelation time.
#[derive(Clone, Copy, Debug)]
pub struct HistoryMean {
    pub mean: f64,
    pub error: f64,
    pub tau: f64,
}

/// Mean, error and tau = 1/2 + sum_t rho(t) of a history. The sum ends where t >= 6 tau (Madras and Sokal,
/// J. Stat. Phys. 50, 109); the error is sqrt(2 tau var / n). `None` below twenty values, without variance, or
/// where the window does not close within a quarter of them.
pub fn mean_of_history(v: &[f64]) -> Option<HistoryMean> {
    let mean = mean(v);
    let variance = if v.len() < 20 { 0.0 } else { covariance(v, mean, 0) };
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let mut tau = 0.5;
    for t in 1..=v.len() / 4 {
        tau = f64::max(tau + covariance(v, mean, t) / variance, 0.5);
        if t as f64 >= 6.0 * tau {
            let error = (2.0 * tau * variance / v.len() as f64).sqrt();
            return Some(HistoryMean { mean, error, tau });
        }
    }
    None
}

/// The autocorrelation rho(t) of a history, for t up to a quarter of its length and at most 100; empty if the
/// variance is 0.
pub fn autocorrelation(v: &[f64]) -> History {
    let mut rho = History::default();
    let mean = mean(v);
    let variance = if v.is_empty() { 0.0 } else { covariance(v, mean, 0) };
    if variance > 0.0 {
        for t in 0..=(v.len() / 4).min(100) {
            rho.add(t as f64, covariance(v, mean, t) / variance);
        }
    }
    rho
}

/// Means over samples and quantities derived from them, with their errors.
#[derive(Clone, Debug, Default)]
pub struct Jackknife {
    pub values: Vec<f64>,
    /// Errors of the values; NaN if there are fewer than two bins.
    pub errors: Vec<f64>,
    pub bins: usize,
}

/// Computes a jackknife over bins of `bin` samples: values are the mean over all samples followed by the result of
/// `function` for it, errors sqrt((B - 1) / B sum_b (v_b - v)^2), v_b the same without bin b and v the mean of these
/// (Efron, The Jackknife, the Bootstrap and Other Resampling Plans, chapter 3). Samples that do not fill a bin are
/// added to the last one.
pub fn jackknife(
    samples: &[Vec<f64>],
    bin: usize,
    function: impl Fn(&[f64]) -> Vec<f64>,
) -> Jackknife {
    let count = samples.len();
    let bins = count / bin;
    let mean_without = |from: usize, to: usize| {
        let n = (count - (to - from)) as f64;
        let mut mean = vec![0.0; samples.first().map_or(0, Vec::len)];
        for (_, sample) in samples.iter().enumerate().filter(|(c, _)| !(from..to).contains(c)) {
            mean.iter_mut().zip(sample).for_each(|(m, x)| *m += x / n);
        }
        let derived = function(&mean);
        mean.extend(derived);
        mean
    };
    let values = mean_without(0, 0);
    if bins < 2 {
        return Jackknife { errors: vec![f64::NAN; values.len()], values, bins };
    }
    let end = |b: usize| if b + 1 < bins { (b + 1) * bin } else { count };
    let without: Vec<Vec<f64>> = (0..bins).map(|b| mean_without(b * bin, end(b))).collect();
    let error = |i: usize| {
        let mean = without.iter().map(|v| v[i]).sum::<f64>() / bins as f64;
        let sum: f64 = without.iter().map(|v| (v[i] - mean).powi(2)).sum();
        (sum * (bins - 1) as f64 / bins as f64).sqrt()
    };
    let errors = (0..values.len()).map(error).collect();
    Jackknife { values, errors, bins }
}

/// A constant fitted to effective masses at consecutive times.
#[derive(Clone, Debug)]
pub struct Plateau {
    pub from: usize,
    pub to: usize,
    pub value: f64,
    pub error: f64,
    /// chi^2 over the degrees of freedom, as if masses at different times were independent; 0 for a single time.
    pub chi2: f64,
    weights: Vec<f64>,
}

impl Plateau {
    fn over(values: &[f64], errors: &[f64], from: usize, to: usize) -> Plateau {
        let weights: Vec<f64> = errors[from..=to].iter().map(|e| e.powi(-2)).collect();
        let mut p = Plateau { from, to, value: 0.0, error: f64::NAN, chi2: 0.0, weights };
        p.value = p.mean(values);
        let terms =
            values[from..=to].iter().zip(&p.weights).map(|(v, w)| w * (v - p.value).powi(2));
        p.chi2 = terms.sum::<f64>() / (to - from).max(1) as f64;
        p
    }

    /// The mean of `values` over the times of this plateau, with its weights.
    pub fn mean(&self, values: &[f64]) -> f64 {
        let sum: f64 =
            values[self.from..=self.to].iter().zip(&self.weights).map(|(v, w)| v * w).sum();
        sum / self.weights.iter().sum::<f64>()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "mass": self.value, "error": self.error, "from": self.from, "to": self.to, "chi2_per_dof": self.chi2,
        })
    }
}

/// The weighted mean over a window, or over the longest one that ends with the last time whose value is known to 30 %
/// and along which chi^2 / dof is at most 1; `None` if there is no window of at least two times.
pub fn plateau(values: &[f64], errors: &[f64], window: Option<[usize; 2]>) -> Option<Plateau> {
    let known =
        |t: usize| values[t].is_finite() && errors[t] > 0.0 && errors[t] < 0.3 * values[t].abs();
    if let Some([from, to]) = window {
        let all =
            to < values.len() && (from..=to).all(|t| values[t].is_finite() && errors[t] > 0.0);
        return all.then(|| Plateau::over(values, errors, from, to));
    }
    let first = (0..values.len()).find(|&t| known(t))?;
    let last = (first..values.len()).take_while(|&t| known(t)).last()?;
    (first..last).map(|from| Plateau::over(values, errors, from, last)).find(|p| p.chi2 <= 1.0)
}
