//! Objects that are kept on the device between calls: links, smeared links, momenta, the clover term, operators and
//! solvers made from them, multigrids, eigenspaces.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;

use num_complex::Complex64;

use super::chrono::Chronology;
use super::eigenspaces::Eigenspaces;
use crate::backend::External;
use crate::compose::multigrid::Multigrid;
use crate::compose::{DiracSolver, SolveParams};
use crate::error::Result;
use crate::fields::{CloverField, GaugeField, Layout, LinkOptions, Momenta, Precision, Recon};
use crate::operators::QuarkAction;
use crate::ops::observables;
use crate::refuse;

/// Links of the host without the sign on the last time-slice, the 1 / anisotropy and the phases in space that they
/// carried.
#[derive(Clone)]
pub struct Links {
    pub field: Arc<GaugeField>,
    pub sign: f64,
    pub anisotropy: f64,
    /// Links in space carried exp(i theta_k / L_k), L_k the extent of the whole lattice.
    pub theta: [f64; 3],
    /// c_F and c_F' of quarks on links with boundaries in time ([`crate::operators::DiracParams`]); 1 on others.
    pub cf: [f64; 2],
}

impl Links {
    /// Links that the host has not multiplied by a sign, an anisotropy or phases.
    pub fn plain(field: Arc<GaugeField>) -> Links {
        Links { field, sign: 1.0, anisotropy: 1.0, theta: [0.0; 3], cf: [1.0; 2] }
    }

    /// Refuses links whose spatial directions the host has multiplied by an anisotropy or by phases.
    ///
    /// # Errors
    /// `Unsupported`.
    pub fn plain_in_space(&self, what: &str) -> Result<()> {
        if self.anisotropy != 1.0 || self.theta != [0.0; 3] {
            refuse!(
                Unsupported,
                "links",
                expected("isotropic ones without phases in space for {what}"),
                found("anisotropy {}, angles {:?}", self.anisotropy, self.theta)
            );
        }
        Ok(())
    }

    /// The factors that the host's links contain in each direction.
    pub fn scale(&self) -> [f64; 4] {
        let space = 1.0 / self.anisotropy;
        [space, space, space, 1.0]
    }

    /// Whether the host's links contain a sign, an anisotropy or a phase in one of the directions whose bit mu is set.
    fn carry(&self, directions: i32) -> bool {
        let (space, time) = (directions & 7 != 0, directions & 8 != 0);
        let turned = (0..3).any(|k| directions & (1 << k) != 0 && self.theta[k] != 0.0);
        space && self.anisotropy != 1.0 || time && self.sign != 1.0 || turned
    }

    /// The field with the phases in space that the host's links have, stored whole.
    fn turned(&self, precision: Precision) -> Result<GaugeField> {
        let (geometry, form) = (self.field.geometry(), (Precision::F64, Recon::R18));
        let layout = Layout::lexicographic(Precision::F64);
        let mut numbers = vec![0.0; 4 * LINK * geometry.volume()];
        self.field.save(&layout, &mut External::write(vec![&mut numbers[..]]))?;
        let global = geometry.global_extents();
        let phases: [Complex64; 3] =
            std::array::from_fn(|k| Complex64::from_polar(1.0, self.theta[k] / global[k] as f64));
        for (k, link) in numbers.chunks_exact_mut(LINK).enumerate() {
            let Some(phase) = phases.get(k % 4) else { continue };
            for z in link.chunks_exact_mut(2) {
                let turned = Complex64::new(z[0], z[1]) * phase;
                z.copy_from_slice(&[turned.re, turned.im]);
            }
        }
        let any = LinkOptions { tolerance: Some(f64::INFINITY), reproject: false };
        let (device, array) = (self.field.device(), External::read(&[&numbers[..]]));
        GaugeField::from_external(device, geometry, form, &layout, &array, any)?
            .to(precision, Recon::R18)
    }
}

/// Number of reals of a link that is stored whole.
const LINK: usize = 18;

/// A clover term and its inverse.
#[derive(Clone)]
pub struct CloverTerm {
    pub direct: Arc<CloverField>,
    /// The inverse A^-1, or with a square s the parts of (A^2 + s)^-1 that the inverse site term of a twisted
    /// operator needs.
    pub inverse: Arc<CloverField>,
    pub square: Option<f64>,
    /// Number of the term in this session: a term computed again from the same links and coefficient has the same
    /// number.
    pub number: usize,
}

/// The links and coefficient from which a clover term was computed.
#[derive(Clone, Copy, PartialEq)]
pub struct TermSource {
    /// Version of the links from which it was computed.
    pub links: u64,
    pub coefficient: f64,
    /// c_F and c_F' where links have boundaries in time.
    pub cf: [f64; 2],
    pub precision: Precision,
}

