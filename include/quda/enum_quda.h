/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_ENUM_QUDA_H
#define PLAQ_QUDA_ENUM_QUDA_H

/** The value that is invalid in every enumeration. */
#define QUDA_INVALID_ENUM (-0x7fffffff - 1)

/** Other names of QUDA_BOOLEAN_FALSE and QUDA_BOOLEAN_TRUE. */
#define QUDA_BOOLEAN_NO QUDA_BOOLEAN_FALSE

#define QUDA_BOOLEAN_YES QUDA_BOOLEAN_TRUE

/** The memory of an array of the host, host or device. Not used: plaq finds it out from the driver. */
typedef enum QudaFieldLocation_s {
  QUDA_CPU_FIELD_LOCATION = 1,
  QUDA_CUDA_FIELD_LOCATION = 2,
  QUDA_INVALID_FIELD_LOCATION = QUDA_INVALID_ENUM
} QudaFieldLocation;

/** Kinds of links; plaq takes links of SU(3). */
typedef enum QudaLinkType_s {
  QUDA_SU3_LINKS = 0,
  QUDA_WILSON_LINKS = 0,
  QUDA_GENERAL_LINKS = 1,
  QUDA_THREE_LINKS = 2,
  QUDA_MOMENTUM_LINKS = 3,
  QUDA_COARSE_LINKS = 4,
  QUDA_SMEARED_LINKS = 5,
  QUDA_TWOLINK_LINKS = 6,
  QUDA_INVALID_LINKS = QUDA_INVALID_ENUM
} QudaLinkType;

/** Order of links in the host's arrays. */
typedef enum QudaGaugeFieldOrder_s {
  QUDA_FLOAT_GAUGE_ORDER = 1,
  QUDA_FLOAT2_GAUGE_ORDER = 2,
  QUDA_FLOAT4_GAUGE_ORDER = 4,
  QUDA_FLOAT8_GAUGE_ORDER = 8,
  QUDA_NATIVE_GAUGE_ORDER = 9,
  /** QDP: four arrays, one for each direction, even sites first. */
  QUDA_QDP_GAUGE_ORDER = 10,
  /** QDP-JIT: four arrays, one for each direction, sites fastest, as on its devices. */
  QUDA_QDPJIT_GAUGE_ORDER = 11,
  QUDA_CPS_WILSON_GAUGE_ORDER = 12,
  /** MILC: one array, four links for each site, even sites first. */
  QUDA_MILC_GAUGE_ORDER = 13,
  /** MILC: the same inside of site structs. */
  QUDA_MILC_SITE_GAUGE_ORDER = 14,
  QUDA_BQCD_GAUGE_ORDER = 15,
  QUDA_TIFR_GAUGE_ORDER = 16,
  QUDA_TIFR_PADDED_GAUGE_ORDER = 17,
  /** openQxD: only in functions of quda_openqcd_interface.h. */
  QUDA_OPENQCD_GAUGE_ORDER = 18,
  QUDA_INVALID_GAUGE_ORDER = QUDA_INVALID_ENUM
} QudaGaugeFieldOrder;

/** Fermion boundary condition in t that the links contain; closed paths that do not wind around the lattice
 * are not affected. */
typedef enum QudaTboundary_s {
  QUDA_ANTI_PERIODIC_T = -1,
  QUDA_PERIODIC_T = 1,
  QUDA_INVALID_T_BOUNDARY = QUDA_INVALID_ENUM
} QudaTboundary;

/** Bytes of a real number; plaq takes single and double precision. */
typedef enum QudaPrecision_s {
  QUDA_QUARTER_PRECISION = 1,
  QUDA_HALF_PRECISION = 2,
  QUDA_SINGLE_PRECISION = 4,
  QUDA_DOUBLE_PRECISION = 8,
  QUDA_INVALID_PRECISION = QUDA_INVALID_ENUM
} QudaPrecision;

/** Storage in which QUDA would keep links; plaq chooses its own. */
typedef enum QudaReconstructType_s {
  QUDA_RECONSTRUCT_NO = 18,
  QUDA_RECONSTRUCT_12 = 12,
  QUDA_RECONSTRUCT_8 = 8,
  QUDA_RECONSTRUCT_9 = 9,
  QUDA_RECONSTRUCT_13 = 13,
  QUDA_RECONSTRUCT_10 = 10,
  QUDA_RECONSTRUCT_INVALID = QUDA_INVALID_ENUM
} QudaReconstructType;

