//! Results of `plaq propagator`: averages, table, JSON and picture.

use serde_json::{json, Value};

use super::super::files::{lattice_text, name_of};
use super::super::options::Options;
use super::super::output::exponent;
use super::super::plot::{self, short, Panel, Series, COLOURS};
use super::super::session::{say, Session};
use super::super::smearing;
use super::super::statistics::{plateau, Plateau};
use super::samples::{Averages, Configurations};
use super::{sources, Job, Plan};
use crate::compose::{Chosen, COLUMNS};
use crate::error::Result;
use crate::fields::BoundaryTime;
use crate::ops::correlators::{effective_mass, outward_mass, EffectiveMass};
use crate::ops::gamma::Gamma;
use crate::ops::smearing::QuarkSmearing;
use crate::params::Choice;

/// Averages of a job, and quantities derived from them.
pub struct Shown<'a> {
    pub job: &'a Job,
    pub averages: Averages,
    pub fits: Vec<(&'static str, Option<Plateau>)>,
}

/// Positions of derived quantities, each with `times` numbers: pion, rho along x, y, z, their mean, nucleon, then the
/// effective masses of pion, rho and nucleon. PION is the position of the pion.
const PION: usize = 0;
const RHO: usize = 4;
const NUCLEON: usize = 5;
/// Position of the effective masses, of pion, rho and nucleon in this order.
const MASSES: usize = 6;
const NAMES: [&str; 3] = ["pion", "rho", "nucleon"];
const OF_NAMES: [usize; 3] = [PION, RHO, NUCLEON];

fn derive(job: &Job, numbers: &[f64], ends: Option<&TimePlaces>) -> Vec<f64> {
    let h = &job.hadrons;
    let masses = |correlator: &[f64], form| match ends {
        // Between boundaries in time no state propagates around the lattice.
        Some(ends) => outward_mass(correlator, ends.source, ends.boundary.kind()),
        None => effective_mass(correlator, form),
    };
    let pion = h.meson(numbers, Gamma::FIVE);
    let along = [Gamma::X, Gamma::Y, Gamma::Z].map(|g| h.meson(numbers, g));
    let rho: Vec<f64> =
        (0..h.times).map(|t| along.iter().map(|r| r[t]).sum::<f64>() / 3.0).collect();
    // The nucleon's average over configurations is real, so that only real parts are used.
    let nucleon = h.nucleon(numbers);
    let masses = [
        masses(&pion, EffectiveMass::Cosh),
        masses(&rho, EffectiveMass::Cosh),
        masses(&nucleon, EffectiveMass::Log),
    ];
    [&[pion], &along[..], &[rho, nucleon], &masses].concat().concat()
}

impl Shown<'_> {
    fn range(&self, which: usize) -> std::ops::Range<usize> {
        let (n, first) = (self.job.hadrons.times, self.job.hadrons.numbers());
        first + which * n..first + (which + 1) * n
    }

    fn values(&self, which: usize) -> &[f64] {
        &self.averages.all.values[self.range(which)]
    }

    fn errors(&self, which: usize) -> &[f64] {
        &self.averages.all.errors[self.range(which)]
    }

    fn has_errors(&self) -> bool {
        self.averages.all.bins > 1
    }
}

/// Averages of a job, if it has any samples.
fn shown<'a>(plan: &Plan, job: &'a Job, found: &Configurations) -> Option<Shown<'a>> {
    if job.samples.is_empty() {
        return None;
    }
    let ends = TimePlaces::of(job, found);
    let averages = job.samples.average(plan.bin, |numbers| derive(job, numbers, ends.as_ref()));
    let mut all = Shown { job, averages, fits: vec![] };
    if all.has_errors() {
        let half = ends.as_ref().map_or(job.hadrons.times / 2, |e| e.upper - e.source);
        for (k, name) in NAMES.iter().enumerate() {
            let (masses, errors) = (all.values(MASSES + k), all.errors(MASSES + k));
            // Masses beyond the middle of the lattice, or beyond a boundary, are used only if a window was asked for.
            let end = if plan.fit.is_some() { masses.len() } else { half };
            let window = plateau(&masses[..end], &errors[..end], plan.fit);
            // Averages without one bin have the same window and weights.
            let fit = window.map(|mut p| {
                let of = |numbers: &[f64]| {
                    let masses =
                        &derive(job, numbers, ends.as_ref())[(MASSES + k) * job.hadrons.times..];
                    vec![p.mean(masses)]
                };
                let again = job.samples.average(plan.bin, of);
                p.error = *again.all.errors.last().unwrap_or(&f64::NAN);
                p
            });
            all.fits.push((name, fit));
        }
    }
    Some(all)
}

