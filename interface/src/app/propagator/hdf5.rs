//! `plaq propagator --hdf5`: the correlators of every configuration, in the layout of Python's plaq.write.

use std::path::Path;

use serde_json::json;

use super::hadrons::Name;
use super::samples::Configurations;
use super::{samples, sources, Job, Plan};
use crate::error::Result;
use crate::io::hdf5::{self, Attribute, Attributes, Dataset, Numbers};
use crate::ops::gamma::Gamma;

/// Names of the axes of the arrays.
const INDICES: &str = "configuration, t";

/// Definition of the time t of correlators, an attribute of their datasets.
const TIME: &str =
    "t counts from the source, t = (t_lattice - t_source) mod T, a mean over sources";

/// Definitions of correlators (docs/hadrons.md).
const MESON: &str =
    "C(t) = -sum_x exp(-i p (x - x0)) tr[Gamma S(x, x0) gamma_t Gamma^dagger gamma_t gamma_5 \
                     S'(x, x0)^dagger gamma_5], p_i = 2 pi momentum_i / L_i";
const BARYON: &str = "C(t) = sum_x exp(-i p (x - x0)) tr[P <O(x, t0 + t) Obar(x0, t0)>], P = (1 + gamma_t) / 2, p_i = \
                      2 pi momentum_i / L_i";

fn datasets(plan: &Plan, job: &Job) -> Vec<Dataset> {
    let (means, times) = (job.samples.means(), job.hadrons.times);
    let group = if plan.several() { format!("kappa_{}/", job.kappa) } else { String::new() };
    let path = |p: [i32; 3]| p.map(|n| n.to_string()).join("_");
    // Three-point functions have no symmetry in time.
    let meson_form = if job.hadrons.sequential.is_some() { "log" } else { "cosh" };
    let links: Vec<_> = means.iter().filter_map(|(c, _)| job.samples.links(*c)).collect();
    let of_links =
        |of: fn(&samples::Numbers) -> f64| Attribute::Numbers(links.iter().map(of).collect());
    let one = |(k, name): (usize, Name)| {
        let convention;
        let (place, form, short, momentum, mut attributes): (_, _, _, _, Attributes) = match name {
            Name::Meson { quarks, momentum, gamma } => {
                convention = MESON;
                let gamma =
                    Gamma::all().nth(gamma).map_or(String::new(), |gamma| gamma.name().into());
                let about = vec![
                    ("quarks", Attribute::Text(quarks.into())),
                    ("gammas", Attribute::Texts(vec![gamma.clone(); 2])),
                ];
                (
                    format!("mesons/{quarks}/p_{}/{gamma}", path(momentum)),
                    meson_form,
                    gamma,
                    momentum,
                    about,
                )
            }
            Name::Baryon { name, momentum } => {
                convention = BARYON;
                let about = vec![("gammas", Attribute::Texts(vec![String::new(); 2]))];
                (
                    format!("baryons/p_{}/{name}", path(momentum)),
                    "log",
                    name.to_string(),
                    momentum,
                    about,
                )
            }
        };
        let of = |numbers: &[f64]| numbers[2 * times * k..2 * times * (k + 1)].to_vec();
        let numbers: Vec<f64> = means.iter().flat_map(|(_, numbers)| of(numbers)).collect();
        attributes.extend([
            ("kind", Attribute::Text("correlator".into())),
            ("indices", Attribute::Text(INDICES.into())),
            ("name", Attribute::Text(short)),
            ("form", Attribute::Text(form.into())),
            (
                "configurations",
                Attribute::Integers(means.iter().map(|(c, _)| *c as i64 + 1).collect()),
            ),
            ("momentum", Attribute::Integers(momentum.map(i64::from).to_vec())),
            ("plaquette", of_links(|links| links.plaquette[0])),
            ("links_projection_re", of_links(|links| links.projection[0])),
            ("links_projection_im", of_links(|links| links.projection[1])),
            ("convention", Attribute::Text(convention.into())),
            ("spin_basis", Attribute::Text("DeGrand-Rossi".into())),
            ("time", Attribute::Text(TIME.into())),
            ("kappa", Attribute::Number(job.kappa)),
            ("mass", Attribute::Number(plan.action.mass(job.kappa))),
        ]);
        Dataset {
            name: group.clone() + &place,
            extents: vec![means.len(), times],
            numbers: Numbers::Complex(bytemuck::cast_slice(&numbers).to_vec()),
            attributes,
        }
    };
    job.hadrons.names().into_iter().enumerate().map(one).collect()
}

/// Writes the results so far of all jobs.
pub fn write(name: &str, plan: &Plan, jobs: &[Job], found: &Configurations) -> Result<()> {
    let there = || jobs.iter().filter(|job| !job.samples.is_empty());
    let all: Vec<Dataset> = there().flat_map(|job| datasets(plan, job)).collect();
    let lattice = found.extents.unwrap_or_default().map(|n| n as i64).to_vec();
    let mut attributes: Attributes = vec![
        ("plaq_version", Attribute::Text(env!("CARGO_PKG_VERSION").into())),
        ("lattice", Attribute::Integers(lattice)),
        ("gauge", Attribute::Texts(plan.files.clone())),
    ];
    attributes.extend(plan.action.attributes());
    if let Some(kappa) = plan.strange {
        attributes.push(("kappa_strange", Attribute::Number(kappa)));
    }
    if let Some(job) = there().next() {
        let sources = job.sources.iter().map(sources::name).collect();
        attributes.push(("sources", Attribute::Texts(sources)));
        attributes.push(("job", Attribute::Text(json!(job.settings(plan)).to_string())));
        attributes.push(("plaquette", Attribute::Numbers(job.samples.plaquette().to_vec())));
    }
    hdf5::write(Path::new(name), &all, &attributes)
}