/** Whether links are in temporal gauge. */
typedef enum QudaGaugeFixed_s {
  QUDA_GAUGE_FIXED_NO = 0,
  QUDA_GAUGE_FIXED_YES = 1,
  QUDA_GAUGE_FIXED_INVALID = QUDA_INVALID_ENUM
} QudaGaugeFixed;

/** Staggered phases in links; plaq takes links without them. */
typedef enum QudaStaggeredPhase_s {
  QUDA_STAGGERED_PHASE_NO = 0,
  QUDA_STAGGERED_PHASE_MILC = 1,
  QUDA_STAGGERED_PHASE_CHROMA = 2,
  QUDA_STAGGERED_PHASE_TIFR = 3,
  QUDA_STAGGERED_PHASE_INVALID = QUDA_INVALID_ENUM
} QudaStaggeredPhase;

/** Amount of the log. Unless setVerbosityQuda was called it is written to stdout for calls whose
 * QudaInvertParam asks for it by `verbosity`; plaq_log_set of plaq.h receives it, too. */
typedef enum QudaVerbosity_s {
  QUDA_SILENT = 0,
  /** A line for each solve, set-up, eigensolve and gauge fixing, and for other long work. */
  QUDA_SUMMARIZE = 1,
  /** The lines of QUDA_SUMMARIZE, and every iteration of solves. */
  QUDA_VERBOSE = 2,
  /** The lines of QUDA_VERBOSE, and every call with the time that it took. */
  QUDA_DEBUG_VERBOSE = 3,
  QUDA_INVALID_VERBOSITY = QUDA_INVALID_ENUM
} QudaVerbosity;

/** Kind of correlator that contractFTQuda computes, and the direction of its slices. */
typedef enum QudaContractType_s {
  QUDA_CONTRACT_TYPE_STAGGERED_FT_T = 0,
  QUDA_CONTRACT_TYPE_DR_FT_T = 1,
  QUDA_CONTRACT_TYPE_DR_FT_Z = 2,
  QUDA_CONTRACT_TYPE_STAGGERED = 3,
  QUDA_CONTRACT_TYPE_DR = 4,
  QUDA_CONTRACT_TYPE_OPEN = 5,
  QUDA_CONTRACT_TYPE_OPEN_SUM_T = 6,
  QUDA_CONTRACT_TYPE_OPEN_SUM_Z = 7,
  QUDA_CONTRACT_TYPE_OPEN_FT_T = 8,
  QUDA_CONTRACT_TYPE_OPEN_FT_Z = 9,
  QUDA_CONTRACT_TYPE_INVALID = QUDA_INVALID_ENUM
} QudaContractType;

/** Factor of a direction in the Fourier sum: a part of exp(i p r). */
typedef enum QudaFFTSymmType_s {
  /** i sin(p r). */
  QUDA_FFT_SYMM_ODD = 1,
  /** cos(p r). */
  QUDA_FFT_SYMM_EVEN = 2,
  /** exp(i p r). */
  QUDA_FFT_SYMM_EO = 3,
  QUDA_FFT_SYMM_INVALID = QUDA_INVALID_ENUM
} QudaFFTSymmType;

/** Kinds of memory. */
typedef enum QudaMemoryType_s {
  QUDA_MEMORY_DEVICE = 0,
  QUDA_MEMORY_DEVICE_PINNED = 1,
  QUDA_MEMORY_HOST = 2,
  QUDA_MEMORY_HOST_PINNED = 3,
  QUDA_MEMORY_MAPPED = 4,
  QUDA_MEMORY_MANAGED = 5,
  QUDA_MEMORY_INVALID = QUDA_INVALID_ENUM
} QudaMemoryType;

/** Parity of sites: even or odd x + y + z + t. */
typedef enum QudaParity_s {
  QUDA_EVEN_PARITY = 0,
  QUDA_ODD_PARITY = 1,
  QUDA_INVALID_PARITY = QUDA_INVALID_ENUM
} QudaParity;

/** Solvers. plaq has CG (on the normal equations), BICGSTAB, GCR, MR, CGNE and CGNR, also in place of their
 * communication-avoiding forms, and refuses the others. */
