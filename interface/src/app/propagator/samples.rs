//! Correlators of configurations and sources, and continuation of a run from the JSON of an earlier one.

use serde_json::{json, Value};

use super::super::quark::Action;
use super::super::statistics::{jackknife, Jackknife};
use super::super::{files, options, output, Failure, Run};
use super::{sources, Job, Plan};
use crate::fields::BoundaryTime;
use crate::io::FileFormat;
use crate::operators::Boundary;
use crate::ops::source::Source;

/// Numbers that identify the links of a configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    /// Average plaquettes: total, spatial, temporal.
    pub plaquette: [f64; 3],
    /// Real and imaginary part of the weighted sum over all links of [`crate::ops::observables::projection`]; NaN if
    /// it is not known.
    pub projection: [f64; 2],
}

/// The correlators of one source on one configuration.
#[derive(Clone, Debug)]
pub struct Sample {
    pub numbers: Vec<f64>,
    pub links: Numbers,
    pub residual: f64,
    pub iterations: usize,
    pub converged: bool,
    /// Whether the sample was read from the results file that this run continues.
    pub old: bool,
}

/// The samples that exist, by configuration and source.
#[derive(Clone, Debug, Default)]
pub struct Samples(pub Vec<Vec<Option<Sample>>>);

/// Information about the configurations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Configurations {
    pub format: Option<FileFormat>,
    pub extents: Option<[usize; 4]>,
    pub boundary: Option<BoundaryTime>,
}

impl Configurations {
    /// The boundary of quarks, without a phase in time if they vanish at boundaries there.
    pub fn quark_boundary(&self, action: &Action) -> Boundary {
        let [x, y, z, t] = action.boundary.0;
        let periodic = self.boundary.is_none_or(|boundary| boundary.is_periodic());
        Boundary([x, y, z, if periodic { t } else { 0.0 }])
    }
}

/// Averages over configurations, and the number of these.
pub struct Averages {
    pub all: Jackknife,
    /// Number of complete configurations.
    pub whole: usize,
}

impl Samples {
    pub fn new(configurations: usize, sources: usize) -> Samples {
        Samples(vec![vec![None; sources]; configurations])
    }

    fn there(&self) -> impl Iterator<Item = &Sample> {
        self.0.iter().flatten().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.there().next().is_none()
    }

    /// Number of samples taken over from an earlier run.
    pub fn old(&self) -> usize {
        self.there().filter(|s| s.old).count()
    }

    /// Means of the total, spatial and temporal plaquette over all samples.
    pub fn plaquette(&self) -> [f64; 3] {
        let n = self.there().count() as f64;
        [0, 1, 2].map(|k| self.there().map(|s| s.links.plaquette[k]).sum::<f64>() / n)
    }

    /// Numbers of the links of a configuration that has samples.
    pub fn links(&self, configuration: usize) -> Option<Numbers> {
        self.0[configuration].iter().flatten().next().map(|s| s.links)
    }

    /// For each complete configuration its number, and its correlators averaged over sources; if none is complete,
    /// the first one with samples.
    pub fn means(&self) -> Vec<(usize, Vec<f64>)> {
        let mean = |of: &Vec<Option<Sample>>| -> Vec<f64> {
            let there: Vec<&Sample> = of.iter().flatten().collect();
            let mut mean = vec![0.0; there[0].numbers.len()];
            for s in &there {
                mean.iter_mut().zip(&s.numbers).for_each(|(m, x)| *m += x / there.len() as f64);
            }
            mean
        };
        let all = || self.0.iter().enumerate();
        let complete = all().filter(|(_, of)| of.iter().all(Option::is_some));
        let mut means: Vec<_> = complete.map(|(c, of)| (c, mean(of))).collect();
        if means.is_empty() {
            let begun = all().find(|(_, of)| of.iter().any(Option::is_some));
            means.extend(begun.map(|(c, of)| (c, mean(of))));
        }
        means
    }