/// Largest number of clover terms whose numbers are remembered; a term that is computed again then finds the
/// eigenspaces that belong to it.
const KNOWN_TERMS: usize = 64;

/// A text that identifies what an operator was made from: links, clover term, parameters.
pub type OperatorKey = String;

/// Identifies the operator and parameters from which a solver was made.
#[derive(PartialEq)]
pub struct SolverKey {
    pub operator: OperatorKey,
    pub params: SolveParams,
    /// Number of the multigrid that preconditions the solver; 0: none.
    pub multigrid: usize,
    /// Number of the eigenspace that deflates it, number of modes that are used, and factor by which the residual falls
    /// until they are used again.
    pub deflation: Option<(usize, usize, f64)>,
}

#[derive(Default)]
pub struct Resident {
    pub links: Option<Links>,
    pub smeared: Option<Links>,
    pub momenta: Option<Momenta>,
    pub clover: Option<CloverTerm>,
    /// The operator that was used last.
    pub operator: Option<(OperatorKey, Arc<dyn QuarkAction>)>,
    pub solver: Option<(SolverKey, Arc<DiracSolver>)>,
    /// Earlier solutions, by channel.
    pub chronology: Chronology,
    pub eigenspaces: Eigenspaces,
    multigrids: Vec<(usize, Arc<Multigrid>)>,
    /// Numbers of the clover terms that were computed last.
    terms: VecDeque<(TermSource, usize)>,
    /// The links with sign and anisotropy that were requested last, and the version of the links without them.
    with_host_factors: Option<(u64, Precision, Arc<GaugeField>)>,
    /// The links with the host's phases in space that were requested last, and the version of the links without them.
    turned: Option<(u64, Precision, Arc<GaugeField>)>,
    /// For the latest versions of links their deviation from SU(3), the last measured one at the end.
    unitarity: Vec<(u64, f64)>,
    made: usize,
}

impl Resident {
    /// A number that no other object of this session has.
    pub fn number(&mut self) -> usize {
        self.made += 1;
        self.made
    }

    /// The links; if there are none, an error that says how to load them.
    pub fn links(&self) -> Result<Links> {
        match &self.links {
            Some(links) => Ok(links.clone()),
            None => refuse!(
                InvalidArgument,
                "links",
                expected("some on the device"),
                found("none"),
                hint("call loadGaugeQuda first")
            ),
        }
    }

    /// Replaces the clover term. A term computed from the same source as before gets its former number, by which
    /// objects made from it, such as eigenspaces, are found again.
    pub fn set_clover(
        &mut self,
        [direct, inverse]: [CloverField; 2],
        square: Option<f64>,
        source: Option<TermSource>,
    ) {
        let known = self.terms.iter().find(|term| Some(term.0) == source).map(|term| term.1);
        let number = known.unwrap_or_else(|| self.number());
        if let (None, Some(source)) = (known, source) {
            self.terms.push_back((source, number));
            if self.terms.len() > KNOWN_TERMS {
                self.terms.pop_front();
            }
        }
        self.forget_operators();
        let (direct, inverse) = (Arc::new(direct), Arc::new(inverse));
        self.clover = Some(CloverTerm { direct, inverse, square, number });
    }

    /// The clover term with the inverse for this square, which is computed if it is not the present one; if there is
    /// no clover term, an error that says how to load one.
    pub fn clover(&mut self, square: Option<f64>) -> Result<CloverTerm> {
        let Some(term) = &mut self.clover else {
            refuse!(
                InvalidArgument,
                "clover term",
                expected("one on the device"),
                found("none"),
                hint("call loadCloverQuda first")
            );
        };
        if term.square != square {
            term.inverse = Arc::new(term.direct.inverse(square)?);
            term.square = square;
        }
        Ok(term.clone())
    }

    /// The smeared links, if there are any, else the links.
    pub fn measured(&self) -> Result<Links> {
        self.smeared.clone().map_or_else(|| self.links(), Ok)
    }

    /// Largest deviation of links from SU(3), measured once for each version.
    pub fn unitarity(&mut self, links: &GaugeField) -> Result<f64> {
        let version = links.version();
        if let Some((_, off)) = self.unitarity.iter().find(|known| known.0 == version) {
            return Ok(*off);
        }
        let off = observables::unitarity(links)?.worst();
        // Two versions are remembered, as links and smeared links are measured in turn.
        if self.unitarity.len() == 2 {
            self.unitarity.remove(0);
        }
        self.unitarity.push((version, off));
        Ok(off)
    }

