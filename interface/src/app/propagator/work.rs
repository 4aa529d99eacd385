//! The computations of `plaq propagator`, for every configuration, kappa and source.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::super::quark::{monitor, multigrid, multigrid_json, Solving};
use super::super::session::{print_error, Progress, Session};
use super::super::{files, output, Failure, Run as Outcome};
use super::samples::{Configurations, Numbers, Sample, Samples};
use super::{report, sources, Job, Method, Plan, Written};
use crate::app::options::Options;
use crate::compose::multigrid::{Multigrid, Update};
use crate::compose::{Chosen, DiracSolver};
use crate::error::Result;
use crate::fields::{blas, GaugeField, Precision, SpinorField, Subset};
use crate::io::{Origin, KINDS};
use crate::operators::QuarkAction;
use crate::ops::links_mark::links_mark;
use crate::ops::propagator::{propagator, propagator_of, COLUMNS};
use crate::ops::propagator_file::{load_propagator, save_propagator, LoadOptions, SaveOptions};
use crate::ops::smearing::QuarkSmearing;
use crate::ops::source::Source;
use crate::params::Choice as _;
use crate::solvers::SolverKind;

/// The name of a file: with the configuration, the kappa if there are several, the source and the quark.
pub fn file_of(
    plan: &Plan,
    hadrons: &super::Hadrons,
    base: &str,
    gauge: &str,
    kappa: Option<f64>,
    source: usize,
    quark: usize,
) -> String {
    let mut name = files::of_several(base, gauge, plan.files.len() > 1);
    if let Some(kappa) = kappa.filter(|_| plan.several()) {
        name += &format!(".{kappa}");
    }
    if source > 0 {
        name += &format!(".{source}");
    }
    match (quark, hadrons.sequential.is_some()) {
        (0, _) => name,
        (_, true) => name + ".sequential",
        _ => name + ".strange",
    }
}

impl Job {
    /// Prepares everything that depends on the extents of the lattice; refuses positions outside of it.
    pub fn start(&mut self, plan: &Plan, extents: [usize; 4]) -> Outcome<()> {
        if self.hadrons.times > 0 {
            return Ok(());
        }
        let lattice = extents.map(|l| l.to_string()).join(",");
        let refuse = |option: &str, found: String| {
            let expected = format!("a place on the lattice {lattice}");
            Err(super::refuse(option, &found, expected))
        };
        for asked in &plan.asked {
            if asked.source.position.iter().zip(extents).any(|(x, l)| *x >= l) {
                return refuse("source", sources::name(&asked.source));
            }
        }
        let sink = self.hadrons.sequential.and_then(|s| s.time);
        if let Some(time) = sink.filter(|t| *t >= extents[3]) {
            return refuse("sequential", format!("time {time}"));
        }
        if let Some([_, last]) = plan.fit.filter(|f| f[1] >= extents[3]) {
            return refuse("fit", format!("time slice {last}"));
        }
        self.hadrons.times = extents[3];
        self.sources = sources::parts(&plan.asked, extents[3])?;
        self.samples = Samples::new(plan.files.len(), self.sources.len());
        Ok(())
    }
}

/// The operators for a configuration, and the links with which sources and sinks are smeared.
struct Links {
    gauge: Option<Arc<GaugeField>>,
    smeared: Option<Arc<GaugeField>>,
}

/// A run with its options, its session and its results so far.
pub struct Run<'a> {
    pub session: &'a Session,
    pub options: &'a Options,
    pub plan: &'a Plan,
    pub found: &'a mut Configurations,
    pub written: &'a mut Written,
}

/// The text for human readers in the file of a propagator; empty if it has none.
fn info_of(name: &str) -> String {
    let mut head = vec![];
    let read = std::fs::File::open(name).and_then(|f| f.take(1 << 16).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head);
    let begin = text.split_once("<info>").filter(|_| read.is_ok());
    begin
        .and_then(|(_, rest)| rest.split_once("</info>"))
        .map_or(String::new(), |(info, _)| info.into())
}

/// Subtracts the columns of `other` from those of `field`. Returns for each column the norm of the difference
/// relative to that of `other`.
fn subtract(field: &mut SpinorField, other: &SpinorField) -> Result<Vec<f64>> {
    let n = field.nrhs();
    let norm = blas::norm2(field)?;
    blas::axpby(&blas::uniform(n, -1.0), other, &blas::uniform(n, 1.0), field)?;
    let left = blas::norm2(field)?;
    Ok(left.iter().zip(&norm).map(|(l, n)| (l / n).sqrt()).collect())
}