typedef enum QudaInverterType_s {
  QUDA_CG_INVERTER = 0,
  QUDA_BICGSTAB_INVERTER = 1,
  QUDA_GCR_INVERTER = 2,
  QUDA_MR_INVERTER = 3,
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
  QUDA_CGNE_INVERTER = 14,
  QUDA_CGNR_INVERTER = 15,
  QUDA_CG3_INVERTER = 16,
  QUDA_CG3NE_INVERTER = 17,
  QUDA_CG3NR_INVERTER = 18,
  QUDA_CA_CG_INVERTER = 19,
  QUDA_CA_CGNE_INVERTER = 20,
  QUDA_CA_CGNR_INVERTER = 21,
  QUDA_CA_GCR_INVERTER = 22,
  QUDA_INVALID_INVERTER = QUDA_INVALID_ENUM
} QudaInverterType;

typedef enum QudaDslashType_s {
  QUDA_WILSON_DSLASH = 0,
  QUDA_CLOVER_WILSON_DSLASH = 1,
  QUDA_CLOVER_HASENBUSCH_TWIST_DSLASH = 2,
  QUDA_DOMAIN_WALL_DSLASH = 3,
  QUDA_DOMAIN_WALL_4D_DSLASH = 4,
  QUDA_MOBIUS_DWF_DSLASH = 5,
  QUDA_MOBIUS_DWF_EOFA_DSLASH = 6,
  QUDA_STAGGERED_DSLASH = 7,
  QUDA_ASQTAD_DSLASH = 8,
  QUDA_TWISTED_MASS_DSLASH = 9,
  QUDA_TWISTED_CLOVER_DSLASH = 10,
  QUDA_LAPLACE_DSLASH = 11,
  QUDA_COVDEV_DSLASH = 12,
  QUDA_INVALID_DSLASH = QUDA_INVALID_ENUM
} QudaDslashType;

/** Flavours of a twisted operator. */
typedef enum QudaTwistFlavorType_s {
  QUDA_TWIST_NO = 0,
  QUDA_TWIST_SINGLET = 1,
  /** Two flavours, whose masses may differ, both in one vector. */
  QUDA_TWIST_NONDEG_DOUBLET = 2,
  QUDA_TWIST_INVALID = QUDA_INVALID_ENUM
} QudaTwistFlavorType;

/** Basis of the host's spinors. */
typedef enum QudaGammaBasis_s {
  QUDA_DEGRAND_ROSSI_GAMMA_BASIS = 0,
  QUDA_UKQCD_GAMMA_BASIS = 1,
  /** Spinors psi with i ((0, -sigma2), (sigma2, 0)) psi in the basis of DeGrand and Rossi; gamma5 has the
   * other sign. */
  QUDA_CHIRAL_GAMMA_BASIS = 2,
  /** gamma_t is diagonal (docs/layouts.md). */
  QUDA_DIRAC_PAULI_GAMMA_BASIS = 3,
  /** openQxD's basis, which is the chiral one. */
  QUDA_OPENQCD_GAMMA_BASIS = 4,
  QUDA_INVALID_GAMMA_BASIS = QUDA_INVALID_ENUM
} QudaGammaBasis;

typedef enum QudaSolutionType_s {
  QUDA_MAT_SOLUTION = 0,
  QUDA_MATDAG_MAT_SOLUTION = 1,
  QUDA_MATPC_SOLUTION = 2,
  QUDA_MATPC_DAG_SOLUTION = 3,
  QUDA_MATPCDAG_MATPC_SOLUTION = 4,
  QUDA_MATPCDAG_MATPC_SHIFT_SOLUTION = 5,
  QUDA_INVALID_SOLUTION = QUDA_INVALID_ENUM
} QudaSolutionType;

typedef enum QudaSolveType_s {
  QUDA_DIRECT_SOLVE = 0,
  QUDA_NORMOP_SOLVE = 1,
  QUDA_DIRECT_PC_SOLVE = 2,
  QUDA_NORMOP_PC_SOLVE = 3,
  QUDA_NORMERR_SOLVE = 4,
  QUDA_NORMERR_PC_SOLVE = 5,
  QUDA_NORMEQ_SOLVE = 1,
  QUDA_NORMEQ_PC_SOLVE = 3,
  QUDA_INVALID_SOLVE = QUDA_INVALID_ENUM
} QudaSolveType;

typedef enum QudaMatPCType_s {
  QUDA_MATPC_EVEN_EVEN = 0,
  QUDA_MATPC_ODD_ODD = 1,
  QUDA_MATPC_EVEN_EVEN_ASYMMETRIC = 2,
  QUDA_MATPC_ODD_ODD_ASYMMETRIC = 3,
  QUDA_MATPC_INVALID = QUDA_INVALID_ENUM
} QudaMatPCType;

