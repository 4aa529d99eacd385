//! Stochastic molecular dynamics (Horowitz, Phys. Lett. 156B (1985) 89; Jansen, Liu, Nucl. Phys. B 453 (1995) 375;
//! Francis, Fritzsch, Luscher, Rago, Comput. Phys. Commun. 255 (2020) 107355, Section 4): a cycle of length t rotates
//! momenta and pseudofermions, p -> c1 p + c2 v,  phi -> c1 phi + c2 chi,  c1 = exp(-gamma t),  c1^2 + c2^2 = 1, with
//! v and chi from their heat baths, integrates the equations of motion for the time t, and accepts or rejects the
//! result. Delta H is that of the integration alone, as the rotation leaves the distribution as it is.

use super::{Monomial, Stream};
use crate::backend::External;
use crate::bail;
use crate::error::{host_array, Result};
use crate::fields::{
    blas, GammaBasis, Layout, Momenta, MomentaForm, Precision, SiteOrder, SpinorField,
};
use crate::io::FieldShape;
use crate::params::choices;

choices! {
    /// Algorithms for Markov chains of molecular dynamics.
    pub enum Algorithm: plaq_hmc_algorithm {
        /// Hybrid Monte Carlo: new momenta and pseudofermions are drawn at the start of every trajectory.
        Hmc = 0, PLAQ_HMC_ALGORITHM_HMC, "hmc";
        /// Stochastic molecular dynamics: momenta and pseudofermions are rotated at the start of every trajectory,
        /// which is a short cycle.
        Smd = 1, PLAQ_HMC_ALGORITHM_SMD, "smd";
    }

    /// The momenta that remain, with reversed sign, after a rejected cycle. Links return to the start of the cycle,
    /// pseudofermions stay rotated.
    pub enum Rejection: plaq_smd_rejection {
        /// Momenta before the rotation, as in openQCD.
        Before = 0, PLAQ_SMD_REJECTION_BEFORE, "before";
        /// Momenta after the rotation, with which the cycle leaves the distribution exactly invariant (Horowitz,
        /// Phys. Lett. B 268 (1991) 247).
        After = 1, PLAQ_SMD_REJECTION_AFTER, "after";
    }
}

/// Parameters of stochastic molecular dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smd {
    /// Friction gamma, in units of inverse time.
    pub friction: f64,
    pub rejection: Rejection,
}

impl Smd {
    /// The factors c1 of the present fields and c2 of the drawn fields, for a cycle of this length.
    pub fn factors(&self, length: f64) -> [f64; 2] {
        let kept = (-self.friction * length).exp();
        [kept, (-(-2.0 * self.friction * length).exp_m1()).sqrt()]
    }
}

/// A field in a checkpoint: its name and shape, and its real numbers on this rank's sites, x fastest.
pub(super) type StateField = (FieldShape, Vec<f64>);

/// Momenta and pseudofermions of a chain from before the rotation of a cycle.
pub(super) struct Cycle {
    /// True if the chain's momenta and pseudofermions are those at the end of a cycle, so that the next one rotates
    /// them.
    has_previous: bool,
    momenta: Momenta,
    /// Pseudofermions of each monomial before the rotation.
    fields: Vec<Option<SpinorField>>,
    /// Fields read from a checkpoint, with which the next cycle starts.
    loaded: Vec<StateField>,
}

/// Number of reals for the momenta of a site in a checkpoint: p_1 to p_8 in four directions.
const REALS_OF_MOMENTA: usize = 32;
/// Number of reals for the spinor of a site in a checkpoint.
const REALS_OF_SPINOR: usize = 24;
/// Name of the momenta's field in a checkpoint.
const MOMENTA: &str = "momenta";

fn field_name(monomial: &str, column: usize) -> String {
    format!("pseudofermion {column} {monomial}")
}

/// Computes phi = c1 old + c2 phi.
pub(super) fn rotate(phi: &mut SpinorField, old: &SpinorField, [c1, c2]: [f64; 2]) -> Result<()> {
    let n = phi.nrhs();
    blas::axpby(&blas::uniform(n, c1), old, &blas::uniform(n, c2), phi)
}

impl Cycle {
    pub fn new(momenta: Momenta) -> Self {
        Cycle { has_previous: false, momenta, fields: vec![], loaded: vec![] }
    }
    /// Whether there are momenta and pseudofermions of an earlier cycle, which are rotated.
    pub fn has_previous(&self) -> bool {
        self.has_previous
    }

    /// Copies momenta and pseudofermions before a rotation, or takes them from a checkpoint.
    pub fn store_previous(
        &mut self,
        momenta: &Momenta,
        all: &mut [Box<dyn Monomial>],
    ) -> Result<()> {
        self.fields = vec![];
        if let Some((_, array)) = self.loaded.iter().find(|(shape, _)| shape.name == MOMENTA) {
            let (form, order) = (MomentaForm::Coefficients, SiteOrder::Lexicographic);
            self.momenta.load(array, form, order, 1.0)?;
            self.has_previous = true;
            self.fields.resize_with(all.len(), || None);
            return Ok(());
        }
        for monomial in all {
            let copy = match monomial.pseudofermions() {
                Some(Some(phi)) if self.has_previous => {
                    let mut copy = phi.like(phi.precision())?;
                    blas::copy(&mut copy, phi)?;
                    Some(copy)
                }
                _ => None,
            };
            self.fields.push(copy);
        }
        match self.has_previous {
            true => self.momenta.copy_from(momenta),
            false => Ok(()),
        }
    }