/// The results to report; of several jobs those that have not begun are left out.
pub fn results<'a>(plan: &Plan, jobs: &'a [Job], found: &Configurations) -> Vec<Shown<'a>> {
    jobs.iter().filter_map(|job| shown(plan, job, found)).collect()
}

fn solver_name(plan: &Plan, job: &Job) -> &'static str {
    if plan.solving.by_multigrid() || job.solved.chosen == Chosen::Multigrid {
        "multigrid"
    } else {
        job.solved.solver.name()
    }
}

fn mass(m: f64) -> String {
    match m.is_nan() {
        true => format!("  {:>9}", "-"),
        false => format!("  {m:9.6}"),
    }
}

/// Prints a number with an exponent, right-aligned; a dash if it is not finite.
fn scientific(x: f64, digits: usize, width: usize) -> String {
    let text = if x.is_finite() { exponent(x, digits) } else { "-".into() };
    format!("{text:>width$}")
}

/// Positions of correlators relative to the boundaries in time of the links.
struct TimePlaces {
    boundary: BoundaryTime,
    /// Number of stored time slices, the slice of all sources, and the last slice of the lattice.
    slices: usize,
    source: usize,
    upper: usize,
}

impl TimePlaces {
    /// The places in time for the correlators of a job; None where links are periodic in time.
    fn of(job: &Job, found: &Configurations) -> Option<TimePlaces> {
        let boundary = found.boundary.filter(|boundary| !boundary.is_periodic())?;
        let slices = found.extents?[3];
        let source = job.sources.first()?.position[3];
        Some(TimePlaces { boundary, slices, source, upper: boundary.extent(slices) })
    }

    fn json(&self) -> Value {
        let slices: Vec<usize> =
            (0..self.slices).map(|t| (self.source + t) % self.slices).collect();
        let from = |end: usize| -> Vec<i64> {
            slices.iter().map(|x| (*x as i64 - end as i64).abs()).collect()
        };
        let source: Vec<i64> = slices.iter().map(|x| *x as i64 - self.source as i64).collect();
        json!({
            "boundary_time": self.boundary.kind().word(), "slices": slices, "source": source,
            "lower": from(0), "upper": from(self.upper),
        })
    }
}

