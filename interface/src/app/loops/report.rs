//! Output of `plaq loops`: table, JSON and HDF5.

use std::path::Path;

use num_complex::Complex64;
use serde_json::{json, Value};

use super::Plan;
use crate::app::files::{self, described, lattice_text};
use crate::app::session::{say, Session};
use crate::app::{output, Run};
use crate::error::Result;
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers};
use crate::io::FileFormat;
use crate::ops::gamma::{Gamma, NAMES};
use crate::ops::structure::loop_sums::{LoopSums, LoopsReport};
use crate::params::Choice as _;

/// The loops of a configuration.
pub struct ConfigurationLoops {
    pub name: String,
    pub format: FileFormat,
    pub extents: [usize; 4],
    pub sums: LoopSums,
    pub done: LoopsReport,
    pub multigrid: Option<Value>,
}

/// Means with their squared errors, for lines first, then for the conserved current.
struct Values {
    mean: Vec<Complex64>,
    squares: Vec<Complex64>,
}

impl Values {
    fn of(found: &ConfigurationLoops) -> Result<Values> {
        let all = found.sums.result(None)?;
        Ok(Values { mean: all.mean, squares: all.variance })
    }

    /// Means of all numbers over configurations, with errors from the scatter between configurations.
    fn averages(all: &[ConfigurationLoops]) -> Result<Values> {
        let each: Vec<Vec<Complex64>> =
            all.iter().map(|found| Ok(found.sums.result(None)?.mean)).collect::<Result<_>>()?;
        let n = each.len() as f64;
        let numbers = each.first().map_or(0, Vec::len);
        let mean: Vec<Complex64> =
            (0..numbers).map(|k| each.iter().map(|one| one[k]).sum::<Complex64>() / n).collect();
        let whole = all.iter().all(|found| found.sums.whole());
        let square = |k: usize| {
            if !whole {
                return Complex64::new(f64::INFINITY, f64::INFINITY);
            }
            let off = each.iter().map(|one| one[k] - mean[k]);
            let sum: Complex64 = off.map(|z| Complex64::new(z.re * z.re, z.im * z.im)).sum();
            sum / (n * (n - 1.0))
        };
        let squares = (0..numbers).map(square).collect();
        Ok(Values { mean, squares })
    }

    /// Prints a table over time slices of the loops with the first of the lines and the first momentum.
    fn table(&self, plan: &Plan, times: usize) {
        say!("# line {}, momentum {:?}", plan.words[0], plan.of.momenta[0]);
        say!("# Gamma   t              re         error              im         error");
        for gamma in 0..16 {
            for t in 0..times {
                let k = gamma * plan.of.momenta.len() * times + t;
                let (z, v) = (self.mean[k], self.squares[k]);
                say!(
                    "  {gamma:5} {t:3}  {:14.8}  {:12}  {:14.8}  {:12}",
                    z.re,
                    output::exponent(v.re.sqrt(), 4),
                    z.im,
                    output::exponent(v.im.sqrt(), 4)
                );
            }
        }
    }

    /// Members "loops" and "current" of reports.
    fn json(&self, plan: &Plan, lines: usize, times: usize) -> [Value; 2] {
        let of = |values: &dyn Fn(usize) -> f64, first: usize| {
            (first..first + times).map(values).collect::<Vec<f64>>()
        };
        let with = |mut one: Value, first: usize| {
            let arrays = json!({
                "re": of(&|k| self.mean[k].re, first), "im": of(&|k| self.mean[k].im, first),
                "re_error": of(&|k| self.squares[k].re.sqrt(), first),
                "im_error": of(&|k| self.squares[k].im.sqrt(), first),
            });
            output::extend(&mut one, arrays);
            one
        };
        let momenta = &plan.of.momenta;
        let mut loops = vec![];
        for (l, word) in plan.words.iter().enumerate() {
            for gamma in Gamma::all() {
                for (p, momentum) in momenta.iter().enumerate() {
                    let first = ((16 * l + gamma.number()) * momenta.len() + p) * times;
                    let one = json!({
                        "line": word, "gamma": gamma.number(), "name": gamma.name(), "momentum": momentum,
                    });
                    loops.push(with(one, first));
                }
            }
        }
        let mut current = vec![];
        for mu in 0..4 {
            for (p, momentum) in momenta.iter().enumerate() {
                let first = lines + (mu * momenta.len() + p) * times;
                current.push(with(json!({ "mu": mu, "momentum": momentum }), first));
            }
        }
        [loops.into(), current.into()]
    }
}

impl ConfigurationLoops {
    fn times(&self) -> usize {
        self.extents[3]
    }

    /// Whether the work was not interrupted and all solves converged.
    pub fn whole(&self) -> bool {
        !self.done.stopped && self.done.failed == 0 && self.sums.whole()
    }

    pub fn table(&self, plan: &Plan) -> Run<()> {
        let (name, format) = (&self.name, files::name_of(self.format));
        say!(
            "# {name} ({format}), {}, kappa {}{}",
            lattice_text(self.extents),
            plan.kappa,
            plan.action.others()
        );
        say!("#     part  level     done    total    solves    seconds        error");
        for part in self.sums.part_reports(plan.goals.gamma) {
            say!(
                "# {:>8}  {:5}  {:7}  {:7}  {:8}  {:9.1}  {:11}{}",
                part.term.word(),
                part.level,
                part.done,
                part.total,
                part.solves,
                part.seconds,
                output::exponent(part.error, 4),
                match (part.failed > 0, part.done < part.total) {
                    (true, _) => ", NOT CONVERGED",
                    (false, true) => ", INCOMPLETE",
                    (false, false) => "",
                }
            );
        }
        let end = match plan.goals.error {
            _ if self.done.stopped => ", INTERRUPTED".into(),
            error if error > 0.0 && !self.done.reached => format!(", NOT REACHED: {error}"),
            _ => String::new(),
        };
        say!(
            "# error {} of Gamma {} at a time slice, {:.1} s{end}",
            output::exponent(self.done.error, 4),
            NAMES[plan.goals.gamma],
            self.done.seconds
        );
        Values::of(self)?.table(plan, self.times());
        Ok(())
    }

