//! `plaq gluon`: the gluon propagator of a configuration in Landau gauge.
//!
//! D(p^2) = sum_{a,mu} |A^a_mu(p)|^2 / (8 * 3 V), at p = 0 (8 * 4 V), as the gauge condition takes no component away
//! there; p_mu = 2 sin(pi k_mu / L_mu). A = A^a T^a is the traceless part of (U - U^dagger) / 2i at the midpoints of
//! the links, with g_0: D is g_0^2 times the propagator, in units of the lattice spacing (Leinweber et al., Phys.
//! Rev. D 60 (1999) 094507).

use std::collections::BTreeMap;
use std::f64::consts::PI;

use num_complex::Complex64;
use rustfft::FftPlanner;
use serde_json::{json, Value};

use super::files::{self, described, lattice_text};
use super::options::{opt, Command, Kind, Need, Opt, Options, LONG};
use super::plot::{self, Panel, Series, BLUE};
use super::session::{self, overwrite, say};
use super::{interrupted, output, Failure, Run, NOT_COMPLETED};
use crate::backend::External;
use crate::error::{host_array, Result};
use crate::fields::{GaugeField, Layout, Precision};
use crate::ops::gaugefix::{fix_gauge, Condition, GaugeFixParams};
use crate::ops::observables::plaquette;

const FIXES: &[&[Need]] = &[&[Need::Is("fix", &["yes"])]];
const OPTIONS: &[Opt] = &[
    opt(
        "fix",
        Kind::Word(&["no", "yes", "as-is"]),
        "F",
        "no",
        "yes: fixes the gauge first; no: refuses links that are not fixed; as-is: takes them",
    ),
    opt(
        "tol",
        Kind::Number,
        "T",
        "1e-12",
        "violation of the gauge condition that --fix yes reaches",
    )
    .old("stop-theta")
    .needs(FIXES),
    opt("copies", LONG, "N", "1", "gauge copies, of which the best is kept").needs(FIXES),
    opt("seed", LONG, "S", "1", "seed of their random numbers").needs(&[&[Need::With("copies")]]),
    opt(
        "cut",
        Kind::Number,
        "WIDTH",
        "1",
        "momenta at most so many units 2 pi / L_space away from the diagonal (1,1,1,1)",
    ),
    opt("json", Kind::Output(&[]), "FILE", "", "all momenta as JSON"),
    opt("plot", Kind::Output(plot::ENDINGS), "FILE", "", "p^2 D over p^2 as a picture"),
    overwrite(&[&[Need::With("json"), Need::With("plot")]]),
];

pub const COMMAND: Command = Command {
    name: "gluon",
    usage: &["FILE [options]"],
    about: &[
        "the gluon propagator in Landau gauge",
        "The gluon propagator of a configuration in Landau gauge, p^2 and D(p^2) in a table. One rank only.",
    ],
    tables: &[files::ONE, OPTIONS, session::OPTIONS],
    input: Some("gauge"),
    example: "gluon b6.0.00001 --fix yes --plot gluon.svg",
    run,
};

/// Number of complex numbers of a matrix.
const ENTRIES: usize = 9;
const SITE: usize = 4 * ENTRIES;

/// A class of momenta that are equivalent under the symmetries of the lattice.
#[derive(Clone, Copy, Default)]
struct Point {
    k: [usize; 4],
    p2: f64,
    /// The sum over a and mu of |A|^2, over the `momenta` members of the class.
    sum: f64,
    momenta: usize,
}

/// Replaces U by the traceless part of (U - U^dagger) / 2i.
fn potential(u: &mut [Complex64]) {
    for i in 0..3 {
        for j in 0..=i {
            let a = (u[3 * i + j] - u[3 * j + i].conj()) / Complex64::new(0.0, 2.0);
            u[3 * i + j] = a;
            u[3 * j + i] = a.conj();
        }
    }
    let trace = (u[0] + u[4] + u[8]) / 3.0;
    [0, 4, 8].iter().for_each(|&k| u[k] -= trace);
}

/// Computes sum_x exp(-2 pi i k x / L) f(x) in place, one axis after the other, for every number of a site.
fn fourier(l: [usize; 4], field: &mut [Complex64]) {
    let mut planner = FftPlanner::new();
    let mut stride = SITE;
    for length in l {
        let plan = planner.plan_fft_forward(length);
        let mut line = vec![Complex64::ZERO; length];
        for block in field.chunks_exact_mut(stride * length) {
            for begin in 0..stride {
                line.iter_mut().enumerate().for_each(|(n, z)| *z = block[begin + n * stride]);
                plan.process(&mut line);
                line.iter().enumerate().for_each(|(n, z)| block[begin + n * stride] = *z);
            }
        }
        stride *= length;
    }
}