pub fn table(
    session: &Session,
    options: &Options,
    plan: &Plan,
    shown: &Shown,
    found: &Configurations,
) {
    let (job, averages) = (shown.job, &shown.averages);
    let lattice = lattice_text(found.extents.unwrap_or_default());
    let plaquette = job.samples.plaquette()[0];
    let (first, last) = (&plan.files[0], &plan.files[plan.files.len() - 1]);
    if plan.files.len() == 1 {
        let format = found.format.map_or("", name_of);
        say!("# {first} ({format}), {lattice}, plaquette {plaquette:.9}");
    } else {
        say!(
            "# {} configurations, {first} to {last}, {lattice}, plaquette {plaquette:.9}; jackknife errors of {} bins",
            averages.whole,
            averages.all.bins
        );
    }
    say!(
        "# kappa {} (mass {}), csw {}{}{}, {}, {} normalisation",
        short(job.kappa),
        short(plan.action.mass(job.kappa)),
        plan.action.csw,
        plan.action.clover_name(),
        plan.action.others(),
        match found.boundary.filter(|boundary| !boundary.is_periodic()) {
            Some(boundary) => boundary.to_string(),
            None => format!("{} in time", plan.action.boundary),
        },
        plan.action.normalisation_name()
    );
    if let Some(kappa) = plan.strange {
        say!("# kappa of the strange quark {kappa}");
    }
    for (k, s) in job.sources.iter().enumerate() {
        let mut line = String::new();
        if s.noise.is_some() {
            line += &format!("{} noise, ", sources::noise_name(s));
        }
        let [x, y, z, _] = s.momentum;
        if s.momentum != [0; 4] {
            line += &format!("momentum ({x}, {y}, {z}), ");
        }
        if sources::sites(s) != "all" {
            line += &format!("{} sites, ", sources::sites(s));
        }
        let [x, y, z, t] = s.position;
        line += &match sources::kind(s) {
            "volume" => "volume source".into(),
            "wall" => format!("wall source at t = {t}"),
            _ => format!("point source at ({x}, {y}, {z}, {t})"),
        };
        if k + 1 == job.sources.len() {
            line += &format!(", {}", session.device.name());
        }
        say!("# {line}");
    }
    if let Some(TimePlaces { slices, source, upper, .. }) = TimePlaces::of(job, found) {
        let below = upper - source;
        match source {
            0 => say!("# t = 0 is slice 0, that of the lower boundary; the upper one is at slice {upper}"),
            _ => say!(
                "# t = 0 is slice {source}, {source} above the boundary at slice 0 and {below} below that at {upper}; slice 0 is t = {}",
                slices - source
            ),
        }
    }
    let (source, sink, links) = (&plan.at_source, &plan.at_sink, &plan.links);
    if source.steps + sink.steps > 0 {
        say!(
            "# Gaussian smearing (weight, steps): source {}, {}, sink {}, {}; links {}, {}",
            source.alpha,
            source.steps,
            sink.alpha,
            sink.steps,
            smearing::weight(links),
            links.steps
        );
    }
    let [x, y, z] = job.hadrons.momenta[0];
    if job.hadrons.momenta[0] != [0; 3] {
        say!("# momentum of the sink ({x}, {y}, {z})");
    }
    let walls = job.sources.iter().any(|s| sources::kind(s) == "wall" && s.noise.is_none());
    if walls {
        say!("# wall sources without noise are meant for links in a fixed gauge (plaq gaugefix)");
    }
    if job.samples.old() > 0 {
        let all = plan.files.len() * job.sources.len();
        say!("# {} of {all} propagators of {}", job.samples.old(), options.text("json"));
    }
    let s = &job.solved;
    if let Some(name) = options.get("load") {
        let residuals = job.samples.0.iter().flatten().flatten().map(|s| s.residual);
        let worst = residuals.fold(0.0, f64::max);
        say!("# propagators of {name}, residual {}", exponent(worst, 2));
    } else if s.count > 0 {
        say!(
            "# {}, {} inside double: {} iterations, residual {} (heavy-quark {}), {:.3} s, {:.1} Gflop/s, \
             peak {:.1} MiB{}{}",
            solver_name(plan, job),
            s.sloppy_precision.word(),
            s.iterations,
            exponent(s.residual, 2),
            exponent(s.residual_hq, 2),
            s.seconds,
            s.flops / s.seconds * 1e-9,
            s.memory_peak as f64 / 1048576.0,
            if s.columns < COLUMNS { format!(", solved {} at a time", s.columns) } else { String::new() },
            s.outcome()
        );
    }
    if plan.files.len() > 1 && averages.whole < plan.files.len() {
        say!("# INTERRUPTED: {} of {} configurations", averages.whole, plan.files.len());
    }
    rows(shown, plan.files.len() > 1);
    for (name, fit) in &shown.fits {
        match fit {
            Some(p) => say!(
                "# mass of the {name} {:.6} +- {:.6}, plateau t = {} to {}, chi^2 / dof {:.2}",
                p.value,
                p.error,
                p.from,
                p.to,
                p.chi2
            ),
            None => say!("# mass of the {name}: no plateau"),
        }
    }
}

