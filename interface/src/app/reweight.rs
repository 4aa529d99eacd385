//! `plaq reweight`: reweighting factors of quark determinants on configurations, by noise.

use std::sync::Arc;

use serde_json::{json, Value};

use super::files::{self, described, lattice_text};
use super::options::{numbers, opt, param, refuse, Command, Kind, Need, Opt, Options};
use super::quark::{
    mass_options, monitor, multigrid, multigrid_json, multigrid_options,
    solver_options_with_multigrid, terms_without_mu, Action, Solving,
};
use super::session::{self, overwrite, say, Progress, Session};
use super::{interrupted, output, Failure, Run};
use crate::error::Status;
use crate::io::FileFormat;
use crate::linop::System;
use crate::ops::reweighting::{
    reweighting, Average, Factor, Reweighting, ReweightingKind, ReweightingParams,
};
use crate::params::Choice as _;

const fn of(name: &'static str, row: &str) -> Opt {
    param::<ReweightingParams>(name, ReweightingParams::row(row))
}

const RATIONAL: &[&[Need]] = &[&[Need::Is("kind", &["rational"])]];

#[rustfmt::skip]
const OPTIONS: &[Opt] = &[
    of("kind", "kind"),
    of("system", "system"),
    opt("mu", Kind::Text, "MU[,MU...]", "", "twisted mass, or ascending ones of which the last counts: more factors, each with less noise"),
    of("vectors", "vectors").or("12"),
    of("first", "first"),
    of("seed", "seed"),
    opt("interval", Kind::Text, "LOW,HIGH", "", "interval of the rational function: of a chain, for P^dagger P").needs(RATIONAL),
    of("poles", "poles").needs(RATIONAL),
    of("error", "error").needs(RATIONAL),
    of("fields", "fields").needs(RATIONAL),
    of("shifts", "shifts").needs(&[
        &[Need::Is("kind", &["rational"])],
        &[Need::Is("solver", &["multigrid", "block-multigrid"])],
    ]),
    opt("json", Kind::Output(&[]), "FILE", "", "all estimates as JSON"),
    overwrite(&[&[Need::With("json"), Need::With("save-multigrid")]]),
];

pub const COMMAND: Command = Command {
    name: "reweight",
    usage: &[
        "FILE... --kappa K --mu MU[,MU...] [options]",
        "FILE... --kappa K --kind rational --interval LOW,HIGH [options]",
    ],
    about: &[
        "reweighting factors of quark determinants",
        "Reweighting factors of configurations by noise: of twisted masses, or of a rational function. Configuration k",
        "of the list takes the seed --seed + k, k from 0.",
    ],
    tables: &[
        files::MANY,
        &mass_options("hopping parameter of the quark"),
        OPTIONS,
        &terms_without_mu(),
        &solver_options_with_multigrid(false),
        &multigrid_options(false),
        session::OPTIONS,
    ],
    input: Some("gauge"),
    example: "reweight b6.0.00001 b6.0.00002 --kappa 0.137 --csw 1.9 --mu 0.001 --vectors 24",
    run,
};

/// The work of `plaq reweight`, from its options.
struct Plan {
    kappa: f64,
    action: Action,
    solving: Solving,
    params: ReweightingParams,
    mu: Vec<f64>,
}

fn plan(options: &Options) -> Run<Plan> {
    let action = Action::of(options)?;
    let kappa = action.required_kappa(options)?;
    let mut params: ReweightingParams = options.params()?;
    let rational = params.kind == ReweightingKind::Rational;
    if rational && !options.given("system") {
        params.system = System::EvenSymmetric;
    }
    let solving = Solving::of(options)?;
    let mut mu = vec![];
    match (rational, options.get("mu")) {
        (true, Some(text)) => return Err(refuse("mu", text, "none with --kind rational")),
        (false, None) => {
            return Err(Failure::usage("--mu: missing; or give --kind rational with --interval"))
        }
        (true, None) => {
            let text = options.required("interval")?;
            let expected = "two numbers with a comma between, 0 < LOW < HIGH";
            let found = numbers::<f64, 2>(text).filter(|[low, high]| 0.0 < *low && low < high);
            let Some([low, high]) = found else { return Err(refuse("interval", text, expected)) };
            (params.low, params.high) = (low, high);
        }
        (false, Some(text)) => {
            let word = |word: &str| word.trim().parse::<f64>().ok();
            let found: Option<Vec<f64>> = text.split(',').map(word).collect();
            let fits = |mu: &Vec<f64>| mu[0] > 0.0 && mu.windows(2).all(|pair| pair[0] < pair[1]);
            let expected = "positive numbers with commas between, ascending";
            mu = found.filter(fits).ok_or_else(|| refuse("mu", text, expected))?;
        }
    }
    Ok(Plan { kappa, action, solving, params, mu })
}

/// The reweighting factors of one configuration.
struct Results {
    file: String,
    format: FileFormat,
    lattice: [usize; 4],
    found: Reweighting,
    /// The hierarchy as in JSON; null without one.
    multigrid: Value,
}