    /// Draws momenta and adds the earlier ones: p -> c1 p_old + c2 v.
    pub fn draw(&self, momenta: &mut Momenta, stream: Stream, [c1, c2]: [f64; 2]) -> Result<()> {
        momenta.set_gaussian(stream.seed, stream.trajectory)?;
        match self.has_previous {
            true => momenta.add(c2, c1, &self.momenta),
            false => Ok(()),
        }
    }

    /// Rotates the pseudofermions of monomial number k: those that it has drawn become c1 old + c2 drawn.
    pub fn rotate(&mut self, k: usize, monomial: &mut dyn Monomial, by: [f64; 2]) -> Result<()> {
        let name = monomial.name().to_string();
        let Some(Some(phi)) = monomial.pseudofermions() else { return Ok(()) };
        if self.has_previous && self.fields[k].is_none() && !self.loaded.is_empty() {
            let mut array = vec![];
            for column in 0..columns(phi) {
                let name = field_name(&name, column);
                let found = self.loaded.iter().find(|(shape, _)| shape.name == name);
                let Some((_, numbers)) = found else {
                    bail!(FileFormat, "the checkpoint has no field {name:?}");
                };
                array.extend_from_slice(numbers);
            }
            let mut old = phi.like(phi.precision())?;
            old.load(&layout(), &External::read(&[&array[..]]), true)?;
            self.fields[k] = Some(old);
        }
        match &self.fields[k] {
            Some(old) if self.has_previous => rotate(phi, old, by),
            _ => Ok(()),
        }
    }

    /// Continues from the fields of a checkpoint. If momenta are not among them, the next cycle draws all fields
    /// anew.
    pub fn load(&mut self, fields: Vec<StateField>) {
        (self.has_previous, self.fields, self.loaded) = (false, vec![], fields);
    }

    /// Fields read from a checkpoint that no cycle has used yet.
    pub fn waiting(&self) -> &[StateField] {
        &self.loaded
    }

    /// Ends an accepted cycle.
    pub fn accept(&mut self) {
        (self.has_previous, self.fields, self.loaded) = (true, vec![], vec![]);
    }

    /// Ends a rejected cycle: sets the momenta to those before or after the rotation, by `how`, with reversed sign.
    pub fn reject(
        &mut self,
        momenta: &mut Momenta,
        stream: Stream,
        how: Rejection,
        by: [f64; 2],
    ) -> Result<()> {
        match (how, self.has_previous) {
            (Rejection::Before, true) => momenta.copy_from(&self.momenta)?,
            // Otherwise the momenta after the rotation are made again from the same random numbers. A first cycle has
            // only these, as it had no momenta before.
            _ => self.draw(momenta, stream, by)?,
        }
        momenta.scale(-1.0)?;
        self.accept();
        Ok(())
    }

    /// Restores momenta and pseudofermions from before the rotation after a cycle has failed.
    pub fn restore(&mut self, momenta: &mut Momenta, all: &mut [Box<dyn Monomial>]) -> Result<()> {
        if !self.loaded.is_empty() {
            self.has_previous = false;
            return Ok(());
        }
        if !self.has_previous {
            return Ok(());
        }
        momenta.copy_from(&self.momenta)?;
        for (monomial, old) in all.iter_mut().zip(self.fields.drain(..)) {
            if let (Some(phi), Some(old)) = (monomial.pseudofermions(), old) {
                *phi = Some(old);
            }
        }
        Ok(())
    }
}

/// The momenta and pseudofermions of a chain in the form of a checkpoint.
pub(super) fn state(momenta: &Momenta, all: &[Box<dyn Monomial>]) -> Result<Vec<StateField>> {
    let sites = momenta.geometry().volume();
    let mut array = host_array(REALS_OF_MOMENTA * sites, 0.0, "momenta on the host")?;
    momenta.save(&mut array, MomentaForm::Coefficients, SiteOrder::Lexicographic, 1.0)?;
    let shape = |name: String, reals| FieldShape { name, reals };
    let mut fields = vec![(shape(MOMENTA.into(), REALS_OF_MOMENTA), array)];
    for monomial in all {
        let Some(phi) = monomial.drawn() else { continue };
        let one = REALS_OF_SPINOR * sites;
        let mut array = host_array(one * columns(phi), 0.0, "pseudofermions on the host")?;
        phi.save(&layout(), &mut External::write(vec![&mut array[..]]))?;
        for (column, numbers) in array.chunks_exact(one).enumerate() {
            let name = field_name(monomial.name(), column);
            fields.push((shape(name, REALS_OF_SPINOR), numbers.to_vec()));
        }
    }
    Ok(fields)
}

/// Number of spinors of a field, all slices counted.
fn columns(field: &SpinorField) -> usize {
    field.nrhs() * field.components().slices
}

fn layout() -> Layout {
    Layout::lexicographic_spinor(Precision::F64, GammaBasis::DeGrandRossi)
}