typedef enum QudaDagType_s {
  QUDA_DAG_NO = 0,
  QUDA_DAG_YES = 1,
  QUDA_DAG_INVALID = QUDA_INVALID_ENUM
} QudaDagType;

typedef enum QudaMassNormalization_s {
  QUDA_KAPPA_NORMALIZATION = 0,
  QUDA_MASS_NORMALIZATION = 1,
  QUDA_ASYMMETRIC_MASS_NORMALIZATION = 2,
  QUDA_INVALID_NORMALIZATION = QUDA_INVALID_ENUM
} QudaMassNormalization;

/** Order of spinors in the host's arrays. */
typedef enum QudaDiracFieldOrder_s {
  QUDA_INTERNAL_DIRAC_ORDER = 0,
  /** Even sites first, colour faster than spin. */
  QUDA_DIRAC_ORDER = 1,
  /** Even sites first, spin faster than colour. */
  QUDA_QDP_DIRAC_ORDER = 2,
  /** Sites fastest; a spinor of one parity lies in its half of the whole lattice's array. */
  QUDA_QDPJIT_DIRAC_ORDER = 3,
  QUDA_CPS_WILSON_DIRAC_ORDER = 4,
  QUDA_LEX_DIRAC_ORDER = 5,
  QUDA_TIFR_PADDED_DIRAC_ORDER = 6,
  /** openQxD: only in functions of quda_openqcd_interface.h. */
  QUDA_OPENQCD_DIRAC_ORDER = 7,
  QUDA_INVALID_DIRAC_ORDER = QUDA_INVALID_ENUM
} QudaDiracFieldOrder;

typedef enum QudaCloverFieldOrder_s {
  QUDA_FLOAT_CLOVER_ORDER = 1,
  QUDA_FLOAT2_CLOVER_ORDER = 2,
  QUDA_FLOAT4_CLOVER_ORDER = 4,
  QUDA_FLOAT8_CLOVER_ORDER = 8,
  QUDA_PACKED_CLOVER_ORDER = 9,
  /** QDP-JIT: a list of two arrays, one of the numbers below the diagonal and one of the diagonal, sites
   * fastest. */
  QUDA_QDPJIT_CLOVER_ORDER = 10,
  QUDA_BQCD_CLOVER_ORDER = 11,
  /** openQxD: only in functions of quda_openqcd_interface.h. */
  QUDA_OPENQCD_CLOVER_ORDER = 12,
  QUDA_INVALID_CLOVER_ORDER = QUDA_INVALID_ENUM
} QudaCloverFieldOrder;

typedef enum QudaUseInitGuess_s {
  QUDA_USE_INIT_GUESS_NO = 0,
  QUDA_USE_INIT_GUESS_YES = 1,
  QUDA_USE_INIT_GUESS_INVALID = QUDA_INVALID_ENUM
} QudaUseInitGuess;

typedef enum QudaBoolean_s {
  QUDA_BOOLEAN_FALSE = 0,
  QUDA_BOOLEAN_TRUE = 1,
  QUDA_BOOLEAN_INVALID = QUDA_INVALID_ENUM
} QudaBoolean;

typedef enum QudaGaugeSmearType_s {
  QUDA_GAUGE_SMEAR_APE = 0,
  QUDA_GAUGE_SMEAR_STOUT = 1,
  QUDA_GAUGE_SMEAR_OVRIMP_STOUT = 2,
  QUDA_GAUGE_SMEAR_HYP = 3,
  QUDA_GAUGE_SMEAR_WILSON_FLOW = 4,
  QUDA_GAUGE_SMEAR_SYMANZIK_FLOW = 5,
  QUDA_GAUGE_SMEAR_INVALID = QUDA_INVALID_ENUM
} QudaGaugeSmearType;

/** Methods of finding eigenvectors: by Lanczos, or on every time slice separately. */
typedef enum QudaEigType_s {
  QUDA_EIG_TR_LANCZOS = 0,
  QUDA_EIG_BLK_TR_LANCZOS = 1,
  QUDA_EIG_TR_LANCZOS_3D = 2,
  QUDA_EIG_IR_ARNOLDI = 3,
  QUDA_EIG_BLK_IR_ARNOLDI = 4,
  QUDA_EIG_INVALID = QUDA_INVALID_ENUM
} QudaEigType;