fn reweight(
    session: &Session,
    options: &Options,
    plan: &Plan,
    names: &[String],
    k: usize,
) -> Run<Results> {
    let name = &names[k];
    let loaded = files::read(session, name, &files::reading(options)?)?;
    let lattice = loaded.gauge.geometry().global_extents();
    let op = plan.action.operator(&Arc::new(loaded.gauge), plan.kappa)?;
    let of_file = |base: &str| files::of_several(base, name, names.len() > 1);
    let hierarchy = match plan.solving.by_multigrid() {
        true => Some(multigrid(&op, options, &mut None, of_file)?),
        false => None,
    };
    let solver = plan.solving.solver(&op, &plan.action, plan.params.vectors, hierarchy.as_ref())?;
    let seed = plan.params.seed.wrapping_add(k as u64);
    let params = ReweightingParams { seed, ..plan.params.clone() };
    let mut progress = Progress::new();
    let found = {
        let mut watch = monitor(&session.comm, &mut progress, "", 0.0);
        reweighting(&solver, &params, &plan.mu, &mut watch)?
    };
    progress.clear();
    let multigrid = hierarchy.map_or(Value::Null, |made| multigrid_json(&made));
    Ok(Results { file: name.into(), format: loaded.info.format, lattice, found, multigrid })
}

impl Results {
    fn print(&self, plan: &Plan) {
        let format = files::name_of(self.format);
        say!("# {} ({format}), {}, kappa {}", self.file, lattice_text(self.lattice), plan.kappa);
        say!("#  factor         mu        -ln W         error   |eta|^2 / sites");
        let sites: usize = self.lattice.iter().product();
        for (k, factor) in self.found.factors.iter().enumerate() {
            let Average { ln, error } = factor.average();
            let norm = factor.norm2.iter().sum::<f64>() / factor.norm2.len() as f64;
            let mu = plan.mu.get(k).map_or("-".to_string(), |mu| mu.to_string());
            say!(
                "  {k:7}  {mu:>9}  {:12}  {:12}  {:16.6}",
                output::exponent(-ln, 6),
                output::exponent(error, 3),
                norm / sites as f64
            );
        }
        let Average { ln, error } = self.found.product();
        say!(
            "# ln W {} +- {}, {} vectors, {} iterations, {:.1} s",
            output::exponent(ln, 8),
            output::exponent(error, 3),
            plan.params.vectors,
            self.found.iterations,
            self.found.seconds
        );
    }

    fn json(&self, plan: &Plan, weight: f64) -> Value {
        let one = |(k, factor): (usize, &Factor)| {
            let Average { ln, error } = factor.average();
            json!({
                "mu": plan.mu.get(k), "ln": ln, "error": error, "minus_ln": factor.minus_ln, "norms": factor.norm2,
            })
        };
        let factors: Vec<Value> = self.found.factors.iter().enumerate().map(one).collect();
        let mut all = output::report_json(&self.found.report());
        output::extend(
            &mut all,
            json!({
                "gauge": described(&self.file, self.format, self.lattice),
                "weight": weight, "multigrid": self.multigrid, "factors": factors,
            }),
        );
        all
    }
}

/// The weights W of all configurations divided by their average.
fn weights(all: &[Results]) -> Vec<f64> {
    let logs: Vec<f64> = all.iter().map(|one| one.found.product().ln).collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = logs.iter().map(|ln| (ln - largest).exp()).sum::<f64>() / logs.len() as f64;
    logs.iter().map(|ln| (ln - largest).exp() / mean).collect()
}

fn run(options: Options) -> Run<i32> {
    let names = files::distinct(&options)?;
    let plan = plan(&options)?;
    let hierarchies = [("save-multigrid", options.flag("overwrite"), "")];
    files::check_outputs(&options, &names, &["json"], &hierarchies)?;
    session::run(&options, |session| {
        files::of_one_run(session, &names, &files::reading(&options)?)?;
        let mut all = vec![];
        let mut whole = true;
        for (k, name) in names.iter().enumerate() {
            match reweight(session, &options, &plan, &names, k) {
                Ok(done) => {
                    done.print(&plan);
                    all.push(done);
                }
                Err(Failure::Work(e)) if e.status == Status::NotConverged => {
                    let end = if interrupted() { ", INTERRUPTED" } else { "" };
                    session::print_error(&format!("{name}: {}{end}", super::in_words(&e)));
                    whole = false;
                    break;
                }
                Err(e) => return Err(e),
            }
        }
        let weights = weights(&all);
        if all.len() > 1 {
            say!("# W over its average");
            for (done, weight) in all.iter().zip(&weights) {
                say!("  {:12}  {}", output::exponent(*weight, 6), done.file);
            }
        }
        if let Some(name) = options.get("json").filter(|_| session.first()) {
            let ReweightingParams { kind, system, seed, first, vectors, .. } = plan.params;
            let runs: Vec<Value> =
                all.iter().zip(weights).map(|(done, weight)| done.json(&plan, weight)).collect();
            let report = json!({
                "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
                "kind": kind.word(), "system": system.word(), "mu": plan.mu,
                "noise": { "seed": seed, "first": first, "vectors": vectors },
                "rational": (kind == ReweightingKind::Rational).then(|| json!({
                    "interval": [plan.params.low, plan.params.high], "poles": plan.params.poles,
                    "error": plan.params.error, "fields": plan.params.fields, "shifts": plan.params.shifts,
                })),
                "action": plan.action.json(plan.kappa),
                "runs": runs,
            });
            output::write_json(name, "reweight", &report)?;
        }
        Ok(session::status(whole))
    })
}