fn rows(shown: &Shown, averages: bool) {
    let head = |name: &str| match averages {
        true => format!("  {name:>16} {:>8}  {:>9} {:>9}", "error", "m_eff", "error"),
        false => format!("  {name:>16}  {:>9}", "m_eff"),
    };
    let heads: Vec<String> = NAMES.iter().map(|n| head(n)).collect();
    say!("#{:>4}{}", "t", heads.concat());
    for t in 0..shown.job.hadrons.times {
        let one = |k: usize| {
            let (c, m) = (shown.values(OF_NAMES[k])[t], shown.values(MASSES + k)[t]);
            if !averages {
                return format!("  {}{}", scientific(c, 9, 16), mass(m));
            }
            let (dc, dm) = (shown.errors(OF_NAMES[k])[t], shown.errors(MASSES + k)[t]);
            let dc = if c.is_finite() { dc } else { f64::NAN };
            let dm = match m.is_finite() && dm.is_finite() {
                true => format!(" {dm:9.6}"),
                false => format!(" {:>9}", "-"),
            };
            format!("  {} {}{}{dm}", scientific(c, 9, 16), scientific(dc, 1, 8), mass(m))
        };
        say!("{t:5}{}", [0, 1, 2].map(one).concat());
    }
}

fn json_job(
    session: &Session,
    options: &Options,
    plan: &Plan,
    shown: &Shown,
    found: &Configurations,
) -> Value {
    let (job, averages) = (shown.job, &shown.averages);
    let [total, spatial, temporal] = job.samples.plaquette();
    let format = found.format.map_or("", name_of);
    let of_quarks = |s: &QuarkSmearing| json!([s.alpha, s.steps]);
    let of_links = json!([smearing::weight(&plan.links), plan.links.steps]);
    let source = |s: &crate::ops::source::Source| {
        json!({
            "kind": sources::kind(s), "position": s.position, "momentum": s.momentum[..3],
            "noise": sources::noise_name(s), "seed": s.seed, "sites": sources::sites(s),
        })
    };
    let all: Vec<Value> = job.sources.iter().map(source).collect();
    let mut solver = job.solved.json(solver_name(plan, job), &plan.solving);
    if plan.tol_error.is_some() {
        solver["errors"] = json!(job.errors);
    }
    if options.get("load").is_some() {
        let residuals = job.samples.0.iter().flatten().flatten().map(|s| s.residual);
        solver["residual"] = json!(residuals.fold(0.0, f64::max));
    }
    let mut report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "device": session.device.name(),
        "gauge": {
            "file": plan.files[0], "format": format, "lattice": found.extents,
            "boundary_time": found.boundary.map(|boundary| boundary.record()),
        },
        "plaquette": { "total": total, "spatial": spatial, "temporal": temporal },
        "job": job.settings(plan),
        "configurations": {
            "asked": plan.files.len(), "done": averages.whole, "bin": plan.bin,
            "bins": averages.all.bins, "sources_taken_over": job.samples.old(),
        },
        "action": plan.action.json(job.kappa),
        "seconds": { "load": job.seconds_load, "propagator": job.seconds_propagator },
        "source": { "kind": all[0]["kind"], "position": all[0]["position"] },
        "sources": all,
        "smearing": {
            "source": of_quarks(&plan.at_source), "sink": of_quarks(&plan.at_sink), "links": of_links,
        },
    });
    if let Some(s) = &job.hadrons.sequential {
        let time = s.time.map_or(-1, |t| t as i64);
        report["sequential"] =
            json!({ "time": time, "gamma": s.gamma.number(), "momentum": s.momentum });
    }
    if let Some(kappa) = plan.strange {
        report["kappa_strange"] = json!(kappa);
    }
    if let Some(ends) = TimePlaces::of(job, found) {
        report["distances"] = ends.json();
    }
    report["solver"] = solver;
    if let Some(multigrid) = &job.multigrid {
        report["multigrid"] = multigrid.clone();
    }
    report["samples"] = job.samples.json(&plan.files, &job.sources);
    let errors = shown.has_errors().then_some(&averages.all.errors[..]);
    let (mesons, baryons) = job.hadrons.json(&averages.all.values, errors);
    report["mesons"] = mesons;
    report["baryons"] = baryons;
    report["correlators"] = json!({
        "pion": shown.values(PION), "rho_x": shown.values(1), "rho_y": shown.values(2),
        "rho_z": shown.values(3), "nucleon": shown.values(NUCLEON),
    });
    let named = |of: &dyn Fn(usize) -> Vec<f64>| json!({ NAMES[0]: of(0), NAMES[1]: of(1), NAMES[2]: of(2) });
    report["effective_mass"] = named(&|k| shown.values(MASSES + k).to_vec());
    if shown.has_errors() {
        report["correlators_error"] = named(&|k| shown.errors(OF_NAMES[k]).to_vec());
        report["effective_mass_error"] = named(&|k| shown.errors(MASSES + k).to_vec());
        for (name, fit) in &shown.fits {
            report["fits"][name] = fit.as_ref().map_or(Value::Null, Plateau::json);
        }
    }
    report
}

