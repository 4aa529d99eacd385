//! Results of `plaq overlap`: table, JSON and picture.

use serde_json::{json, Value};

use super::super::files::{described, lattice_text, name_of};
use super::super::options::Options;
use super::super::output::{self, exponent as e};
use super::super::plot::{self, short, Panel, Series, BLUE, GREY, RED};
use super::super::session::{say, Session};
use super::work::Results;
use super::{Plan, Task};
use crate::error::Result;
use crate::params::Choice;

/// Eigenvalues and residuals of the low modes of one chirality: `side` 0 for positive, 1 for negative.
fn low_of(plan: &Plan, done: &Results, side: usize) -> (Vec<f64>, Vec<f64>) {
    let first = |all: &[f64]| all.iter().take(plan.low).copied().collect();
    done.low
        .as_ref()
        .map_or((vec![], vec![]), |low| (first(&low.values()[side]), first(&low.residuals()[side])))
}

pub fn print(session: &Session, plan: &Plan, done: &Results) {
    let (modes, r) = (done.op.sign().modes(), &done.report);
    let total = done.plaquette.total;
    say!(
        "# {} ({}), {}, plaquette {total:.9}",
        plan.file,
        name_of(done.format),
        lattice_text(done.lattice)
    );
    say!(
        "# s {}, {}, degree {} for {} < |Q| < {}, delta {}, error bound {}",
        short(r.s),
        r.sign.word(),
        r.degree,
        e(r.low, 3),
        e(r.high, 3),
        e(r.delta, 2),
        e(r.error_bound, 2)
    );
    say!(
        "# Ginsparg-Wilson violation {}; kappa_+ {}, kappa_- {}; {}",
        e(done.violation, 2),
        e(r.kappa_plus, 1),
        e(r.kappa_minus, 1),
        session.device.name()
    );
    if r.vectors_on_device < r.vectors || r.max_vectors > 0 {
        say!(
            "# {} vectors, {} of them on the device, the others on the host; room for {} in the search",
            r.vectors,
            r.vectors_on_device,
            r.max_vectors
        );
    }
    say!("#{:>4}  {:>20}  {:>10}  {:>10}", "k", "lambda(Q)", "residual", "distance");
    for k in 0..modes.count() {
        let (v, r, d) = (modes.values()[k], modes.residuals()[k], modes.distances()[k]);
        say!("{k:5}  {:>20}  {:>10}  {:>10}", e(v, 12), e(r, 2), e(d, 3));
    }
    for (k, h) in modes.high().iter().enumerate() {
        say!("# high {k}: |Q| {}, error {}, gap {}", e(h.value, 6), e(h.residual, 1), e(h.gap, 2));
    }
    if let Some(all) = &done.locality {
        say!("#{:>4}  {:>20}", "r", "largest |D eta|");
        all.iter().enumerate().for_each(|(r, x)| say!("{r:5}  {:>20}", e(*x, 12)));
    }
    if let Some(low) = &done.low {
        let [plus, minus] = low.zeros();
        let index = minus as i64 - plus as i64;
        say!("# index {index}: {plus} zero modes of positive chirality, {minus} of negative");
        say!("#{:>4}  {:>20}  {:>20}", "k", "|lambda(D)|^2 +", "|lambda(D)|^2 -");
        let (plus, minus) = (low_of(plan, done, 0).0, low_of(plan, done, 1).0);
        for (k, (p, m)) in plus.iter().zip(&minus).enumerate() {
            say!("{k:5}  {:>20}  {:>20}", e(*p, 12), e(*m, 12));
        }
    }
    let Some(quarks) = &done.quarks else { return };
    let r = &quarks.report;
    let end = match (r.converged, r.stopped) {
        (true, _) => "",
        (_, true) => ", INTERRUPTED",
        _ => ", NOT CONVERGED",
    };
    for (mass, q) in plan.masses.iter().zip(&quarks.of) {
        let (solver, residual) = (quarks.by.0.word(), e(r.residual, 2));
        say!(
            "# m {}: {} iterations of {solver}, residual {residual}{end}",
            short(*mass),
            r.iterations
        );
        say!("#{:>4}  {:>18}  {:>18}  {:>18}", "t", "pion", "rho", "nucleon");
        for t in 0..q.pion.len() {
            let [p, r, n] = [q.pion[t], q.rho[t], q.nucleon[t]].map(|x| e(x, 10));
            say!("{t:5}  {p:>18}  {r:>18}  {n:>18}");
        }
    }
}

