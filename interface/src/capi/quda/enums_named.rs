//! Enumerations of `enum_quda.h` that hosts name, but whose values have no effect in plaq.

use crate::capi::table::interface;

/// Declares a type without meaning for each of these enumerations.
macro_rules! unused {
    ($($name:ident),* $(,)?) => { $(
        #[doc = concat!("Any value of Quda", stringify!($name), ".")]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name;
    )* };
}
unused!(
    ErrorNumber,
    MultigridCycleType,
    SchwarzType,
    AcceleratorType,
    ResidualType,
    CABasis,
    SolverNormalization,
    PreserveSource,
    PreserveDirac,
    DiracType,
    SiteSubset,
    SiteOrder,
    FieldOrder,
    FieldCreate,
    SourceType,
    NoiseType,
    DilutionType,
    ProjectionType,
    PCType,
    TwistDslashType,
    TwistCloverDslashType,
    TwistGamma5Type,
    DeflatedGuess,
    ComputeNullVector,
    SetupType,
    TransferType,
    BLASType,
    BLASOperation,
    BLASDataType,
    BLASDataOrder,
    Direction,
    LinkDirection,
    FieldGeometry,
    GhostExchange,
    SpinTasteGamma,
    ContractGamma,
    WFlowType,
    FermionSmearType,
    ExtLibType,
    WFlowStepType,
    Tune
);

