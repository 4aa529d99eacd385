//! `enum_quda.h`: enumerations of QUDA with QUDA's numbers, as far as functions here take them.

use crate::capi::table::interface;
use crate::solvers::SolverKind;

/// A solver of QUDA that has its counterpart here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inverter(pub SolverKind);

/// 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parity(pub usize);

/// Any of QUDA's degrees of verbosity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verbosity;

interface! {
    "Enumerations"
    defines {
        /// Last in every enumeration: no value.
        QUDA_INVALID_ENUM = "(-0x7fffffff - 1)";
    }
    enums {
        /// How much a library says. plaq says nothing by itself, whatever is asked for:
        /// plaq_log_set of plaq.h takes its log.
        QudaVerbosity: Verbosity {
            QUDA_SILENT = 0 => Verbosity,
            QUDA_SUMMARIZE = 1 => Verbosity,
            QUDA_VERBOSE = 2 => Verbosity,
            QUDA_DEBUG_VERBOSE = 3 => Verbosity,
            QUDA_INVALID_VERBOSITY = -2147483648,
        }
        /// Sites with even or odd x + y + z + t.
        QudaParity: Parity {
            QUDA_EVEN_PARITY = 0 => Parity(0),
            QUDA_ODD_PARITY = 1 => Parity(1),
            QUDA_INVALID_PARITY = -2147483648,
        }
        /// Solvers. plaq has CG (on the normal equations), BICGSTAB, GCR, MR, CGNE and CGNR, and
        /// refuses the others.
        QudaInverterType: Inverter {
            QUDA_CG_INVERTER = 0 => Inverter(SolverKind::Cgnr),
            QUDA_BICGSTAB_INVERTER = 1 => Inverter(SolverKind::BiCgStab),
            QUDA_GCR_INVERTER = 2 => Inverter(SolverKind::Gcr),
            QUDA_MR_INVERTER = 3 => Inverter(SolverKind::Mr),
            QUDA_SD_INVERTER = 4,
            QUDA_PCG_INVERTER = 5,
            QUDA_EIGCG_INVERTER = 6,
            QUDA_INC_EIGCG_INVERTER = 7,
            QUDA_GMRESDR_INVERTER = 8,
            QUDA_GMRESDR_PROJ_INVERTER = 9,
            QUDA_GMRESDR_SH_INVERTER = 10,
            QUDA_FGMRESDR_INVERTER = 11,
            QUDA_MG_INVERTER = 12,
            QUDA_BICGSTABL_INVERTER = 13,
            QUDA_CGNE_INVERTER = 14 => Inverter(SolverKind::Cgne),
            QUDA_CGNR_INVERTER = 15 => Inverter(SolverKind::Cgnr),
            QUDA_CG3_INVERTER = 16,
            QUDA_CG3NE_INVERTER = 17,
            QUDA_CG3NR_INVERTER = 18,
            QUDA_CA_CG_INVERTER = 19,
            QUDA_CA_CGNE_INVERTER = 20,
            QUDA_CA_CGNR_INVERTER = 21,
            QUDA_CA_GCR_INVERTER = 22,
            QUDA_INVALID_INVERTER = -2147483648,
        }
    }
}