    /// The entry of this configuration in the JSON report.
    fn json(&self, plan: &Plan) -> Result<Value> {
        let parts = self.sums.part_reports(plan.goals.gamma);
        let parts: Vec<Value> = parts.iter().map(output::report_json).collect();
        let [lines, _] = self.sums.numbers();
        let [loops, current] = Values::of(self)?.json(plan, lines, self.times());
        let mut all = output::report_json(&self.done);
        let more = json!({
            "gauge": described(&self.name, self.format, self.extents), "parts": parts, "multigrid": self.multigrid, "loops": loops, "current": current,
        });
        output::extend(&mut all, more);
        Ok(all)
    }
}

/// Prints averages over configurations, if there are several.
pub fn averages(plan: &Plan, all: &[ConfigurationLoops]) -> Run<()> {
    if all.len() > 1 {
        say!("# averages of {} configurations, with what these scatter by as errors", all.len());
        Values::averages(all)?.table(plan, all[0].times());
    }
    Ok(())
}

/// The JSON report; for several configurations a list, and averages.
pub fn json(session: &Session, plan: &Plan, all: &[ConfigurationLoops]) -> Result<Value> {
    let (of, goals) = (&plan.of, &plan.goals);
    let mut report = json!({
        "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
        "action": plan.action.json(plan.kappa), "minus_kappa": plan.minus, "contraction": of.how.word(),
        "noise": {
            "noise": of.noise.noise.word(), "seed": of.noise.seed, "columns": of.noise.columns(),
            "probes": of.noise.probes,
        },
        "hopping": of.params.hopping, "goal": {
            "error": goals.error, "gamma": NAMES[goals.gamma], "seconds": goals.seconds, "vectors": goals.vectors,
        },
    });
    let more = match all {
        [one] if plan.files.len() == 1 => one.json(plan)?,
        _ => {
            let runs: Vec<Value> =
                all.iter().map(|found| found.json(plan)).collect::<Result<_>>()?;
            let mut averages = Value::Null;
            if all.len() > 1 {
                let [lines, _] = all[0].sums.numbers();
                let [loops, current] = Values::averages(all)?.json(plan, lines, all[0].times());
                averages =
                    json!({ "configurations": all.len(), "loops": loops, "current": current });
            }
            json!({ "runs": runs, "averages": averages })
        }
    };
    output::extend(&mut report, more);
    Ok(report)
}

/// Writes loops and errors of every configuration to an HDF5 file.
pub fn hdf5(name: &str, plan: &Plan, all: &[ConfigurationLoops]) -> Result<()> {
    let Some(first) = all.first() else { return Ok(()) };
    let [lines, _] = first.sums.numbers();
    let (times, momenta) = (first.times(), &plan.of.momenta);
    let values: Vec<Values> = all.iter().map(Values::of).collect::<Result<_>>()?;
    let error = |z: &Complex64| Complex64::new(z.re.sqrt(), z.im.sqrt());
    let dataset = |name: &str, current: bool, errors: bool| {
        let part = |of: &Values| -> Vec<Complex64> {
            let all = if errors { &of.squares } else { &of.mean };
            let all = if current { &all[lines..] } else { &all[..lines] };
            all.iter().map(|z| if errors { error(z) } else { *z }).collect()
        };
        let (mut extents, indices) = match current {
            true => (vec![4], "configuration, mu, momentum, t"),
            false => (vec![plan.words.len(), 16], "configuration, line, gamma, momentum, t"),
        };
        extents.insert(0, all.len());
        extents.extend([momenta.len(), times]);
        let mut attributes: Attributes = vec![
            ("kind", Attribute::Text("loops".into())),
            ("indices", Attribute::Text(indices.into())),
            (
                "momenta",
                Attribute::Integers(momenta.iter().flatten().map(|n| i64::from(*n)).collect()),
            ),
        ];
        if !current {
            attributes.push(("lines", Attribute::Texts(plan.words.clone())));
            attributes.push(("gammas", Attribute::Texts(NAMES.map(String::from).to_vec())));
        }
        let numbers = values.iter().flat_map(part).collect();
        Dataset { name: name.into(), extents, numbers: Numbers::Complex(numbers), attributes }
    };
    let sets = [
        dataset("loops/mean", false, false),
        dataset("loops/error", false, true),
        dataset("current/mean", true, false),
        dataset("current/error", true, true),
    ];
    let mut attributes: Attributes = vec![
        ("plaq_version", Attribute::Text(env!("CARGO_PKG_VERSION").into())),
        ("lattice", Attribute::Integers(first.extents.map(|n| n as i64).to_vec())),
        ("gauge", Attribute::Texts(all.iter().map(|found| found.name.clone()).collect())),
        ("kappa", Attribute::Number(plan.kappa)),
        ("contraction", Attribute::Text(plan.of.how.word().into())),
    ];
    attributes.extend(plan.action.attributes());
    if let Some(other) = plan.minus {
        attributes.push(("minus_kappa", Attribute::Number(other)));
    }
    hdf5::write(Path::new(name), &sets, &attributes)
}
