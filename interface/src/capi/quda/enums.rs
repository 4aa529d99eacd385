//! `enum_quda.h`: QUDA's enumerations with QUDA's numbers, as far as plaq's functions use them.

use crate::capi::table::interface;
use crate::compose::Equations;
use crate::error::words;
use crate::fields::{GammaBasis, Precision};
use crate::linop::Schur;
use crate::solvers::SolverKind;

/// A solver of QUDA for which plaq has an equivalent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inverter(pub SolverKind);

/// Parity of a field on half of the lattice: 0 (even) or 1 (odd).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parity(pub usize);

/// The kind of memory that a pool holds: of the device, or page-locked memory of the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PoolMemory {
    Device,
    Host,
}

/// Correlators of contractFTQuda: of colour vectors, and of spinors by time slices or slices of z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contraction {
    Staggered,
    InTime,
    InSpace,
}

/// Part of a plane wave in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FourierPart {
    Odd,
    Even,
    Whole,
}

/// Level up to which lines are written to the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verbosity(pub log::LevelFilter);

/// The memory of an array of the host; plaq determines it itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostMemory;

/// Precision of numbers in arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers(pub Precision);

/// Order of links in the host's arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkOrder {
    Qdp,
    QdpJit,
    Milc,
    MilcSite,
}

words!(LinkOrder {
    Qdp => "QUDA_QDP_GAUGE_ORDER",
    QdpJit => "QUDA_QDPJIT_GAUGE_ORDER",
    Milc => "QUDA_MILC_GAUGE_ORDER",
    MilcSite => "QUDA_MILC_SITE_GAUGE_ORDER",
});

/// Kind of links of SU(3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkKind {
    Plain,
    Smeared,
}

/// Sign that links of the last time slice contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary(pub f64);

/// Storage in which QUDA would keep links on the device; plaq chooses its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStorage;

/// States that links are not in temporal gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFixed;

/// States that links contain no staggered phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoPhase;

/// Operators that a struct of QUDA may name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dslash {
    Wilson,
    Clover,
    Twisted,
    TwistedClover,
    /// An operator on colour vectors, which plaq does not have; in some functions it only says that fields hold
    /// colour vectors.
    Staggered,
    Laplace,
    Shift,
}

words!(Dslash {
    Wilson => "QUDA_WILSON_DSLASH",
    Clover => "QUDA_CLOVER_WILSON_DSLASH",
    Twisted => "QUDA_TWISTED_MASS_DSLASH",
    TwistedClover => "QUDA_TWISTED_CLOVER_DSLASH",
    Staggered => "QUDA_STAGGERED_DSLASH",
    Laplace => "QUDA_LAPLACE_DSLASH",
    Shift => "QUDA_COVDEV_DSLASH",
});

/// Flavours of a twisted operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavours {
    One,
    /// A doublet of two flavours, whose masses may differ.
    Two,
}

/// Basis of the host's spinors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Basis(pub GammaBasis);

/// The equation to be solved, before QUDA_DAG_YES replaces M by its adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    Mat,
    MatDagMat,
    MatPc,
    MatPcDag,
    MatPcDagMatPc,
}

/// The system through which an equation is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solve {
    pub normal: Option<Equations>,
    pub even_odd: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dagger(pub bool);

/// Factor of the operator: none, 1 / (2 kappa), or for the even-odd preconditioned operator 1 / (4 kappa^2) or 1 / (2
/// kappa).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    Kappa,
    Mass,
    AsymmetricMass,
}

/// Order of clover terms in the host's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloverOrder {
    Packed,
    QdpJit,
}

/// Order of spinors in the host's arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpinorOrder {
    Dirac,
    Qdp,
    QdpJit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guess(pub bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub bool);

/// Methods that smear links, including flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Smear {
    Ape,
    Stout,
    OverImproved,
    Hyp,
    WilsonFlow,
    SymanzikFlow,
}

