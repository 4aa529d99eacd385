//! Solves deflated by eigenvectors (`eig_param` of a QudaInvertParam). With preserve_deflation they stay on the
//! device from one solve to the next; the host holds a number for them in the place of an address.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::Arc;

use super::eigen;
use super::eigenspaces::KeptModes;
use super::enums::{EigenKind, Flag};
use super::operators::Vectors;
use super::params_invert::QudaInvertParam;
use super::params_parts::QudaEigParam;
use super::records::Record;
use super::resident::{OperatorKey, Resident};
use crate::capi::args::{choose, Array};
use crate::compose::{Deflation, LowModes, Schur};
use crate::error::Result;
use crate::fields::Precision;
use crate::operators::{in_storage, QuarkAction};
use crate::refuse;
use crate::solvers::{no_monitor, EigenParams};

/// The eigenvectors that deflate a solve, and their parameters.
pub struct DeflationSpace {
    at: *mut QudaEigParam,
    params: EigenParams,
    /// Number of modes that deflate the solve.
    used: usize,
    restart: f64,
    precision: Precision,
    required: bool,
    preserved: bool,
    /// The host's `preserve_deflation_space`: instead of an address the number of an eigenspace that an earlier solve
    /// wrote there.
    space: *mut c_void,
    /// Number of the eigenspace that the solve uses; 0: none yet.
    number: Cell<usize>,
}

impl DeflationSpace {
    /// Reads the parameters of a deflated solve; `None`: the solve is not deflated.
    pub fn of(p: &QudaInvertParam) -> Result<Option<DeflationSpace>> {
        let at: *mut QudaEigParam = p.eig_param.cast();
        if at.is_null() {
            if p.deflate.0 == 1 {
                refuse!(
                    InvalidArgument,
                    "param.deflate",
                    expected("QUDA_BOOLEAN_FALSE with eig_param NULL"),
                    found("QUDA_BOOLEAN_TRUE")
                );
            }
            return Ok(None);
        }
        let eig = Array::at(at, "param.eig_param")?.own(1)[0];
        eig.check("param.eig_param")?;
        let (kind, params) = eigen::search(&eig, "param.eig_param")?;
        if kind == EigenKind::Slices {
            refuse!(
                Unsupported,
                "param.eig_param.eig_type",
                expected("QUDA_EIG_TR_LANCZOS or QUDA_EIG_BLK_TR_LANCZOS"),
                found("QUDA_EIG_TR_LANCZOS_3D")
            );
        }
        let used = match usize::try_from(eig.n_ev_deflate) {
            Ok(0) | Err(_) => params.count,
            Ok(n) if n <= params.count => n,
            Ok(n) => refuse!(
                InvalidArgument,
                "param.eig_param.n_ev_deflate",
                expected("at most n_conv, {}", params.count),
                found("{n}")
            ),
        };
        if !(0.0..1.0).contains(&p.tol_restart) {
            refuse!(
                InvalidArgument,
                "param.tol_restart",
                expected("a number from 0, below 1, with eig_param"),
                found("{}", p.tol_restart)
            );
        }
        let precision = match p.cuda_prec_eigensolver.0 {
            1 | 2 | 4 => Precision::F32,
            _ => Precision::F64,
        };
        let flag = |flag, name: &str| -> Result<bool> {
            Ok(choose::<Flag>(flag, &format!("param.eig_param.{name}"))?.0)
        };
        Ok(Some(DeflationSpace {
            at,
            used,
            restart: p.tol_restart,
            precision,
            required: flag(eig.require_convergence, "require_convergence")?,
            preserved: flag(eig.preserve_deflation, "preserve_deflation")?,
            space: eig.preserve_deflation_space,
            number: Cell::new(0),
            params,
        }))
    }

    /// The modes of this operator, with their number: kept ones, or new ones.
    pub fn modes(
        &self,
        vectors: &Vectors,
        resident: &mut Resident,
        (key, action): (&OperatorKey, &Arc<dyn QuarkAction>),
        form: Option<Schur>,
    ) -> Result<(usize, Deflation)> {
        let number = self.space.addr();
        let deflation = |modes| Deflation { modes, count: self.used, restart: self.restart };
        match resident.eigenspaces.of(number) {
            None if number != 0 => refuse!(
                InvalidHandle,
                "param.eig_param.preserve_deflation_space",
                expected("NULL or what an earlier solve of this session has left there"),
                found("{:p}", self.space)
            ),
            Some(Some(kept)) if kept.operator == *key && kept.form == form => {
                if kept.modes.count() != self.params.count {
                    refuse!(
                        InvalidArgument,
                        "param.eig_param.n_conv",
                        expected("{} as the eigenvectors that are kept are", kept.modes.count()),
                        found("{}", self.params.count)
                    );
                }
                if !kept.modes.is_of(&**action) {
                    // The operator of the kept modes was freed and made again meanwhile.
                    let storage = (kept.modes.precision(), action.storage().1);
                    let own = in_storage(action.clone(), storage)?;
                    kept.modes = Arc::new(kept.modes.of_same(&own)?);
                }
                self.number.set(number);
                return Ok((number, deflation(kept.modes.clone())));
            }
            // Kept vectors belong to another operator: their memory is freed for the new ones.
            Some(kept) => *kept = None,
            None => {}
        }
        resident.solver = None;
        let modes = Arc::new(self.find(vectors, action, form)?);
        let kept = KeptModes { operator: key.clone(), form, modes: modes.clone() };
        let number = match resident.eigenspaces.of(number) {
            Some(space) => {
                *space = Some(kept);
                number
            }
            None => {
                let number = resident.number();
                resident.eigenspaces.add(number, kept);
                number
            }
        };
        self.number.set(number);
        Ok((number, deflation(modes)))
    }

    fn find(
        &self,
        vectors: &Vectors,
        action: &Arc<dyn QuarkAction>,
        form: Option<Schur>,
    ) -> Result<LowModes> {
        let precision = self.precision.min(vectors.inside);
        let least = if precision == Precision::F64 { 0.0 } else { 1e-6 };
        // A missing eigenvector does no harm, since the solve itself then finds its part of the solution.
        let params =
            EigenParams { tol: self.params.tol.max(least), verify: false, ..self.params.clone() };
        let action = in_storage(action.clone(), (precision, action.storage().1))?;
        let (modes, report) = LowModes::find(&action, form, &params, &mut no_monitor)?;
        eigen::say(&report, modes.count(), (params.count, self.required), "param.eig_param")?;
        Ok(modes)
    }

    /// Called after the solve: keeps the eigenvectors if the host asks for it, otherwise frees them.
    pub fn finish(&self, resident: &mut Resident, solved: bool) {
        let number = self.number.get();
        let known = !self.space.is_null();
        let stays = if solved { self.preserved } else { known };
        if !stays {
            resident.eigenspaces.remove(number);
            resident.solver = None;
        }
        if solved {
            let space = if stays { number } else { 0 };
            // SAFETY: the host's struct, as the header asks.
            unsafe {
                (&raw mut (*self.at).preserve_deflation_space)
                    .write_unaligned(std::ptr::without_provenance_mut(space));
            }
        }
    }
}