    /// Averages of correlators over complete configurations, and of what `derive` computes from them, with errors from
    /// a jackknife over bins of `bin` configurations.
    pub fn average(&self, bin: usize, derive: impl Fn(&[f64]) -> Vec<f64>) -> Averages {
        let all: Vec<Vec<f64>> = self.means().into_iter().map(|(_, numbers)| numbers).collect();
        Averages { whole: all.len(), all: jackknife(&all, bin, derive) }
    }

    pub fn json(&self, files: &[String], sources: &[Source]) -> Value {
        let mut all = vec![];
        for (file, of) in files.iter().zip(&self.0) {
            for (source, sample) in sources.iter().zip(of) {
                let Some(s) = sample.as_ref().filter(|s| s.converged) else { continue };
                all.push(json!({
                    "gauge": file, "source": sources::name(source), "plaquette": s.links.plaquette,
                    "links_projection": s.links.projection,
                    "iterations": s.iterations, "residual": s.residual, "numbers": s.numbers,
                }));
            }
        }
        json!(all)
    }

    /// Takes those samples from the results of an earlier run that are part of this run.
    fn take(&mut self, from: &Value, files: &[String], sources: &[Source], numbers: usize) {
        for entry in from["samples"].as_array().into_iter().flatten() {
            let c = files.iter().position(|f| entry["gauge"] == **f);
            let s = sources.iter().position(|s| entry["source"] == sources::name(s));
            let list = |v: &Value| -> Option<Vec<f64>> {
                v.as_array()?.iter().map(Value::as_f64).collect()
            };
            let (Some(c), Some(s)) = (c, s) else { continue };
            let plaquette = list(&entry["plaquette"]).and_then(|p| p.try_into().ok());
            let found = list(&entry["numbers"]).filter(|n| n.len() == numbers);
            let (Some(plaquette), Some(numbers)) = (plaquette, found) else { continue };
            let projection = list(&entry["links_projection"]).and_then(|p| p.try_into().ok());
            let projection = projection.unwrap_or([f64::NAN; 2]);
            self.0[c][s] = Some(Sample {
                numbers,
                links: Numbers { plaquette, projection },
                residual: entry["residual"].as_f64().unwrap_or(f64::NAN),
                iterations: entry["iterations"].as_u64().unwrap_or(0) as usize,
                converged: true,
                old: true,
            });
        }
    }
}

/// Takes the results from the JSON of an earlier run, for every kappa in it.
pub fn go_on(file: &str, plan: &Plan, jobs: &mut [Job], found: &mut Configurations) -> Run<()> {
    if !std::path::Path::new(file).exists() {
        return Ok(());
    }
    let refused = |text: &str| Failure::refused(format!("--continue: {file}: {text}"));
    let before: Value = serde_json::from_str(&output::read_text(file)?)
        .map_err(|_| refused("not the JSON of a run of propagator"))?;
    let runs: Vec<&Value> = match before["runs"].as_array() {
        Some(all) => all.iter().collect(),
        None => vec![&before],
    };
    let theirs = runs.first().and_then(|r| r["job"].as_object());
    let gauge = runs.first().map(|r| &r["gauge"]);
    let lattice: Option<[usize; 4]> =
        gauge.and_then(|g| serde_json::from_value(g["lattice"].clone()).ok());
    let (Some(theirs), Some(extents)) = (theirs, lattice) else {
        return Err(refused("not the JSON of a run of propagator of this version"));
    };
    let format = gauge.and_then(|g| g["format"].as_str()).unwrap_or_default();
    found.extents = Some(extents);
    let boundary = gauge.and_then(|g| g["boundary_time"].as_str());
    found.boundary = boundary.and_then(|record| BoundaryTime::of_record(record).ok());
    found.format = options::FORMATS.contains(&format).then(|| files::format_of(format));
    let mut any = false;
    for job in jobs.iter_mut() {
        job.start(plan, extents)?;
        let mine = Value::Object(job.settings(plan));
        let Some(run) = runs.iter().find(|r| r["job"] == mine) else { continue };
        any = true;
        job.samples.take(run, &plan.files, &job.sources, job.hadrons.numbers());
    }
    match any {
        true => Ok(()),
        false => {
            let differ = output::differences(theirs, &jobs[0].settings(plan));
            Err(refused(&format!("of another run: {}", differ.join("; "))))
        }
    }
}