    /// The links multiplied by the phases in space that the host's links contain, in this precision; None: they contain
    /// none. They are made once for each version of the links and precision.
    pub fn turned(
        &mut self,
        links: &Links,
        precision: Precision,
    ) -> Result<Option<Arc<GaugeField>>> {
        if links.theta == [0.0; 3] {
            return Ok(None);
        }
        let key = (links.field.version(), precision);
        if let Some((version, of, field)) = &self.turned {
            if (*version, *of) == key {
                return Ok(Some(field.clone()));
            }
        }
        self.turned = None;
        let made = Arc::new(links.turned(precision)?);
        self.turned = Some((key.0, precision, made.clone()));
        Ok(Some(made))
    }

    /// Links with the sign and anisotropy of the host's links, if they contain these in directions of the mask; made
    /// once for each version of the links and precision.
    pub fn as_loaded(
        &mut self,
        links: &Links,
        directions: i32,
        precision: Precision,
    ) -> Result<Option<Arc<GaugeField>>> {
        if !links.carry(directions) {
            return Ok(None);
        }
        let key = (links.field.version(), precision);
        if let Some((version, of, field)) = &self.with_host_factors {
            if (*version, *of) == key {
                return Ok(Some(field.clone()));
            }
        }
        self.with_host_factors = None;
        let one = Complex64::ONE;
        let layout = Layout {
            boundary: [one, one, one, Complex64::new(links.sign, 0.0)],
            scale: links.scale(),
            ..Layout::lexicographic(Precision::F64)
        };
        let field = self.turned(links, precision)?.unwrap_or_else(|| links.field.clone());
        let made = Arc::new(field.with_host_factors(&layout, precision)?);
        self.with_host_factors = Some((key.0, precision, made.clone()));
        Ok(Some(made))
    }

    pub fn set_links(&mut self, links: Option<Links>) {
        self.links = links;
        (self.with_host_factors, self.turned) = (None, None);
        self.forget_operators();
        self.eigenspaces.forget();
    }

    /// Frees operators and solvers, which hold memory of the links and the clover term.
    pub fn forget_operators(&mut self) {
        self.solver = None;
        self.operator = None;
    }

    /// Keeps a multigrid; the value that the host gets for it is not an address.
    pub fn add_multigrid(&mut self, multigrid: Multigrid) -> *mut c_void {
        let number = self.number();
        self.multigrids.push((number, Arc::new(multigrid)));
        std::ptr::without_provenance_mut(number)
    }

    pub fn multigrid(&self, instance: *mut c_void, name: &str) -> Result<(usize, Arc<Multigrid>)> {
        let found = self.multigrids.iter().find(|m| m.0 == instance.addr());
        match found {
            Some(found) => Ok(found.clone()),
            None => refuse!(
                InvalidHandle,
                "{name}",
                expected("what newMultigridQuda returned, not destroyed since"),
                found("{instance:p}")
            ),
        }
    }

    pub fn remove_multigrid(&mut self, instance: *mut c_void) -> Result<()> {
        let (number, _) = self.multigrid(instance, "mg_instance")?;
        self.multigrids.retain(|m| m.0 != number);
        if self.solver.as_ref().is_some_and(|s| s.0.multigrid == number) {
            self.solver = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Device;
    use crate::fields::{Geometry, Precision, Recon};

    /// The deviation of links from SU(3) is measured once for each version, even if other links are measured in
    /// between.
    #[test]
    fn links_are_measured_once_a_version() {
        let device = Device::cpu(1).unwrap();
        let geometry = Geometry::new([4, 4, 4, 4], &device).unwrap();
        let near = |seed: u64| {
            let mut links =
                GaugeField::new(&device, &geometry, Precision::F64, Recon::R18).unwrap();
            links.set_near_unit(seed, 0.3).unwrap();
            links
        };
        let mut resident = Resident::default();
        // The kernels that are launched when the deviation is asked for.
        let mut launched = |links: &GaugeField| {
            let asked = device.recorded(|| {
                assert!(resident.unitarity(links).unwrap() < 1e-13);
            });
            asked.iter().filter(|a| a.kernel.name == "unitarity").count()
        };
        let (mut links, smeared) = (near(1), near(2));
        assert_eq!([launched(&links), launched(&smeared)], [1, 1]);
        for _ in 0..3 {
            assert_eq!([launched(&links), launched(&smeared)], [0, 0]);
        }
        links.set_near_unit(3, 0.3).unwrap();
        assert_eq!([launched(&links), launched(&links), launched(&smeared)], [1, 0, 0]);
    }
}
