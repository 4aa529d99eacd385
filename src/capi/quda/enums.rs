//! `enum_quda.h`: enumerations of QUDA with QUDA's numbers, as far as functions here take them.

use crate::capi::table::interface;
use crate::error::words;
use crate::fields::Precision;
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

/// Where an array of the host is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostMemory;

/// Numbers of the host, or of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers(pub Precision);

/// Order of links in the host's arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkOrder {
    Qdp,
    Milc,
    MilcSite,
}

words!(LinkOrder {
    Qdp => "QUDA_QDP_GAUGE_ORDER",
    Milc => "QUDA_MILC_GAUGE_ORDER",
    MilcSite => "QUDA_MILC_SITE_GAUGE_ORDER",
});

/// Links of SU(3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Su3Links;

/// A boundary that links may carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary;

/// How QUDA would keep links on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept;

/// Links that are not in temporal gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFixed;

/// Links without staggered phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoPhase;

interface! {
    "Enumerations"
    defines {
        /// Last in every enumeration: no value.
        QUDA_INVALID_ENUM = "(-0x7fffffff - 1)";
    }
    enums {
        /// Where an array of the host is; plaq takes those in host memory.
        QudaFieldLocation: HostMemory {
            QUDA_CPU_FIELD_LOCATION = 1 => HostMemory,
            QUDA_CUDA_FIELD_LOCATION = 2,
            QUDA_INVALID_FIELD_LOCATION = -2147483648,
        }
        /// What links are; plaq takes those of SU(3).
        QudaLinkType: Su3Links {
            QUDA_SU3_LINKS = 0 => Su3Links,
            QUDA_WILSON_LINKS = 0,
            QUDA_GENERAL_LINKS = 1,
            QUDA_THREE_LINKS = 2,
            QUDA_MOMENTUM_LINKS = 3,
            QUDA_COARSE_LINKS = 4,
            QUDA_SMEARED_LINKS = 5,
            QUDA_TWOLINK_LINKS = 6,
            QUDA_INVALID_LINKS = -2147483648,
        }
        /// Order of links in the host's arrays.
        QudaGaugeFieldOrder: LinkOrder {
            QUDA_FLOAT_GAUGE_ORDER = 1,
            QUDA_FLOAT2_GAUGE_ORDER = 2,
            QUDA_FLOAT4_GAUGE_ORDER = 4,
            QUDA_FLOAT8_GAUGE_ORDER = 8,
            QUDA_NATIVE_GAUGE_ORDER = 9,
            /// Four arrays, one for each direction, even sites first.
            QUDA_QDP_GAUGE_ORDER = 10 => LinkOrder::Qdp,
            QUDA_QDPJIT_GAUGE_ORDER = 11,
            QUDA_CPS_WILSON_GAUGE_ORDER = 12,
            /// One array, four links on a site, even sites first.
            QUDA_MILC_GAUGE_ORDER = 13 => LinkOrder::Milc,
            /// The same inside of structs.
            QUDA_MILC_SITE_GAUGE_ORDER = 14 => LinkOrder::MilcSite,
            QUDA_BQCD_GAUGE_ORDER = 15,
            QUDA_TIFR_GAUGE_ORDER = 16,
            QUDA_TIFR_PADDED_GAUGE_ORDER = 17,
            QUDA_INVALID_GAUGE_ORDER = -2147483648,
        }
        /// Fermion boundary in t that the links carry: closed paths do not see it.
        QudaTboundary: Boundary {
            QUDA_ANTI_PERIODIC_T = -1 => Boundary,
            QUDA_PERIODIC_T = 1 => Boundary,
            QUDA_INVALID_T_BOUNDARY = -2147483648,
        }
        /// Bytes of a number; plaq takes single and double precision.
        QudaPrecision: Numbers {
            QUDA_QUARTER_PRECISION = 1,
            QUDA_HALF_PRECISION = 2,
            QUDA_SINGLE_PRECISION = 4 => Numbers(Precision::F32),
            QUDA_DOUBLE_PRECISION = 8 => Numbers(Precision::F64),
            QUDA_INVALID_PRECISION = -2147483648,
        }
        /// How QUDA would keep links; plaq keeps them whole.
        QudaReconstructType: Kept {
            QUDA_RECONSTRUCT_NO = 18 => Kept,
            QUDA_RECONSTRUCT_12 = 12 => Kept,
            QUDA_RECONSTRUCT_8 = 8 => Kept,
            QUDA_RECONSTRUCT_9 = 9,
            QUDA_RECONSTRUCT_13 = 13,
            QUDA_RECONSTRUCT_10 = 10,
            QUDA_RECONSTRUCT_INVALID = -2147483648,
        }
        /// Whether links are in temporal gauge.
        QudaGaugeFixed: NotFixed {
            QUDA_GAUGE_FIXED_NO = 0 => NotFixed,
            QUDA_GAUGE_FIXED_YES = 1,
            QUDA_GAUGE_FIXED_INVALID = -2147483648,
        }
        /// Staggered phases in links; plaq takes links without.
        QudaStaggeredPhase: NoPhase {
            QUDA_STAGGERED_PHASE_NO = 0 => NoPhase,
            QUDA_STAGGERED_PHASE_MILC = 1,
            QUDA_STAGGERED_PHASE_CHROMA = 2,
            QUDA_STAGGERED_PHASE_TIFR = 3,
            QUDA_STAGGERED_PHASE_INVALID = -2147483648,
        }
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
