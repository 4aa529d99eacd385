//! The choice of the interval on which the polynomial is small, which should contain the unwanted eigenvalues.

use super::super::filter::{End, Polynomial};
use super::super::Filter;
use super::Process;

impl Process<'_, '_> {
    pub(super) fn first_polynomial(&self) -> Polynomial {
        let (least, largest) = (self.report.least, self.report.largest);
        let (end, other) = self.span();
        match self.params.filter {
            Filter::Plain => Polynomial::plain(self.params.end),
            Filter::Auto => self.filter(end + 0.05 * (other - end)),
            Filter::Chebyshev { degree, from, to } => {
                let margin = 1e-3 * (largest - least);
                let (from, to, at) = match self.params.end {
                    End::Smallest => (from, to.max(largest), least.min(from - margin)),
                    End::Largest => (from.min(least), to, largest.max(to + margin)),
                };
                match self.params.end {
                    End::Smallest if from >= largest - margin => self.filter(largest),
                    End::Largest if to <= least + margin => self.filter(least),
                    _ => Polynomial { degree, from, to, at },
                }
            }
        }
    }

    /// Lower and upper end of the spectrum for polynomials. The lower end of normal operators is 0, which a short run
    /// cannot find.
    pub(super) fn ends(&self) -> (f64, f64) {
        let (least, largest) = (self.report.least, self.report.largest);
        (if least < 0.0 && -least < 0.02 * largest { 0.0 } else { least }, largest)
    }

    /// The wanted end of the spectrum and the opposite one.
    pub(super) fn span(&self) -> (f64, f64) {
        let (least, largest) = self.ends();
        match self.params.end {
            End::Smallest => (least, largest),
            End::Largest => (largest, least),
        }
    }

    /// The beginning of an interval that leaves `value` outside: its distance from the wanted end of the spectrum is
    /// 1.5 times that of `value`, but at least 3 % of the length of the spectrum.
    pub(super) fn beyond(&self, value: f64) -> f64 {
        let (end, other) = self.span();
        end + 1.5 * ((value - end) / (other - end)).max(0.02) * (other - end)
    }

    /// The value that p exceeds at all wanted eigenvalues: those further out than the edge, which is the last of the
    /// wanted vectors found, or without an edge those outside of the interval.
    pub(super) fn bar(&self, edge: Option<f64>) -> f64 {
        // Eigenvalues this close to the interval cannot be told from eigenvalues inside it.
        edge.map_or(1.001 * self.p.edge(), |edge| self.p.value(self.inward(edge)))
    }

    /// The polynomial for a larger spectrum than the short run has found, if these values lie beyond its end.
    pub(super) fn extended(&mut self, found: &[f64], residuals: &[f64]) -> Option<Polynomial> {
        let (far, size) = (self.inward(self.span().1), self.scale());
        let beyond = |(v, r): (&f64, &f64)| self.inward(*v) - 2.0 * r > far + 1e-6 * size;
        let k = found.iter().zip(residuals).position(beyond)?;
        if self.p.degree == 1 {
            return None;
        }
        let reach = residuals[k] + 1e-2 * size;
        match self.params.end {
            End::Smallest => self.report.largest = found[k] + reach,
            End::Largest => self.report.least = found[k] - reach,
        }
        Some(self.filter(self.p.cut()))
    }

    /// `value`, or its negative, with the sign for which values grow from the wanted end of the spectrum inwards.
    pub(super) fn inward(&self, value: f64) -> f64 {
        match self.params.end {
            End::Smallest => value,
            End::Largest => -value,
        }
    }

    /// The polynomial whose interval begins at `cut`; no polynomial if that is close to the opposite end.
    pub(super) fn filter(&self, cut: f64) -> Polynomial {
        let (least, largest) = self.ends();
        let (end, other) = self.span();
        // There is no polynomial either if the spectrum is a single point and this ratio is NaN.
        if (cut - end) / (other - end) < 0.9 {
            Polynomial::for_cut(self.params.end, cut, least, largest)
        } else {
            Polynomial::plain(self.params.end)
        }
    }

    /// A polynomial that suits these Ritz values better, if there is one.
    pub(super) fn adapt(&self, values: &[f64], wanted: usize) -> Option<Polynomial> {
        if self.p.degree == 1 {
            return None;
        }
        let outside: Vec<f64> = values.iter().filter_map(|&p| self.p.invert(p)).collect();
        let (end, old) = (self.span().0, self.p.cut());
        let margin = (wanted / 4).max(2);
        let cut = match outside.get(wanted + margin) {
            Some(&v) => v,
            // Too few Ritz values lie outside of the interval: it begins twice as far from the wanted end.
            None => end + 2.0 * (old - end),
        };
        let ratio = (cut - end) / (old - end);
        let kept = (0.5..1.01).contains(&ratio) || !cut.is_finite();
        (!kept).then(|| self.filter(cut))
    }
}