/// Algorithms that search for eigenvectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EigenKind {
    Single,
    /// Eigenvectors of an operator, with blocks of vectors multiplied together.
    Block,
    /// Eigenvectors on every time slice separately.
    Slices,
}

/// An end of a real spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End(pub crate::solvers::End);

/// The form and parity of the Schur complement in QUDA's even-odd preconditioning.
#[derive(Clone, Copy, PartialEq)]
pub struct Complement(pub Schur);

interface! {
    "Enumerations"
    defines {
        /// The value that is invalid in every enumeration.
        QUDA_INVALID_ENUM = "(-0x7fffffff - 1)";
        /// Other names of QUDA_BOOLEAN_FALSE and QUDA_BOOLEAN_TRUE.
        QUDA_BOOLEAN_NO = "QUDA_BOOLEAN_FALSE";
        QUDA_BOOLEAN_YES = "QUDA_BOOLEAN_TRUE";
    }
    enums {
        /// The memory of an array of the host, host or device. Not used: plaq finds it out from the driver.
        QudaFieldLocation: HostMemory {
            QUDA_CPU_FIELD_LOCATION = 1 => HostMemory,
            QUDA_CUDA_FIELD_LOCATION = 2 => HostMemory,
            QUDA_INVALID_FIELD_LOCATION = -2147483648,
        }
        /// Kinds of links; plaq takes links of SU(3).
        QudaLinkType: LinkKind {
            QUDA_SU3_LINKS = 0 => LinkKind::Plain,
            QUDA_WILSON_LINKS = 0,
            QUDA_GENERAL_LINKS = 1,
            QUDA_THREE_LINKS = 2,
            QUDA_MOMENTUM_LINKS = 3,
            QUDA_COARSE_LINKS = 4,
            QUDA_SMEARED_LINKS = 5 => LinkKind::Smeared,
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
            /// QDP: four arrays, one for each direction, even sites first.
            QUDA_QDP_GAUGE_ORDER = 10 => LinkOrder::Qdp,
            /// QDP-JIT: four arrays, one for each direction, sites fastest, as on its devices.
            QUDA_QDPJIT_GAUGE_ORDER = 11 => LinkOrder::QdpJit,
            QUDA_CPS_WILSON_GAUGE_ORDER = 12,
            /// MILC: one array, four links for each site, even sites first.
            QUDA_MILC_GAUGE_ORDER = 13 => LinkOrder::Milc,
            /// MILC: the same inside of site structs.
            QUDA_MILC_SITE_GAUGE_ORDER = 14 => LinkOrder::MilcSite,
            QUDA_BQCD_GAUGE_ORDER = 15,
            QUDA_TIFR_GAUGE_ORDER = 16,
            QUDA_TIFR_PADDED_GAUGE_ORDER = 17,
            /// openQxD: only in functions of quda_openqcd_interface.h.
            QUDA_OPENQCD_GAUGE_ORDER = 18,
            QUDA_INVALID_GAUGE_ORDER = -2147483648,
        }
        /// Fermion boundary condition in t that the links contain; closed paths that do not wind around the lattice
        /// are not affected.
        QudaTboundary: Boundary {
            QUDA_ANTI_PERIODIC_T = -1 => Boundary(-1.0),
            QUDA_PERIODIC_T = 1 => Boundary(1.0),
            QUDA_INVALID_T_BOUNDARY = -2147483648,
        }
        /// Bytes of a real number; plaq takes single and double precision.
        QudaPrecision: Numbers {
            QUDA_QUARTER_PRECISION = 1,
            QUDA_HALF_PRECISION = 2,
            QUDA_SINGLE_PRECISION = 4 => Numbers(Precision::F32),
            QUDA_DOUBLE_PRECISION = 8 => Numbers(Precision::F64),
            QUDA_INVALID_PRECISION = -2147483648,
        }
        /// Storage in which QUDA would keep links; plaq chooses its own.
        QudaReconstructType: LinkStorage {
            QUDA_RECONSTRUCT_NO = 18 => LinkStorage,
            QUDA_RECONSTRUCT_12 = 12 => LinkStorage,
            QUDA_RECONSTRUCT_8 = 8 => LinkStorage,
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
        /// Staggered phases in links; plaq takes links without them.
        QudaStaggeredPhase: NoPhase {
            QUDA_STAGGERED_PHASE_NO = 0 => NoPhase,
            QUDA_STAGGERED_PHASE_MILC = 1,
            QUDA_STAGGERED_PHASE_CHROMA = 2,
            QUDA_STAGGERED_PHASE_TIFR = 3,
            QUDA_STAGGERED_PHASE_INVALID = -2147483648,
        }
        /// Amount of the log. Unless setVerbosityQuda was called it is written to stdout for calls whose
        /// QudaInvertParam asks for it by `verbosity`; plaq_log_set of plaq.h receives it, too.
        QudaVerbosity: Verbosity {
            QUDA_SILENT = 0 => Verbosity(log::LevelFilter::Off),
            /// A line for each solve, set-up, eigensolve and gauge fixing, and for other long work.
            QUDA_SUMMARIZE = 1 => Verbosity(log::LevelFilter::Info),
            /// The lines of QUDA_SUMMARIZE, and every iteration of solves.
            QUDA_VERBOSE = 2 => Verbosity(log::LevelFilter::Debug),
            /// The lines of QUDA_VERBOSE, and every call with the time that it took.
            QUDA_DEBUG_VERBOSE = 3 => Verbosity(log::LevelFilter::Trace),
            QUDA_INVALID_VERBOSITY = -2147483648,
        }
        /// Kind of correlator that contractFTQuda computes, and the direction of its slices.
        QudaContractType: Contraction {
            QUDA_CONTRACT_TYPE_STAGGERED_FT_T = 0 => Contraction::Staggered,
            QUDA_CONTRACT_TYPE_DR_FT_T = 1 => Contraction::InTime,
            QUDA_CONTRACT_TYPE_DR_FT_Z = 2 => Contraction::InSpace,
            QUDA_CONTRACT_TYPE_STAGGERED = 3, QUDA_CONTRACT_TYPE_DR = 4, QUDA_CONTRACT_TYPE_OPEN = 5,
            QUDA_CONTRACT_TYPE_OPEN_SUM_T = 6, QUDA_CONTRACT_TYPE_OPEN_SUM_Z = 7,
            QUDA_CONTRACT_TYPE_OPEN_FT_T = 8, QUDA_CONTRACT_TYPE_OPEN_FT_Z = 9,
            QUDA_CONTRACT_TYPE_INVALID = -2147483648,
        }
        /// Factor of a direction in the Fourier sum: a part of exp(i p r).
        QudaFFTSymmType: FourierPart {
            /// i sin(p r).
            QUDA_FFT_SYMM_ODD = 1 => FourierPart::Odd,
            /// cos(p r).
            QUDA_FFT_SYMM_EVEN = 2 => FourierPart::Even,
            /// exp(i p r).
            QUDA_FFT_SYMM_EO = 3 => FourierPart::Whole,
            QUDA_FFT_SYMM_INVALID = -2147483648,
        }
        /// Kinds of memory.
        QudaMemoryType: PoolMemory {
            QUDA_MEMORY_DEVICE = 0 => PoolMemory::Device,
            QUDA_MEMORY_DEVICE_PINNED = 1, QUDA_MEMORY_HOST = 2,
            QUDA_MEMORY_HOST_PINNED = 3 => PoolMemory::Host,
            QUDA_MEMORY_MAPPED = 4, QUDA_MEMORY_MANAGED = 5,
            QUDA_MEMORY_INVALID = -2147483648,
        }
        /// Parity of sites: even or odd x + y + z + t.
        QudaParity: Parity {
            QUDA_EVEN_PARITY = 0 => Parity(0),
            QUDA_ODD_PARITY = 1 => Parity(1),
            QUDA_INVALID_PARITY = -2147483648,
        }
        /// Solvers. plaq has CG (on the normal equations), BICGSTAB, GCR, MR, CGNE and CGNR, also in place of their
        /// communication-avoiding forms, and refuses the others.
        QudaInverterType: Inverter {
            QUDA_CG_INVERTER = 0 => Inverter(SolverKind::Cgnr),
            QUDA_BICGSTAB_INVERTER = 1 => Inverter(SolverKind::BiCgStab),
            QUDA_GCR_INVERTER = 2 => Inverter(SolverKind::Gcr),
            QUDA_MR_INVERTER = 3 => Inverter(SolverKind::Mr),
            QUDA_SD_INVERTER = 4,
            QUDA_PCG_INVERTER = 5 => Inverter(SolverKind::Cgnr),
            QUDA_EIGCG_INVERTER = 6,
            QUDA_INC_EIGCG_INVERTER = 7,
            QUDA_GMRESDR_INVERTER = 8,
            QUDA_GMRESDR_PROJ_INVERTER = 9,
            QUDA_GMRESDR_SH_INVERTER = 10,
            QUDA_FGMRESDR_INVERTER = 11,
            QUDA_MG_INVERTER = 12,
            QUDA_BICGSTABL_INVERTER = 13 => Inverter(SolverKind::BiCgStab),
            QUDA_CGNE_INVERTER = 14 => Inverter(SolverKind::Cgne),
            QUDA_CGNR_INVERTER = 15 => Inverter(SolverKind::Cgnr),
            QUDA_CG3_INVERTER = 16,
            QUDA_CG3NE_INVERTER = 17,
            QUDA_CG3NR_INVERTER = 18,
            QUDA_CA_CG_INVERTER = 19 => Inverter(SolverKind::Cgnr),
            QUDA_CA_CGNE_INVERTER = 20 => Inverter(SolverKind::Cgne),
            QUDA_CA_CGNR_INVERTER = 21 => Inverter(SolverKind::Cgnr),
            QUDA_CA_GCR_INVERTER = 22 => Inverter(SolverKind::Gcr),
            QUDA_INVALID_INVERTER = -2147483648,
        }
        QudaDslashType: Dslash {
            QUDA_WILSON_DSLASH = 0 => Dslash::Wilson,
            QUDA_CLOVER_WILSON_DSLASH = 1 => Dslash::Clover,
            QUDA_CLOVER_HASENBUSCH_TWIST_DSLASH = 2,
            QUDA_DOMAIN_WALL_DSLASH = 3,
            QUDA_DOMAIN_WALL_4D_DSLASH = 4,
            QUDA_MOBIUS_DWF_DSLASH = 5,
            QUDA_MOBIUS_DWF_EOFA_DSLASH = 6,
            QUDA_STAGGERED_DSLASH = 7 => Dslash::Staggered,
            QUDA_ASQTAD_DSLASH = 8,
            QUDA_TWISTED_MASS_DSLASH = 9 => Dslash::Twisted,
            QUDA_TWISTED_CLOVER_DSLASH = 10 => Dslash::TwistedClover,
            QUDA_LAPLACE_DSLASH = 11 => Dslash::Laplace,
            QUDA_COVDEV_DSLASH = 12 => Dslash::Shift,
            QUDA_INVALID_DSLASH = -2147483648,
        }
        /// Flavours of a twisted operator.
        QudaTwistFlavorType: Flavours {
            QUDA_TWIST_NO = 0 => Flavours::One,
            QUDA_TWIST_SINGLET = 1 => Flavours::One,
            /// Two flavours, whose masses may differ, both in one vector.
            QUDA_TWIST_NONDEG_DOUBLET = 2 => Flavours::Two,
            QUDA_TWIST_INVALID = -2147483648,
        }
        /// Basis of the host's spinors.
        QudaGammaBasis: Basis {
            QUDA_DEGRAND_ROSSI_GAMMA_BASIS = 0 => Basis(GammaBasis::DeGrandRossi),
            QUDA_UKQCD_GAMMA_BASIS = 1,
            /// Spinors psi with i ((0, -sigma2), (sigma2, 0)) psi in the basis of DeGrand and Rossi; gamma5 has the
            /// other sign.
            QUDA_CHIRAL_GAMMA_BASIS = 2 => Basis(GammaBasis::Chiral),
            /// gamma_t is diagonal (docs/layouts.md).
            QUDA_DIRAC_PAULI_GAMMA_BASIS = 3 => Basis(GammaBasis::DiracPauli),
            /// openQxD's basis, which is the chiral one.
            QUDA_OPENQCD_GAMMA_BASIS = 4 => Basis(GammaBasis::Chiral),
            QUDA_INVALID_GAMMA_BASIS = -2147483648,
        }
        QudaSolutionType: Equation {
            QUDA_MAT_SOLUTION = 0 => Equation::Mat,
            QUDA_MATDAG_MAT_SOLUTION = 1 => Equation::MatDagMat,
            QUDA_MATPC_SOLUTION = 2 => Equation::MatPc,
            QUDA_MATPC_DAG_SOLUTION = 3 => Equation::MatPcDag,
            QUDA_MATPCDAG_MATPC_SOLUTION = 4 => Equation::MatPcDagMatPc,
            QUDA_MATPCDAG_MATPC_SHIFT_SOLUTION = 5 => Equation::MatPcDagMatPc,
            QUDA_INVALID_SOLUTION = -2147483648,
        }
        QudaSolveType: Solve {
            QUDA_DIRECT_SOLVE = 0 => Solve { normal: None, even_odd: false },
            QUDA_NORMOP_SOLVE = 1 => Solve { normal: Some(Equations::NormalResidual), even_odd: false },
            QUDA_DIRECT_PC_SOLVE = 2 => Solve { normal: None, even_odd: true },
            QUDA_NORMOP_PC_SOLVE = 3 => Solve { normal: Some(Equations::NormalResidual), even_odd: true },
            QUDA_NORMERR_SOLVE = 4 => Solve { normal: Some(Equations::NormalError), even_odd: false },
            QUDA_NORMERR_PC_SOLVE = 5 => Solve { normal: Some(Equations::NormalError), even_odd: true },
            QUDA_NORMEQ_SOLVE = 1,
            QUDA_NORMEQ_PC_SOLVE = 3,
            QUDA_INVALID_SOLVE = -2147483648,
        }
        QudaMatPCType: Complement {
            QUDA_MATPC_EVEN_EVEN = 0 => Complement(Schur { parity: 0, symmetric: true }),
            QUDA_MATPC_ODD_ODD = 1 => Complement(Schur { parity: 1, symmetric: true }),
            QUDA_MATPC_EVEN_EVEN_ASYMMETRIC = 2 => Complement(Schur { parity: 0, symmetric: false }),
            QUDA_MATPC_ODD_ODD_ASYMMETRIC = 3 => Complement(Schur { parity: 1, symmetric: false }),
            QUDA_MATPC_INVALID = -2147483648,
        }
        QudaDagType: Dagger {
            QUDA_DAG_NO = 0 => Dagger(false),
            QUDA_DAG_YES = 1 => Dagger(true),
            QUDA_DAG_INVALID = -2147483648,
        }
        QudaMassNormalization: Factor {
            QUDA_KAPPA_NORMALIZATION = 0 => Factor::Kappa,
            QUDA_MASS_NORMALIZATION = 1 => Factor::Mass,
            QUDA_ASYMMETRIC_MASS_NORMALIZATION = 2 => Factor::AsymmetricMass,
            QUDA_INVALID_NORMALIZATION = -2147483648,
        }
        /// Order of spinors in the host's arrays.
        QudaDiracFieldOrder: SpinorOrder {
            QUDA_INTERNAL_DIRAC_ORDER = 0,
            /// Even sites first, colour faster than spin.
            QUDA_DIRAC_ORDER = 1 => SpinorOrder::Dirac,
            /// Even sites first, spin faster than colour.
            QUDA_QDP_DIRAC_ORDER = 2 => SpinorOrder::Qdp,
            /// Sites fastest; a spinor of one parity lies in its half of the whole lattice's array.
            QUDA_QDPJIT_DIRAC_ORDER = 3 => SpinorOrder::QdpJit,
            QUDA_CPS_WILSON_DIRAC_ORDER = 4,
            QUDA_LEX_DIRAC_ORDER = 5,
            QUDA_TIFR_PADDED_DIRAC_ORDER = 6,
            /// openQxD: only in functions of quda_openqcd_interface.h.
            QUDA_OPENQCD_DIRAC_ORDER = 7,
            QUDA_INVALID_DIRAC_ORDER = -2147483648,
        }
        QudaCloverFieldOrder: CloverOrder {
            QUDA_FLOAT_CLOVER_ORDER = 1,
            QUDA_FLOAT2_CLOVER_ORDER = 2,
            QUDA_FLOAT4_CLOVER_ORDER = 4,
            QUDA_FLOAT8_CLOVER_ORDER = 8,
            QUDA_PACKED_CLOVER_ORDER = 9 => CloverOrder::Packed,
            /// QDP-JIT: a list of two arrays, one of the numbers below the diagonal and one of the diagonal, sites
            /// fastest.
            QUDA_QDPJIT_CLOVER_ORDER = 10 => CloverOrder::QdpJit,
            QUDA_BQCD_CLOVER_ORDER = 11,
            /// openQxD: only in functions of quda_openqcd_interface.h.
            QUDA_OPENQCD_CLOVER_ORDER = 12,
            QUDA_INVALID_CLOVER_ORDER = -2147483648,
        }
        QudaUseInitGuess: Guess {
            QUDA_USE_INIT_GUESS_NO = 0 => Guess(false),
            QUDA_USE_INIT_GUESS_YES = 1 => Guess(true),
            QUDA_USE_INIT_GUESS_INVALID = -2147483648,
        }
        QudaBoolean: Flag {
            QUDA_BOOLEAN_FALSE = 0 => Flag(false),
            QUDA_BOOLEAN_TRUE = 1 => Flag(true),
            QUDA_BOOLEAN_INVALID = -2147483648,
        }
        QudaGaugeSmearType: Smear {
            QUDA_GAUGE_SMEAR_APE = 0 => Smear::Ape,
            QUDA_GAUGE_SMEAR_STOUT = 1 => Smear::Stout,
            QUDA_GAUGE_SMEAR_OVRIMP_STOUT = 2 => Smear::OverImproved,
            QUDA_GAUGE_SMEAR_HYP = 3 => Smear::Hyp,
            QUDA_GAUGE_SMEAR_WILSON_FLOW = 4 => Smear::WilsonFlow,
            QUDA_GAUGE_SMEAR_SYMANZIK_FLOW = 5 => Smear::SymanzikFlow,
            QUDA_GAUGE_SMEAR_INVALID = -2147483648,
        }
        /// Methods of finding eigenvectors: by Lanczos, or on every time slice separately.
        QudaEigType: EigenKind {
            QUDA_EIG_TR_LANCZOS = 0 => EigenKind::Single,
            QUDA_EIG_BLK_TR_LANCZOS = 1 => EigenKind::Block,
            QUDA_EIG_TR_LANCZOS_3D = 2 => EigenKind::Slices,
            QUDA_EIG_IR_ARNOLDI = 3,
            QUDA_EIG_BLK_IR_ARNOLDI = 4,
            QUDA_EIG_INVALID = -2147483648,
        }
        /// Ends of a spectrum; plaq takes those of a real one.
        QudaEigSpectrumType: End {
            QUDA_SPECTRUM_LM_EIG = 0,
            QUDA_SPECTRUM_SM_EIG = 1,
            QUDA_SPECTRUM_LR_EIG = 2 => End(crate::solvers::End::Largest),
            QUDA_SPECTRUM_SR_EIG = 3 => End(crate::solvers::End::Smallest),
            QUDA_SPECTRUM_LI_EIG = 4,
            QUDA_SPECTRUM_SI_EIG = 5,
            QUDA_SPECTRUM_INVALID = -2147483648,
        }
    }
}