interface! {
    "Enumerations that nothing here takes"
    enums {
        qudaError_t: ErrorNumber {
            QUDA_SUCCESS = 0, QUDA_ERROR = 1, QUDA_ERROR_UNINITIALIZED = 2,
        }
        QudaMultigridCycleType: MultigridCycleType {
            QUDA_MG_CYCLE_VCYCLE = 0, QUDA_MG_CYCLE_FCYCLE = 1, QUDA_MG_CYCLE_WCYCLE = 2,
            QUDA_MG_CYCLE_RECURSIVE = 3, QUDA_MG_CYCLE_INVALID = -2147483648,
        }
        QudaSchwarzType: SchwarzType {
            QUDA_ADDITIVE_SCHWARZ = 0, QUDA_MULTIPLICATIVE_SCHWARZ = 1,
            QUDA_INVALID_SCHWARZ = -2147483648,
        }
        QudaAcceleratorType: AcceleratorType {
            QUDA_MADWF_ACCELERATOR = 0, QUDA_INVALID_ACCELERATOR = -2147483648,
        }
        QudaResidualType: ResidualType {
            QUDA_L2_RELATIVE_RESIDUAL = 1, QUDA_L2_ABSOLUTE_RESIDUAL = 2,
            QUDA_HEAVY_QUARK_RESIDUAL = 4, QUDA_INVALID_RESIDUAL = -2147483648,
        }
        QudaCABasis: CABasis {
            QUDA_POWER_BASIS = 0, QUDA_CHEBYSHEV_BASIS = 1, QUDA_INVALID_BASIS = -2147483648,
        }
        QudaSolverNormalization: SolverNormalization {
            QUDA_DEFAULT_NORMALIZATION = 0, QUDA_SOURCE_NORMALIZATION = 1,
        }
        QudaPreserveSource: PreserveSource {
            QUDA_PRESERVE_SOURCE_NO = 0, QUDA_PRESERVE_SOURCE_YES = 1,
            QUDA_PRESERVE_SOURCE_INVALID = -2147483648,
        }
        QudaPreserveDirac: PreserveDirac {
            QUDA_PRESERVE_DIRAC_NO = 0, QUDA_PRESERVE_DIRAC_YES = 1,
            QUDA_PRESERVE_DIRAC_INVALID = -2147483648,
        }
        QudaDiracType: DiracType {
            QUDA_WILSON_DIRAC = 0, QUDA_WILSONPC_DIRAC = 1, QUDA_CLOVER_DIRAC = 2,
            QUDA_CLOVERPC_DIRAC = 3, QUDA_CLOVER_HASENBUSCH_TWIST_DIRAC = 4,
            QUDA_CLOVER_HASENBUSCH_TWISTPC_DIRAC = 5, QUDA_DOMAIN_WALL_DIRAC = 6,
            QUDA_DOMAIN_WALLPC_DIRAC = 7, QUDA_DOMAIN_WALL_4D_DIRAC = 8,
            QUDA_DOMAIN_WALL_4DPC_DIRAC = 9, QUDA_MOBIUS_DOMAIN_WALL_DIRAC = 10,
            QUDA_MOBIUS_DOMAIN_WALLPC_DIRAC = 11, QUDA_MOBIUS_DOMAIN_WALL_EOFA_DIRAC = 12,
            QUDA_MOBIUS_DOMAIN_WALLPC_EOFA_DIRAC = 13, QUDA_STAGGERED_DIRAC = 14,
            QUDA_STAGGEREDPC_DIRAC = 15, QUDA_STAGGEREDKD_DIRAC = 16, QUDA_ASQTAD_DIRAC = 17,
            QUDA_ASQTADPC_DIRAC = 18, QUDA_ASQTADKD_DIRAC = 19, QUDA_TWISTED_MASS_DIRAC = 20,
            QUDA_TWISTED_MASSPC_DIRAC = 21, QUDA_TWISTED_CLOVER_DIRAC = 22,
            QUDA_TWISTED_CLOVERPC_DIRAC = 23, QUDA_COARSE_DIRAC = 24, QUDA_COARSEPC_DIRAC = 25,
            QUDA_GAUGE_LAPLACE_DIRAC = 26, QUDA_GAUGE_LAPLACEPC_DIRAC = 27,
            QUDA_GAUGE_COVDEV_DIRAC = 28, QUDA_INVALID_DIRAC = -2147483648,
        }
        QudaSiteSubset: SiteSubset {
            QUDA_PARITY_SITE_SUBSET = 1, QUDA_FULL_SITE_SUBSET = 2,
            QUDA_INVALID_SITE_SUBSET = -2147483648,
        }
        QudaSiteOrder: SiteOrder {
            QUDA_LEXICOGRAPHIC_SITE_ORDER = 0, QUDA_EVEN_ODD_SITE_ORDER = 1,
            QUDA_ODD_EVEN_SITE_ORDER = 2, QUDA_INVALID_SITE_ORDER = -2147483648,
        }
        QudaFieldOrder: FieldOrder {
            QUDA_FLOAT_FIELD_ORDER = 1, QUDA_FLOAT2_FIELD_ORDER = 2, QUDA_FLOAT4_FIELD_ORDER = 4,
            QUDA_FLOAT8_FIELD_ORDER = 8, QUDA_SPACE_SPIN_COLOR_FIELD_ORDER = 9,
            QUDA_SPACE_COLOR_SPIN_FIELD_ORDER = 10, QUDA_QDPJIT_FIELD_ORDER = 11,
            QUDA_QOP_DOMAIN_WALL_FIELD_ORDER = 12, QUDA_PADDED_SPACE_SPIN_COLOR_FIELD_ORDER = 13, QUDA_OPENQCD_FIELD_ORDER = 14,
            QUDA_INVALID_FIELD_ORDER = -2147483648,
        }
        QudaFieldCreate: FieldCreate {
            QUDA_NULL_FIELD_CREATE = 0, QUDA_ZERO_FIELD_CREATE = 1, QUDA_COPY_FIELD_CREATE = 2,
            QUDA_REFERENCE_FIELD_CREATE = 3, QUDA_GHOST_FIELD_CREATE = 4,
            QUDA_INVALID_FIELD_CREATE = -2147483648,
        }
        QudaSourceType: SourceType {
            QUDA_POINT_SOURCE = 0, QUDA_RANDOM_SOURCE = 1, QUDA_CONSTANT_SOURCE = 2,
            QUDA_SINUSOIDAL_SOURCE = 3, QUDA_CORNER_SOURCE = 4, QUDA_INVALID_SOURCE = -2147483648,
        }
        QudaNoiseType: NoiseType {
            QUDA_NOISE_GAUSS = 0, QUDA_NOISE_UNIFORM = 1, QUDA_NOISE_INVALID = -2147483648,
        }
        QudaDilutionType: DilutionType {
            QUDA_DILUTION_SPIN = 0, QUDA_DILUTION_COLOR = 1, QUDA_DILUTION_SPIN_COLOR = 2,
            QUDA_DILUTION_SPIN_COLOR_EVEN_ODD = 3, QUDA_DILUTION_BLOCK = 4,
            QUDA_DILUTION_INVALID = -2147483648,
        }
        QudaProjectionType: ProjectionType {
            QUDA_MINRES_PROJECTION = 0, QUDA_GALERKIN_PROJECTION = 1,
            QUDA_INVALID_PROJECTION = -2147483648,
        }
        QudaPCType: PCType {
            QUDA_4D_PC = 4, QUDA_5D_PC = 5, QUDA_PC_INVALID = -2147483648,
        }
        QudaTwistDslashType: TwistDslashType {
            QUDA_DEG_TWIST_INV_DSLASH = 0, QUDA_DEG_DSLASH_TWIST_INV = 1,
            QUDA_DEG_DSLASH_TWIST_XPAY = 2, QUDA_NONDEG_DSLASH = 3,
            QUDA_DSLASH_INVALID = -2147483648,
        }
        QudaTwistCloverDslashType: TwistCloverDslashType {
            QUDA_DEG_CLOVER_TWIST_INV_DSLASH = 0, QUDA_DEG_DSLASH_CLOVER_TWIST_INV = 1,
            QUDA_DEG_DSLASH_CLOVER_TWIST_XPAY = 2, QUDA_TC_DSLASH_INVALID = -2147483648,
        }
        QudaTwistGamma5Type: TwistGamma5Type {
            QUDA_TWIST_GAMMA5_DIRECT = 0, QUDA_TWIST_GAMMA5_INVERSE = 1,
            QUDA_TWIST_GAMMA5_INVALID = -2147483648,
        }
        QudaDeflatedGuess: DeflatedGuess {
            QUDA_DEFLATED_GUESS_NO = 0, QUDA_DEFLATED_GUESS_YES = 1,
            QUDA_DEFLATED_GUESS_INVALID = -2147483648,
        }
        QudaComputeNullVector: ComputeNullVector {
            QUDA_COMPUTE_NULL_VECTOR_NO = 0, QUDA_COMPUTE_NULL_VECTOR_YES = 1,
            QUDA_COMPUTE_NULL_VECTOR_INVALID = -2147483648,
        }
        QudaSetupType: SetupType {
            QUDA_NULL_VECTOR_SETUP = 0, QUDA_TEST_VECTOR_SETUP = 1,
            QUDA_INVALID_SETUP_TYPE = -2147483648,
        }
        QudaTransferType: TransferType {
            QUDA_TRANSFER_AGGREGATE = 0, QUDA_TRANSFER_COARSE_KD = 1,
            QUDA_TRANSFER_OPTIMIZED_KD = 2, QUDA_TRANSFER_OPTIMIZED_KD_DROP_LONG = 3,
            QUDA_TRANSFER_INVALID = -2147483648,
        }
        QudaBLASType: BLASType {
            QUDA_BLAS_GEMM = 0, QUDA_BLAS_LU_INV = 1, QUDA_BLAS_INVALID = -2147483648,
        }
        QudaBLASOperation: BLASOperation {
            QUDA_BLAS_OP_N = 0, QUDA_BLAS_OP_T = 1, QUDA_BLAS_OP_C = 2,
            QUDA_BLAS_OP_INVALID = -2147483648,
        }
        QudaBLASDataType: BLASDataType {
            QUDA_BLAS_DATATYPE_S = 0, QUDA_BLAS_DATATYPE_D = 1, QUDA_BLAS_DATATYPE_C = 2,
            QUDA_BLAS_DATATYPE_Z = 3, QUDA_BLAS_DATATYPE_INVALID = -2147483648,
        }
        QudaBLASDataOrder: BLASDataOrder {
            QUDA_BLAS_DATAORDER_ROW = 0, QUDA_BLAS_DATAORDER_COL = 1,
            QUDA_BLAS_DATAORDER_INVALID = -2147483648,
        }
        QudaDirection: Direction {
            QUDA_BACKWARDS = -1, QUDA_IN_PLACE = 0, QUDA_FORWARDS = 1, QUDA_BOTH_DIRS = 2,
        }
        QudaLinkDirection: LinkDirection {
            QUDA_LINK_BACKWARDS = 0, QUDA_LINK_FORWARDS = 1, QUDA_LINK_BIDIRECTIONAL = 2,
        }
        QudaFieldGeometry: FieldGeometry {
            QUDA_SCALAR_GEOMETRY = 1, QUDA_VECTOR_GEOMETRY = 4, QUDA_TENSOR_GEOMETRY = 6,
            QUDA_COARSE_GEOMETRY = 8, QUDA_KDINVERSE_GEOMETRY = 16,
            QUDA_INVALID_GEOMETRY = -2147483648,
        }
        QudaGhostExchange: GhostExchange {
            QUDA_GHOST_EXCHANGE_NO = 0, QUDA_GHOST_EXCHANGE_PAD = 1,
            QUDA_GHOST_EXCHANGE_EXTENDED = 2, QUDA_GHOST_EXCHANGE_INVALID = -2147483648,
        }
        QudaSpinTasteGamma: SpinTasteGamma {
            QUDA_SPIN_TASTE_G1 = 0, QUDA_SPIN_TASTE_GX = 1, QUDA_SPIN_TASTE_GY = 2,
            QUDA_SPIN_TASTE_GZ = 4, QUDA_SPIN_TASTE_GT = 8, QUDA_SPIN_TASTE_G5 = 15,
            QUDA_SPIN_TASTE_GYGZ = 6, QUDA_SPIN_TASTE_GZGX = 5, QUDA_SPIN_TASTE_GXGY = 3,
            QUDA_SPIN_TASTE_GXGT = 9, QUDA_SPIN_TASTE_GYGT = 10, QUDA_SPIN_TASTE_GZGT = 12,
            QUDA_SPIN_TASTE_G5GX = 14, QUDA_SPIN_TASTE_G5GY = 13, QUDA_SPIN_TASTE_G5GZ = 11,
            QUDA_SPIN_TASTE_G5GT = 7, QUDA_SPIN_TASTE_INVALID = -2147483648,
        }
        QudaContractGamma: ContractGamma {
            QUDA_CONTRACT_GAMMA_I = 0, QUDA_CONTRACT_GAMMA_G1 = 1, QUDA_CONTRACT_GAMMA_G2 = 2,
            QUDA_CONTRACT_GAMMA_G3 = 3, QUDA_CONTRACT_GAMMA_G4 = 4, QUDA_CONTRACT_GAMMA_G5 = 5,
            QUDA_CONTRACT_GAMMA_G1G5 = 6, QUDA_CONTRACT_GAMMA_G2G5 = 7,
            QUDA_CONTRACT_GAMMA_G3G5 = 8, QUDA_CONTRACT_GAMMA_G4G5 = 9,
            QUDA_CONTRACT_GAMMA_S12 = 10, QUDA_CONTRACT_GAMMA_S13 = 11,
            QUDA_CONTRACT_GAMMA_S14 = 12, QUDA_CONTRACT_GAMMA_S21 = 13,
            QUDA_CONTRACT_GAMMA_S23 = 14, QUDA_CONTRACT_GAMMA_S34 = 15,
            QUDA_CONTRACT_GAMMA_INVALID = -2147483648,
        }
        QudaWFlowType: WFlowType {
            QUDA_WFLOW_TYPE_WILSON = 0, QUDA_WFLOW_TYPE_SYMANZIK = 1,
            QUDA_WFLOW_TYPE_INVALID = -2147483648,
        }
        QudaFermionSmearType: FermionSmearType {
            QUDA_FERMION_SMEAR_TYPE_GAUSSIAN = 0, QUDA_FERMION_SMEAR_TYPE_WUPPERTAL = 1,
            QUDA_FERMION_SMEAR_TYPE_INVALID = -2147483648,
        }
        QudaExtLibType: ExtLibType {
            QUDA_CUSOLVE_EXTLIB = 0, QUDA_EIGEN_EXTLIB = 1, QUDA_EXTLIB_INVALID = -2147483648,
        }
        QudaWFlowStepType: WFlowStepType {
            QUDA_WFLOW_STEP_W1 = 0, QUDA_WFLOW_STEP_W2 = 1, QUDA_WFLOW_STEP_VT = 2,
        }
        QudaTune: Tune {
            QUDA_TUNE_NO = 0, QUDA_TUNE_YES = 1, QUDA_TUNE_INVALID = -2147483648,
        }
    }
}