pub fn json(
    session: &Session,
    options: &Options,
    plan: &Plan,
    jobs: &[Job],
    found: &Configurations,
) -> Value {
    let shown = results(plan, jobs, found);
    let mut all: Vec<Value> =
        shown.iter().map(|s| json_job(session, options, plan, s, found)).collect();
    match plan.several() || all.len() != 1 {
        true => json!({ "runs": all }),
        false => all.remove(0),
    }
}

/// Draws effective masses, with their errors for several configurations, up to the middle of the lattice or, over its
/// time slices, to the last one before a boundary in time; for several kappas those of the pion.
pub fn plot(name: &str, plan: &Plan, shown: &[Shown], found: &Configurations) -> Result<()> {
    let mut series = vec![];
    let ends = shown.first().and_then(|s| TimePlaces::of(s.job, found));
    let mut add = |s: &Shown, k: usize, label: String, colour: usize| {
        let half = ends.as_ref().map_or(s.job.hadrons.times / 2, |e| e.upper - e.source);
        let values = s.values(MASSES + k)[..half].to_vec();
        let mut one = Series::new(&label, COLOURS[colour % COLOURS.len()], values);
        if s.has_errors() {
            one.errors = s.errors(MASSES + k)[..half].to_vec();
        }
        if let Some(ends) = &ends {
            one.at = (ends.source..ends.upper).map(|x| x as f64).collect();
        }
        if let Some((_, Some(fit))) = s.fits.get(k) {
            one.band = Some((fit.value, fit.error, fit.from));
        }
        series.push(one);
    };
    for (k, s) in shown.iter().enumerate() {
        if plan.several() {
            add(s, 0, format!("pion, {}", short(s.job.kappa)), k);
            continue;
        }
        for (k, label) in NAMES.iter().enumerate() {
            add(s, k, label.to_string(), k);
        }
    }
    let kappa = if plan.several() { String::new() } else { format!(" {}", short(plan.kappas[0])) };
    let place = ends.as_ref().map_or(String::new(), |e| {
        format!(", source on slice {}, boundaries at 0 and {}", e.source, e.upper)
    });
    let title = format!(
        "{}: effective masses, kappa{kappa}, csw {}{}, {}{place}",
        plot::ensemble(plan.files.iter().map(String::as_str)),
        short(plan.action.csw),
        plan.action.clover_name(),
        lattice_text(found.extents.unwrap_or_default())
    );
    let across = if ends.is_some() { "x0 / a" } else { "t / a" };
    let panel = Panel { title, across, up: "a m", series, close: false };
    plot::write(name, &[panel])
}