/** Ends of a spectrum; plaq takes those of a real one. */
typedef enum QudaEigSpectrumType_s {
  QUDA_SPECTRUM_LM_EIG = 0,
  QUDA_SPECTRUM_SM_EIG = 1,
  QUDA_SPECTRUM_LR_EIG = 2,
  QUDA_SPECTRUM_SR_EIG = 3,
  QUDA_SPECTRUM_LI_EIG = 4,
  QUDA_SPECTRUM_SI_EIG = 5,
  QUDA_SPECTRUM_INVALID = QUDA_INVALID_ENUM
} QudaEigSpectrumType;

typedef enum qudaError_t_s {
  QUDA_SUCCESS = 0,
  QUDA_ERROR = 1,
  QUDA_ERROR_UNINITIALIZED = 2
} qudaError_t;

typedef enum QudaMultigridCycleType_s {
  QUDA_MG_CYCLE_VCYCLE = 0,
  QUDA_MG_CYCLE_FCYCLE = 1,
  QUDA_MG_CYCLE_WCYCLE = 2,
  QUDA_MG_CYCLE_RECURSIVE = 3,
  QUDA_MG_CYCLE_INVALID = QUDA_INVALID_ENUM
} QudaMultigridCycleType;

typedef enum QudaSchwarzType_s {
  QUDA_ADDITIVE_SCHWARZ = 0,
  QUDA_MULTIPLICATIVE_SCHWARZ = 1,
  QUDA_INVALID_SCHWARZ = QUDA_INVALID_ENUM
} QudaSchwarzType;

typedef enum QudaAcceleratorType_s {
  QUDA_MADWF_ACCELERATOR = 0,
  QUDA_INVALID_ACCELERATOR = QUDA_INVALID_ENUM
} QudaAcceleratorType;

typedef enum QudaResidualType_s {
  QUDA_L2_RELATIVE_RESIDUAL = 1,
  QUDA_L2_ABSOLUTE_RESIDUAL = 2,
  QUDA_HEAVY_QUARK_RESIDUAL = 4,
  QUDA_INVALID_RESIDUAL = QUDA_INVALID_ENUM
} QudaResidualType;

typedef enum QudaCABasis_s {
  QUDA_POWER_BASIS = 0,
  QUDA_CHEBYSHEV_BASIS = 1,
  QUDA_INVALID_BASIS = QUDA_INVALID_ENUM
} QudaCABasis;

typedef enum QudaSolverNormalization_s {
  QUDA_DEFAULT_NORMALIZATION = 0,
  QUDA_SOURCE_NORMALIZATION = 1
} QudaSolverNormalization;

typedef enum QudaPreserveSource_s {
  QUDA_PRESERVE_SOURCE_NO = 0,
  QUDA_PRESERVE_SOURCE_YES = 1,
  QUDA_PRESERVE_SOURCE_INVALID = QUDA_INVALID_ENUM
} QudaPreserveSource;

typedef enum QudaPreserveDirac_s {
  QUDA_PRESERVE_DIRAC_NO = 0,
  QUDA_PRESERVE_DIRAC_YES = 1,
  QUDA_PRESERVE_DIRAC_INVALID = QUDA_INVALID_ENUM
} QudaPreserveDirac;

typedef enum QudaDiracType_s {
  QUDA_WILSON_DIRAC = 0,
  QUDA_WILSONPC_DIRAC = 1,
  QUDA_CLOVER_DIRAC = 2,
  QUDA_CLOVERPC_DIRAC = 3,
  QUDA_CLOVER_HASENBUSCH_TWIST_DIRAC = 4,
  QUDA_CLOVER_HASENBUSCH_TWISTPC_DIRAC = 5,
  QUDA_DOMAIN_WALL_DIRAC = 6,
  QUDA_DOMAIN_WALLPC_DIRAC = 7,
  QUDA_DOMAIN_WALL_4D_DIRAC = 8,
  QUDA_DOMAIN_WALL_4DPC_DIRAC = 9,
  QUDA_MOBIUS_DOMAIN_WALL_DIRAC = 10,
  QUDA_MOBIUS_DOMAIN_WALLPC_DIRAC = 11,
  QUDA_MOBIUS_DOMAIN_WALL_EOFA_DIRAC = 12,
  QUDA_MOBIUS_DOMAIN_WALLPC_EOFA_DIRAC = 13,
  QUDA_STAGGERED_DIRAC = 14,
  QUDA_STAGGEREDPC_DIRAC = 15,
  QUDA_STAGGEREDKD_DIRAC = 16,
  QUDA_ASQTAD_DIRAC = 17,
  QUDA_ASQTADPC_DIRAC = 18,
  QUDA_ASQTADKD_DIRAC = 19,
  QUDA_TWISTED_MASS_DIRAC = 20,
  QUDA_TWISTED_MASSPC_DIRAC = 21,
  QUDA_TWISTED_CLOVER_DIRAC = 22,
  QUDA_TWISTED_CLOVERPC_DIRAC = 23,
  QUDA_COARSE_DIRAC = 24,
  QUDA_COARSEPC_DIRAC = 25,
  QUDA_GAUGE_LAPLACE_DIRAC = 26,
  QUDA_GAUGE_LAPLACEPC_DIRAC = 27,
  QUDA_GAUGE_COVDEV_DIRAC = 28,
  QUDA_INVALID_DIRAC = QUDA_INVALID_ENUM
} QudaDiracType;