fn smear(field: &mut SpinorField, links: &Links, how: &QuarkSmearing) -> Result<()> {
    match &links.smeared {
        Some(gauge) if how.steps > 0 => how.apply(field, gauge),
        _ => Ok(()),
    }
}

impl Run<'_> {
    fn columns(&self, op: &dyn QuarkAction) -> Result<SpinorField> {
        let links = op.links();
        let geometry = links.geometry();
        SpinorField::new(links.device(), geometry, Precision::F64, Subset::Full, COLUMNS)
    }

    fn read(&mut self, jobs: &mut [Job], c: usize) -> Outcome<(Arc<GaugeField>, Numbers)> {
        let begin = Instant::now();
        let how = crate::ops::config::LoadOptions {
            expect: self.found.extents,
            ..files::reading(self.options)?
        };
        let loaded = files::read(self.session, &self.plan.files[c], &how)?;
        let extents = loaded.gauge.geometry().global_extents();
        self.found.extents = Some(extents);
        let boundary = loaded.gauge.geometry().boundary();
        if let Some(before) = self.found.boundary.filter(|before| *before != boundary) {
            return Err(Failure::refused(format!(
                "{}: expected links with {before} as those before, found {boundary}",
                self.plan.files[c]
            )));
        }
        self.found.boundary = Some(boundary);
        self.found.format.get_or_insert(loaded.info.format);
        let p = loaded.plaquette;
        for job in jobs.iter_mut() {
            job.start(self.plan, extents)?;
            let times = |source: &Source| source.position[3];
            let first = job.sources.first().map(times);
            if !boundary.is_periodic() && job.sources.iter().any(|s| Some(times(s)) != first) {
                let expected = "sources on one time slice, as links have boundaries in time";
                return Err(super::refuse("source", self.options.text("source"), expected));
            }
        }
        jobs[0].seconds_load += begin.elapsed().as_secs_f64();
        let projection = links_mark(&loaded.gauge)?.projection.unwrap_or([f64::NAN; 2]);
        let numbers = Numbers { plaquette: [p.total, p.spatial, p.temporal], projection };
        Ok((Arc::new(loaded.gauge), numbers))
    }

    /// Makes the operators of a job and, if needed, smeared links; frees links that no later job needs.
    fn operators(
        &self,
        job: &mut Job,
        last: bool,
        links: &mut Links,
    ) -> Outcome<Vec<Arc<dyn QuarkAction>>> {
        let begin = Instant::now();
        let plan = self.plan;
        let Some(gauge) = links.gauge.clone() else { return Ok(vec![]) };
        let kappas = std::iter::once(job.kappa).chain(plan.strange);
        let ops: Result<Vec<_>> = kappas.map(|k| plan.action.operator(&gauge, k)).collect();
        let ops = ops?;
        if links.smeared.is_none() && (plan.at_source.steps > 0 || plan.at_sink.steps > 0) {
            links.smeared = Some(match plan.links.steps {
                0 => gauge.clone(),
                _ => Arc::new(plan.links.apply(&gauge)?),
            });
        }
        if last {
            links.gauge = None;
        }
        job.seconds_load += begin.elapsed().as_secs_f64();
        Ok(ops)
    }

    /// Solves for the twelve columns of one source and one quark.
    fn solve(
        &self,
        solver: &DiracSolver,
        job: &mut Job,
        source: &Source,
        from: Option<&SpinorField>,
        sample: &mut Sample,
    ) -> Result<SpinorField> {
        let mut progress = Progress::new();
        let rhs = self.plan.solving.settings.columns;
        let (field, report) = {
            let tol = self.plan.solving.settings.tol;
            let mut watch = monitor(&self.session.comm, &mut progress, "", tol);
            // Without `from` the solve makes the sources itself, which saves the memory for all of them.
            match from {
                Some(from) => propagator_of(solver, from, rhs, &mut watch)?,
                None => propagator(solver, *source, rhs, &mut watch)?,
            }
        };
        let asked = solver.params().solver.kind;
        let done = report.totals(asked);
        progress.last(&format!(
            "{} iterations, residual {}, {:.2} s",
            done.iterations,
            output::exponent(done.residual, 2),
            done.seconds
        ));
        job.solved.add(&report, asked);
        sample.converged &= done.converged;
        sample.iterations = sample.iterations.max(done.iterations as usize);
        sample.residual = sample.residual.max(done.residual);
        Ok(field)
    }

    /// Reads a propagator from a file and checks that it belongs to this source, configuration and quark.
    fn load(
        &self,
        name: &str,
        op: &Arc<dyn QuarkAction>,
        kappa: f64,
        from: &SpinorField,
        sample: &mut Sample,
    ) -> Outcome<SpinorField> {
        let plan = self.plan;
        let (device, comm) = (&self.session.device, &self.session.comm);
        // Whether the propagator in the file belongs to this source, boundary and normalisation is checked below, by
        // applying the operator.
        let (precision, extents) = (Some(Precision::F64), self.found.extents);
        let options = LoadOptions { precision, extents, ..Default::default() };
        let (field, _) = load_propagator(device, comm, Path::new(name), &options)?;
        let info = info_of(name);
        let member = |key: &str| -> Option<f64> {
            let mut parts = info.split(", ").filter_map(|p| p.trim().strip_prefix(key));
            parts.next()?.trim().parse().ok()
        };
        for (key, mine) in [("kappa ", kappa), ("csw ", plan.action.csw)] {
            if let Some(theirs) = member(key).filter(|t| (t - mine).abs() > 1e-12 * mine.abs()) {
                return Err(Failure::refused(format!(
                    "--load: {name}: its {key}is {theirs}, expected {mine}"
                )));
            }
        }
        if field.nrhs() != COLUMNS {
            return Err(Failure::refused(format!(
                "--load: {name}: expected twelve columns, found {}",
                field.nrhs()
            )));
        }
        let mut image = self.columns(&**op)?;
        op.apply(&mut image, &field)?;
        let scale = match plan.action.normalisation_name() {
            "mass" => 1.0 / op.mass_scale(),
            _ => 1.0,
        };
        let n = blas::uniform(COLUMNS, scale);
        blas::axpby(
            &blas::uniform(COLUMNS, 1.0),
            from,
            &n.iter().map(|z| -z).collect::<Vec<_>>(),
            &mut image,
        )?;
        let (left, norm) = (blas::norm2(&image)?, blas::norm2(from)?);
        let off = left.iter().zip(&norm).map(|(l, n)| (l / n).sqrt());
        let worst = off.fold(0.0, |m: f64, x| if x <= m { m } else { x });
        // A NaN is refused as well.
        if worst.is_nan() || worst > 1.01 * plan.solving.settings.tol {
            return Err(Failure::refused(format!(
                "--load: {name}: expected |b - M x| / |b| of at most {} (--tol) for this configuration, \
                 source and quark, found {}",
                output::exponent(plan.solving.settings.tol, 0),
                output::exponent(worst, 2)
            )));
        }
        sample.residual = sample.residual.max(worst);
        Ok(field)
    }

    /// Compares a propagator with a more precise solution, with a smaller residual (Clark et al., arXiv:1612.07873,
    /// section 7).
    fn measure_error(
        &self,
        job: &mut Job,
        op: &Arc<dyn QuarkAction>,
        multigrid: &Arc<Multigrid>,
        from: Option<&SpinorField>,
        field: &SpinorField,
    ) -> Result<()> {
        let Some(tol) = self.plan.tol_error else { return Ok(()) };
        let method = Method::Multigrid(SolverKind::Gcr);
        let mut solving = Solving { method, ..self.plan.solving.clone() };
        (solving.settings.tol, solving.settings.distance_alpha) = (tol, 0.0);
        // GCR has no choice of sums.
        solving.settings.sums = None;
        let solver = solving.solver(op, &self.plan.action, 0, Some(multigrid))?;
        let mut sample = Sample::new(Numbers::default());
        let mut other = Job {
            solved: super::Solved::nothing(solver.params().solver.kind),
            ..job.without_samples()
        };
        let source = job.sources[0];
        let mut better = self.solve(&solver, &mut other, &source, from, &mut sample)?;
        if !sample.converged && self.session.first() {
            let residual = output::exponent(sample.residual, 2);
            print_error(&format!("propagator: --error: residual {residual} only"));
        }
        job.errors = subtract(&mut better, field)?;
        Ok(())
    }

    /// Solves for all sources on a configuration and contracts the propagators; false if interrupted.
    fn sources(
        &mut self,
        jobs: &mut [Job],
        k: usize,
        c: usize,
        (ops, links): (&[Arc<dyn QuarkAction>], &Links),
        numbers: Numbers,
        hierarchies: &mut [Option<Arc<Multigrid>>],
    ) -> Outcome<bool> {
        let (plan, options) = (self.plan, self.options);
        let mut start = Instant::now();
        let before = jobs[k].seconds_propagator;
        let gauge = &plan.files[c];
        let load = options.get("load");
        let mut solvers = vec![];
        for (q, op) in ops.iter().enumerate().filter(|_| load.is_none()) {
            if plan.solving.by_multigrid() {
                let hadrons = &jobs[k].hadrons;
                let file = |base: &str| file_of(plan, hadrons, base, gauge, None, 0, q);
                let made = multigrid(op, options, &mut hierarchies[q], file)?;
                if q == 0 {
                    jobs[k].multigrid = Some(multigrid_json(&made));
                }
            }
            let before = hierarchies[q].as_ref();
            if let Some(before) = before.filter(|_| plan.solving.method == Method::Automatic) {
                // If the hierarchy cannot be updated, the automatic choice begins anew without it.
                if before.update(&**op, Update::Keep).is_err() {
                    hierarchies[q] = None;
                }
            }
            let before = hierarchies[q].as_ref();
            let expected = COLUMNS * jobs[k].sources.len() * (plan.kappas.len() - k);
            solvers.push(plan.solving.solver(op, &plan.action, expected, before)?);
        }
        let mut done = true;
        for s in 0..jobs[k].sources.len() {
            if jobs[k].samples.0[c][s].is_some() {
                continue;
            }
            let job = &mut jobs[k];
            let source = job.sources[s];
            let mut sample = Sample::new(numbers);
            let mut from = None;
            if plan.at_source.steps > 0 || options.given("save") || load.is_some() {
                let mut field = self.columns(&*ops[0])?;
                source.set(&mut field)?;
                smear(&mut field, links, &plan.at_source)?;
                from = Some(field);
            }
            let through = match job.hadrons.sequential {
                Some(how) => Some(how.from_source(source.position, ops[0].links().geometry())?),
                None => None,
            };
            let mut quarks: Vec<SpinorField> = vec![];
            for q in 0..job.hadrons.quarks {
                let sequential = through.filter(|_| q == 1);
                let of = if sequential.is_some() { 0 } else { q };
                let sink_time = sequential.and_then(|how| how.time);
                let sequential = match sequential {
                    Some(how) => {
                        let mut field = self.columns(&*ops[0])?;
                        how.set(&mut field, &quarks[0])?;
                        Some(field)
                    }
                    None => None,
                };
                let begin = sequential.as_ref().or(from.as_ref());
                let kappa =
                    if q == 1 && of == 1 { plan.strange.unwrap_or(job.kappa) } else { job.kappa };
                let name_of = |base: &str, h: &super::Hadrons| {
                    file_of(plan, h, base, gauge, Some(plan.kappas[k]), s, q)
                };
                let mut field = match (load, begin) {
                    (Some(base), Some(begin)) => {
                        let name = name_of(base, &job.hadrons);
                        self.load(&name, &ops[of], kappa, begin, &mut sample)?
                    }
                    _ => {
                        let time = sink_time.unwrap_or(source.time());
                        if let Some(at) = plan.solving.at(&solvers[of], time) {
                            solvers[of] = at.solver(&ops[of], &plan.action, 0, None)?;
                        }
                        self.solve(&solvers[of], job, &source, begin, &mut sample)?
                    }
                };
                if plan.tol_error.is_some() {
                    let paused = Instant::now();
                    let made =
                        multigrid(&ops[0], options, &mut hierarchies[0], |base| base.into())?;
                    // The report does not include the solves that follow.
                    job.multigrid = plan.solving.by_multigrid().then(|| multigrid_json(&made));
                    self.measure_error(job, &ops[0], &made, begin, &field)?;
                    start += paused.elapsed();
                }
                if let Some(base) = options.get("save") {
                    let info = format!(
                        "plaq {}, kappa {kappa}, csw {}{}, {} normalisation",
                        env!("CARGO_PKG_VERSION"),
                        plan.action.csw,
                        plan.action.clover_name(),
                        plan.action.normalisation_name()
                    );
                    let [x, y, z, t] = self.found.quark_boundary(&plan.action).0;
                    let origin = Origin {
                        position: source.position.map(Some),
                        boundary: Some(t),
                        boundary_space: Some([x, y, z]),
                        normalisation: Some(plan.action.normalisation_name()),
                        boundary_time: Some(ops[of].links().geometry().boundary().kind().word()),
                        mass: Some(ops[of].mass()),
                        mu: Some(plan.action.mu),
                        links: Some(links_mark(ops[of].links())?),
                        kind: Some(KINDS[0]),
                        crossed: None,
                        csw: Some([plan.action.csw, plan.action.csw_t.unwrap_or(plan.action.csw)]),
                        clover: Some(plan.action.clover.word()),
                    };
                    let how = SaveOptions { info, origin, ..Default::default() };
                    let name = name_of(base, &job.hadrons);
                    save_propagator(Path::new(&name), &field, begin, &how)?;
                }
                smear(&mut field, links, &plan.at_sink)?;
                quarks.push(field);
            }
            job.seconds_propagator = before + start.elapsed().as_secs_f64();
            done = !job.solved.stopped;
            // An incomplete propagator is shown only if it is the first one.
            if done || (c == 0 && s == 0) {
                let boundary = self.found.quark_boundary(&plan.action);
                sample.numbers = job.hadrons.contract(&quarks, &source, boundary)?;
                job.samples.0[c][s] = Some(sample);
            }
            if done {
                self.write_now_and_then(jobs)?;
            } else {
                break;
            }
        }
        for (solver, kept) in solvers.iter().zip(&mut *hierarchies) {
            *kept = kept.take().or_else(|| solver.multigrid());
        }
        let used = plan.solving.by_multigrid() || jobs[k].solved.chosen == Chosen::Multigrid;
        if let Some(made) = hierarchies[0].as_ref().filter(|_| used) {
            if plan.tol_error.is_none() {
                jobs[k].multigrid = Some(multigrid_json(made));
            }
        }
        Ok(done)
    }

    /// Writes the JSON if enough time has passed since the last time, so that a killed run loses little work; a
    /// twentieth of the time is spent on growing files.
    fn write_now_and_then(&mut self, jobs: &[Job]) -> Result<()> {
        let Some(name) = self.options.get("json").filter(|_| self.session.first()) else {
            return Ok(());
        };
        if self.written.at.elapsed().as_secs_f64() < 20.0 * self.written.took + 1.0 {
            return Ok(());
        }
        let begin = Instant::now();
        output::write_json(
            name,
            "propagator",
            &report::json(self.session, self.options, self.plan, jobs, self.found),
        )?;
        *self.written = Written { at: Instant::now(), took: begin.elapsed().as_secs_f64() };
        Ok(())
    }

    /// Works on a configuration for those kappas for which an earlier run does not have all results; false if
    /// interrupted.
    pub fn configuration(&mut self, jobs: &mut [Job], c: usize) -> Outcome<bool> {
        let plan = self.plan;
        let tell = |text: String| {
            if self.session.first() {
                print_error(&text);
            }
        };
        let mut missing = vec![];
        for (k, job) in jobs.iter().enumerate() {
            let mut any = job.hadrons.times == 0;
            for (source, sample) in
                job.sources.iter().zip(job.samples.0.get(c).into_iter().flatten())
            {
                match sample {
                    None => any = true,
                    Some(_) => tell(format!(
                        "  {}, {}: skipped, {} has it",
                        plan.files[c],
                        sources::name(source),
                        self.options.text("json")
                    )),
                }
            }
            if any {
                missing.push(k);
            }
        }
        let Some(&last) = missing.last() else { return Ok(true) };
        if plan.files.len() > 1 {
            tell(format!("  {}", plan.files[c]));
        }
        let (gauge, numbers) = self.read(jobs, c)?;
        let mut links = Links { gauge: Some(gauge), smeared: None };
        let mut hierarchies = vec![None; plan.quarks()];
        for k in missing {
            if plan.several() && self.session.first() {
                print_error(&format!("  kappa {}", plan.kappas[k]));
            }
            let ops = self.operators(&mut jobs[k], k == last, &mut links)?;
            if !self.sources(jobs, k, c, (&ops, &links), numbers, &mut hierarchies)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Sample {
    fn new(links: Numbers) -> Sample {
        Sample { numbers: vec![], links, residual: 0.0, iterations: 0, converged: true, old: false }
    }
}

impl Job {
    /// A copy of the job without its results.
    fn without_samples(&self) -> Job {
        Job {
            kappa: self.kappa,
            hadrons: self.hadrons.clone(),
            sources: self.sources.clone(),
            samples: Samples::default(),
            solved: self.solved.clone(),
            multigrid: None,
            errors: vec![],
            seconds_load: 0.0,
            seconds_propagator: 0.0,
        }
    }
}