/// The member that represents a class of momenta under reflections and exchanges of axes of the same extent.
fn representative(l: [usize; 4], k: [usize; 4]) -> [usize; 4] {
    let mut k: [usize; 4] = std::array::from_fn(|mu| k[mu].min(l[mu] - k[mu]));
    for mu in 0..4 {
        for nu in mu + 1..4 {
            if l[mu] == l[nu] && k[mu] > k[nu] {
                k.swap(mu, nu);
            }
        }
    }
    k
}

/// Distance of the momentum 2 pi k / L from the diagonal, in units of 2 pi / L_space.
fn distance(l: [usize; 4], k: [usize; 4]) -> f64 {
    let space = *l[..3].iter().min().unwrap_or(&1) as f64;
    let q: [f64; 4] = std::array::from_fn(|mu| k[mu] as f64 * space / l[mu] as f64);
    let (square, sum) = (q.iter().map(|q| q * q).sum::<f64>(), q.iter().sum::<f64>());
    (square - sum * sum / 4.0).max(0.0).sqrt()
}

/// The propagator by classes of momenta inside the cut.
struct Gluon {
    l: [usize; 4],
    volume: f64,
    /// Violation of the gauge condition, computed from the momentum-space field.
    theta: f64,
    /// Violation of transversality: sum |p A|^2 / sum p^2 |A|^2.
    transversality: f64,
    points: Vec<Point>,
}

impl Gluon {
    fn of(gauge: &GaugeField, cut: f64) -> Result<Gluon> {
        let l = gauge.geometry().global_extents();
        let volume: usize = l.iter().product();
        let mut field = host_array(SITE * volume, Complex64::ZERO, "the potential on the host")?;
        let layout = Layout::lexicographic(Precision::F64);
        gauge.save(
            &layout,
            &mut External::write(vec![bytemuck::cast_slice_mut::<_, f64>(&mut field)]),
        )?;
        field.chunks_exact_mut(ENTRIES).for_each(potential);
        fourier(l, &mut field);
        let (mut classes, mut divergence, mut whole) =
            (BTreeMap::<[usize; 4], Point>::new(), 0.0, 0.0);
        for (at, site) in field.chunks_exact(SITE).enumerate() {
            let (mut k, mut remainder) = ([0; 4], at);
            let (mut square, mut p2, mut sum) = (0.0, 0.0, [Complex64::ZERO; ENTRIES]);
            for (mu, a) in site.chunks_exact(ENTRIES).enumerate() {
                (k[mu], remainder) = (remainder % l[mu], remainder / l[mu]);
                let (sin, cos) = (PI * k[mu] as f64 / l[mu] as f64).sin_cos();
                p2 += 4.0 * sin * sin;
                // The lattice momentum 2 sin(p/2) times exp(-i p/2), the phase of the midpoint of the link.
                let turn = Complex64::new(2.0 * sin * cos, -2.0 * sin * sin);
                for (s, z) in sum.iter_mut().zip(a) {
                    square += 2.0 * z.norm_sqr(); // tr T^a T^b = delta / 2
                    *s += turn * z;
                }
            }
            divergence += sum.iter().map(Complex64::norm_sqr).sum::<f64>();
            whole += p2 * square / 2.0;
            let k = representative(l, k);
            let p = classes.entry(k).or_insert(Point { k, p2, ..Default::default() });
            p.sum += square;
            p.momenta += 1;
        }
        let volume = volume as f64;
        let inside = |p: &Point| distance(l, p.k) <= cut * (1.0 + 1e-12) + 1e-12;
        let mut points: Vec<Point> = classes.into_values().filter(inside).collect();
        points.sort_by(|a, b| match (a.p2 - b.p2).abs() > 1e-12 {
            true => a.p2.total_cmp(&b.p2),
            false => a.k.iter().rev().cmp(b.k.iter().rev()),
        });
        let theta = divergence / (3.0 * volume * volume);
        let transversality = if whole > 0.0 { divergence / whole } else { 0.0 };
        Ok(Gluon { l, volume, theta, transversality, points })
    }