typedef enum QudaSiteSubset_s {
  QUDA_PARITY_SITE_SUBSET = 1,
  QUDA_FULL_SITE_SUBSET = 2,
  QUDA_INVALID_SITE_SUBSET = QUDA_INVALID_ENUM
} QudaSiteSubset;

typedef enum QudaSiteOrder_s {
  QUDA_LEXICOGRAPHIC_SITE_ORDER = 0,
  QUDA_EVEN_ODD_SITE_ORDER = 1,
  QUDA_ODD_EVEN_SITE_ORDER = 2,
  QUDA_INVALID_SITE_ORDER = QUDA_INVALID_ENUM
} QudaSiteOrder;

typedef enum QudaFieldOrder_s {
  QUDA_FLOAT_FIELD_ORDER = 1,
  QUDA_FLOAT2_FIELD_ORDER = 2,
  QUDA_FLOAT4_FIELD_ORDER = 4,
  QUDA_FLOAT8_FIELD_ORDER = 8,
  QUDA_SPACE_SPIN_COLOR_FIELD_ORDER = 9,
  QUDA_SPACE_COLOR_SPIN_FIELD_ORDER = 10,
  QUDA_QDPJIT_FIELD_ORDER = 11,
  QUDA_QOP_DOMAIN_WALL_FIELD_ORDER = 12,
  QUDA_PADDED_SPACE_SPIN_COLOR_FIELD_ORDER = 13,
  QUDA_OPENQCD_FIELD_ORDER = 14,
  QUDA_INVALID_FIELD_ORDER = QUDA_INVALID_ENUM
} QudaFieldOrder;

typedef enum QudaFieldCreate_s {
  QUDA_NULL_FIELD_CREATE = 0,
  QUDA_ZERO_FIELD_CREATE = 1,
  QUDA_COPY_FIELD_CREATE = 2,
  QUDA_REFERENCE_FIELD_CREATE = 3,
  QUDA_GHOST_FIELD_CREATE = 4,
  QUDA_INVALID_FIELD_CREATE = QUDA_INVALID_ENUM
} QudaFieldCreate;

typedef enum QudaSourceType_s {
  QUDA_POINT_SOURCE = 0,
  QUDA_RANDOM_SOURCE = 1,
  QUDA_CONSTANT_SOURCE = 2,
  QUDA_SINUSOIDAL_SOURCE = 3,
  QUDA_CORNER_SOURCE = 4,
  QUDA_INVALID_SOURCE = QUDA_INVALID_ENUM
} QudaSourceType;

typedef enum QudaNoiseType_s {
  QUDA_NOISE_GAUSS = 0,
  QUDA_NOISE_UNIFORM = 1,
  QUDA_NOISE_INVALID = QUDA_INVALID_ENUM
} QudaNoiseType;

typedef enum QudaDilutionType_s {
  QUDA_DILUTION_SPIN = 0,
  QUDA_DILUTION_COLOR = 1,
  QUDA_DILUTION_SPIN_COLOR = 2,
  QUDA_DILUTION_SPIN_COLOR_EVEN_ODD = 3,
  QUDA_DILUTION_BLOCK = 4,
  QUDA_DILUTION_INVALID = QUDA_INVALID_ENUM
} QudaDilutionType;

typedef enum QudaProjectionType_s {
  QUDA_MINRES_PROJECTION = 0,
  QUDA_GALERKIN_PROJECTION = 1,
  QUDA_INVALID_PROJECTION = QUDA_INVALID_ENUM
} QudaProjectionType;

typedef enum QudaPCType_s {
  QUDA_4D_PC = 4,
  QUDA_5D_PC = 5,
  QUDA_PC_INVALID = QUDA_INVALID_ENUM
} QudaPCType;