pub fn json(session: &Session, options: &Options, plan: &Plan, done: &Results) -> Value {
    let modes = done.op.sign().modes();
    let of_kernel: Vec<Value> = (0..modes.count())
        .map(|k| {
            json!({ "value": modes.values()[k], "residual": modes.residuals()[k], "gap": modes.distances()[k] })
        })
        .collect();
    let upper: Vec<Value> = modes
        .high()
        .iter()
        .map(|h| json!({ "value": h.value, "residual": h.residual, "gap": h.gap }))
        .collect();
    let mut report = json!({
        "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
        "gauge": described(&plan.file, done.format, done.lattice),
        "plaquette": { "total": done.plaquette.total },
        "action": {
            "s": done.report.s, "boundary": plan.boundary.0, "masses": plan.masses,
        },
        "operator": output::report_json(&done.report),
        "kernel": { "low": of_kernel, "high": upper },
        "ginsparg_wilson": done.violation,
    });
    if let Some(all) = &done.locality {
        report["locality"] = json!(all);
    }
    if let Some(found) = &done.low {
        let [plus, minus] = found.zeros();
        let (plus_values, plus_residuals) = low_of(plan, done, 0);
        let (minus_values, minus_residuals) = low_of(plan, done, 1);
        report["index"] = json!(minus as i64 - plus as i64);
        report["overlap"] = json!({
            "zeros": [plus, minus],
            "low": {
                "plus": plus_values, "minus": minus_values, "plus_residuals": plus_residuals,
                "minus_residuals": minus_residuals,
            },
        });
    }
    if let Some(quarks) = &done.quarks {
        let (solver, preconditioner) = (quarks.by.0.word(), quarks.by.1.word());
        report["solver"] = output::report_json(&quarks.report);
        output::extend(
            &mut report["solver"],
            json!({
                "solver": solver, "name": solver, "preconditioner": preconditioner,
                "precision": options.text("precision"),
            }),
        );
        let one = |(mass, q): (&f64, &super::work::MassCorrelators)| {
            let [pion, rho, nucleon] = &q.masses;
            json!({
                "mass": mass, "condensate": q.condensate, "pion": q.pion, "rho_x": q.rho_xyz[0],
                "rho_y": q.rho_xyz[1], "rho_z": q.rho_xyz[2], "nucleon": q.nucleon,
                "effective_mass": { "pion": pion, "rho": rho, "nucleon": nucleon },
            })
        };
        let all: Vec<Value> = plan.masses.iter().zip(&quarks.of).map(one).collect();
        report["correlators"] = json!(all);
    }
    let names = ["load", "modes", "sign", "ginsparg_wilson", "locality", "index", "propagator"];
    let seconds = names.iter().zip(done.seconds).map(|(n, s)| (n.to_string(), json!(s)));
    report["seconds"] = Value::Object(seconds.collect());
    report
}

fn title(what: &str, plan: &Plan) -> String {
    format!("{what}, {}", plan.file.rsplit('/').next().unwrap_or_default())
}

/// Draws the modes of the kernel (moduli of positive and negative eigenvalues), or the low eigenvalues of D on their
/// circle, Re lambda = |lambda|^2 / (2 rho).
pub fn plot(name: &str, plan: &Plan, done: &Results) -> Result<()> {
    if plan.task == Task::Modes {
        let values = done.op.sign().modes().values();
        let of = |sign: f64| -> Vec<f64> {
            values.iter().map(|v| if v * sign > 0.0 { v.abs() } else { f64::NAN }).collect()
        };
        let series =
            vec![Series::new("positive", BLUE, of(1.0)), Series::new("negative", RED, of(-1.0))];
        let title = title("Low modes of the kernel Q", plan);
        return plot::write(
            name,
            &[Panel { title, across: "k", up: "|lambda(Q)|", series, close: false }],
        );
    }
    let rho = done.op.rho();
    let angles = (0..=360).map(|k| f64::from(k).to_radians());
    let mut circle =
        Series { name: "all eigenvalues".into(), colour: GREY, line: true, ..Default::default() };
    for a in angles {
        circle.at.push(rho * (1.0 + a.cos()));
        circle.values.push(rho * a.sin());
    }
    let side = |k: usize, label: &str, colour| {
        let mut s = Series { name: label.into(), colour, ..Default::default() };
        for square in low_of(plan, done, k).0 {
            let re = square / (2.0 * rho);
            let im = (square - re * re).max(0.0).sqrt();
            s.at.push(re);
            s.values.push(if k == 0 { im } else { -im });
        }
        s
    };
    let mut title = title("Eigenvalues of D", plan);
    if let Some(low) = &done.low {
        let [plus, minus] = low.zeros();
        title += &format!(", index {}", minus as i64 - plus as i64);
    }
    let series =
        vec![side(0, "positive chirality", BLUE), side(1, "negative chirality", RED), circle];
    plot::write(
        name,
        &[Panel { title, across: "Re lambda", up: "Im lambda", series, close: false }],
    )
}