    fn propagator(&self, p: &Point) -> f64 {
        let components = if p.p2 > 0.0 { 3.0 } else { 4.0 };
        p.sum / p.momenta as f64 / (components * 8.0 * self.volume)
    }
}

fn run(options: Options) -> Run<i32> {
    let name = options.input()?;
    for file in ["json", "plot"] {
        output::check(options.get(file), options.flag("overwrite"), "")?;
    }
    options.check("tol", options.number("tol") >= 0.0, "0 or more")?;
    options.check("cut", options.number("cut") >= 0.0, "0 or more")?;
    let fixes = options.text("fix") == "yes";
    session::run(&options, |session| {
        if session.comm.size() > 1 {
            return Err(Failure::refused("gluon: expected one rank"));
        }
        session::print_error(&format!("gluon on {}", session.device.name()));
        let mut loaded = files::read(session, &name, &files::reading(&options)?)?;
        loaded.gauge.geometry().periodic_in_time("gluon")?;
        let (mut fixed, mut converged) = (String::new(), true);
        if fixes {
            let mut p = GaugeFixParams::new(Condition::Landau);
            p.stop.theta = options.number("tol");
            p.copies = options.whole("copies") as usize;
            p.seed = options.whole("seed") as u64;
            let done = fix_gauge(&loaded.gauge, &p, &mut |_| interrupted())?;
            if done.report.stopped {
                say!("# INTERRUPTED: the gauge is not fixed");
                return Ok(NOT_COMPLETED);
            }
            let best = &done.report.best.total;
            converged = best.converged;
            let end = if converged { "" } else { ", NOT CONVERGED" };
            let copies = done.report.copies.len();
            fixed = format!("# fixed here, {copies} copies, {} iterations{end}", best.iterations);
            loaded.gauge = done.gauge;
        }
        let links = plaquette(&loaded.gauge)?;
        let cut = options.number("cut");
        let gluon = Gluon::of(&loaded.gauge, cut)?;
        if options.text("fix") == "no" && gluon.theta > 1e-6 {
            return Err(Failure::refused(format!(
                "{name}: not in Landau gauge, theta is {}; --fix yes fixes it, --fix as-is takes it as it is",
                output::exponent(gluon.theta, 3)
            )));
        }
        let format = files::name_of(loaded.info.format);
        say!("# {name} ({format}), {}, plaquette {:.12}", lattice_text(gluon.l), links.total);
        if fixes {
            say!("{fixed}");
        }
        let (theta, transversality) = (gluon.theta, gluon.transversality);
        let [t, l] = [theta, transversality].map(|x| output::exponent(x, 3));
        say!("# functional {:.12}, theta {t}, transversality {l}", links.link_trace);
        say!("#              k             p^2               D           p^2 D  momenta");
        for p in &gluon.points {
            let ([x, y, z, t], d) = (p.k, gluon.propagator(p));
            say!(
                "{x:3} {y:3} {z:3} {t:3}  {:14.10}  {d:14.10}  {:14.10}  {:7}",
                p.p2,
                p.p2 * d,
                p.momenta
            );
        }
        if let Some(file) = options.get("json") {
            let one = |p: &Point| -> Value {
                let d = gluon.propagator(p);
                json!({ "k": p.k, "p2": p.p2, "D": d, "p2D": p.p2 * d, "momenta": p.momenta })
            };
            let report = json!({
                "version": env!("CARGO_PKG_VERSION"), "device": session.device.name(),
                "gauge": described(&name, loaded.info.format, gluon.l),
                "functional": links.link_trace, "theta": theta, "transversality": transversality, "cut": cut,
                "points": gluon.points.iter().map(one).collect::<Vec<_>>(),
            });
            output::write_json(file, "gluon", &report)?;
        }
        if let Some(file) = options.get("plot") {
            let dressing = gluon.points.iter().map(|p| p.p2 * gluon.propagator(p));
            let mut series = Series::new("p^2 D", BLUE, dressing.collect());
            series.at = gluon.points.iter().map(|p| p.p2).collect();
            let title = format!(
                "Gluon propagator in Landau gauge, {}",
                name.rsplit('/').next().unwrap_or_default()
            );
            let panel = Panel {
                title,
                across: "(a p)^2",
                up: "p^2 D(p^2)",
                series: vec![series],
                close: false,
            };
            plot::write(file, &[panel])?;
        }
        Ok(session::status(converged))
    })
}