typedef enum QudaTwistDslashType_s {
  QUDA_DEG_TWIST_INV_DSLASH = 0,
  QUDA_DEG_DSLASH_TWIST_INV = 1,
  QUDA_DEG_DSLASH_TWIST_XPAY = 2,
  QUDA_NONDEG_DSLASH = 3,
  QUDA_DSLASH_INVALID = QUDA_INVALID_ENUM
} QudaTwistDslashType;

typedef enum QudaTwistCloverDslashType_s {
  QUDA_DEG_CLOVER_TWIST_INV_DSLASH = 0,
  QUDA_DEG_DSLASH_CLOVER_TWIST_INV = 1,
  QUDA_DEG_DSLASH_CLOVER_TWIST_XPAY = 2,
  QUDA_TC_DSLASH_INVALID = QUDA_INVALID_ENUM
} QudaTwistCloverDslashType;

typedef enum QudaTwistGamma5Type_s {
  QUDA_TWIST_GAMMA5_DIRECT = 0,
  QUDA_TWIST_GAMMA5_INVERSE = 1,
  QUDA_TWIST_GAMMA5_INVALID = QUDA_INVALID_ENUM
} QudaTwistGamma5Type;

typedef enum QudaDeflatedGuess_s {
  QUDA_DEFLATED_GUESS_NO = 0,
  QUDA_DEFLATED_GUESS_YES = 1,
  QUDA_DEFLATED_GUESS_INVALID = QUDA_INVALID_ENUM
} QudaDeflatedGuess;

typedef enum QudaComputeNullVector_s {
  QUDA_COMPUTE_NULL_VECTOR_NO = 0,
  QUDA_COMPUTE_NULL_VECTOR_YES = 1,
  QUDA_COMPUTE_NULL_VECTOR_INVALID = QUDA_INVALID_ENUM
} QudaComputeNullVector;

typedef enum QudaSetupType_s {
  QUDA_NULL_VECTOR_SETUP = 0,
  QUDA_TEST_VECTOR_SETUP = 1,
  QUDA_INVALID_SETUP_TYPE = QUDA_INVALID_ENUM
} QudaSetupType;

typedef enum QudaTransferType_s {
  QUDA_TRANSFER_AGGREGATE = 0,
  QUDA_TRANSFER_COARSE_KD = 1,
  QUDA_TRANSFER_OPTIMIZED_KD = 2,
  QUDA_TRANSFER_OPTIMIZED_KD_DROP_LONG = 3,
  QUDA_TRANSFER_INVALID = QUDA_INVALID_ENUM
} QudaTransferType;

typedef enum QudaBLASType_s {
  QUDA_BLAS_GEMM = 0,
  QUDA_BLAS_LU_INV = 1,
  QUDA_BLAS_INVALID = QUDA_INVALID_ENUM
} QudaBLASType;

typedef enum QudaBLASOperation_s {
  QUDA_BLAS_OP_N = 0,
  QUDA_BLAS_OP_T = 1,
  QUDA_BLAS_OP_C = 2,
  QUDA_BLAS_OP_INVALID = QUDA_INVALID_ENUM
} QudaBLASOperation;

typedef enum QudaBLASDataType_s {
  QUDA_BLAS_DATATYPE_S = 0,
  QUDA_BLAS_DATATYPE_D = 1,
  QUDA_BLAS_DATATYPE_C = 2,
  QUDA_BLAS_DATATYPE_Z = 3,
  QUDA_BLAS_DATATYPE_INVALID = QUDA_INVALID_ENUM
} QudaBLASDataType;

typedef enum QudaBLASDataOrder_s {
  QUDA_BLAS_DATAORDER_ROW = 0,
  QUDA_BLAS_DATAORDER_COL = 1,
  QUDA_BLAS_DATAORDER_INVALID = QUDA_INVALID_ENUM
} QudaBLASDataOrder;

typedef enum QudaDirection_s {
  QUDA_BACKWARDS = -1,
  QUDA_IN_PLACE = 0,
  QUDA_FORWARDS = 1,
  QUDA_BOTH_DIRS = 2
} QudaDirection;

typedef enum QudaLinkDirection_s {
  QUDA_LINK_BACKWARDS = 0,
  QUDA_LINK_FORWARDS = 1,
  QUDA_LINK_BIDIRECTIONAL = 2
} QudaLinkDirection;

typedef enum QudaFieldGeometry_s {
  QUDA_SCALAR_GEOMETRY = 1,
  QUDA_VECTOR_GEOMETRY = 4,
  QUDA_TENSOR_GEOMETRY = 6,
  QUDA_COARSE_GEOMETRY = 8,
  QUDA_KDINVERSE_GEOMETRY = 16,
  QUDA_INVALID_GEOMETRY = QUDA_INVALID_ENUM
} QudaFieldGeometry;

typedef enum QudaGhostExchange_s {
  QUDA_GHOST_EXCHANGE_NO = 0,
  QUDA_GHOST_EXCHANGE_PAD = 1,
  QUDA_GHOST_EXCHANGE_EXTENDED = 2,
  QUDA_GHOST_EXCHANGE_INVALID = QUDA_INVALID_ENUM
} QudaGhostExchange;

typedef enum QudaSpinTasteGamma_s {
  QUDA_SPIN_TASTE_G1 = 0,
  QUDA_SPIN_TASTE_GX = 1,
  QUDA_SPIN_TASTE_GY = 2,
  QUDA_SPIN_TASTE_GZ = 4,
  QUDA_SPIN_TASTE_GT = 8,
  QUDA_SPIN_TASTE_G5 = 15,
  QUDA_SPIN_TASTE_GYGZ = 6,
  QUDA_SPIN_TASTE_GZGX = 5,
  QUDA_SPIN_TASTE_GXGY = 3,
  QUDA_SPIN_TASTE_GXGT = 9,
  QUDA_SPIN_TASTE_GYGT = 10,
  QUDA_SPIN_TASTE_GZGT = 12,
  QUDA_SPIN_TASTE_G5GX = 14,
  QUDA_SPIN_TASTE_G5GY = 13,
  QUDA_SPIN_TASTE_G5GZ = 11,
  QUDA_SPIN_TASTE_G5GT = 7,
  QUDA_SPIN_TASTE_INVALID = QUDA_INVALID_ENUM
} QudaSpinTasteGamma;

typedef enum QudaContractGamma_s {
  QUDA_CONTRACT_GAMMA_I = 0,
  QUDA_CONTRACT_GAMMA_G1 = 1,
  QUDA_CONTRACT_GAMMA_G2 = 2,
  QUDA_CONTRACT_GAMMA_G3 = 3,
  QUDA_CONTRACT_GAMMA_G4 = 4,
  QUDA_CONTRACT_GAMMA_G5 = 5,
  QUDA_CONTRACT_GAMMA_G1G5 = 6,
  QUDA_CONTRACT_GAMMA_G2G5 = 7,
  QUDA_CONTRACT_GAMMA_G3G5 = 8,
  QUDA_CONTRACT_GAMMA_G4G5 = 9,
  QUDA_CONTRACT_GAMMA_S12 = 10,
  QUDA_CONTRACT_GAMMA_S13 = 11,
  QUDA_CONTRACT_GAMMA_S14 = 12,
  QUDA_CONTRACT_GAMMA_S21 = 13,
  QUDA_CONTRACT_GAMMA_S23 = 14,
  QUDA_CONTRACT_GAMMA_S34 = 15,
  QUDA_CONTRACT_GAMMA_INVALID = QUDA_INVALID_ENUM
} QudaContractGamma;

typedef enum QudaWFlowType_s {
  QUDA_WFLOW_TYPE_WILSON = 0,
  QUDA_WFLOW_TYPE_SYMANZIK = 1,
  QUDA_WFLOW_TYPE_INVALID = QUDA_INVALID_ENUM
} QudaWFlowType;

typedef enum QudaFermionSmearType_s {
  QUDA_FERMION_SMEAR_TYPE_GAUSSIAN = 0,
  QUDA_FERMION_SMEAR_TYPE_WUPPERTAL = 1,
  QUDA_FERMION_SMEAR_TYPE_INVALID = QUDA_INVALID_ENUM
} QudaFermionSmearType;

typedef enum QudaExtLibType_s {
  QUDA_CUSOLVE_EXTLIB = 0,
  QUDA_EIGEN_EXTLIB = 1,
  QUDA_EXTLIB_INVALID = QUDA_INVALID_ENUM
} QudaExtLibType;

typedef enum QudaWFlowStepType_s {
  QUDA_WFLOW_STEP_W1 = 0,
  QUDA_WFLOW_STEP_W2 = 1,
  QUDA_WFLOW_STEP_VT = 2
} QudaWFlowStepType;

typedef enum QudaTune_s {
  QUDA_TUNE_NO = 0,
  QUDA_TUNE_YES = 1,
  QUDA_TUNE_INVALID = QUDA_INVALID_ENUM
} QudaTune;

#endif
