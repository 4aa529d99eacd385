/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_ENUM_QUDA_H
#define PLAQ_QUDA_ENUM_QUDA_H

/** Last in every enumeration: no value. */
#define QUDA_INVALID_ENUM (-0x7fffffff - 1)

/** Where an array of the host is; plaq takes those in host memory. */
typedef enum QudaFieldLocation {
  QUDA_CPU_FIELD_LOCATION = 1,
  QUDA_CUDA_FIELD_LOCATION = 2,
  QUDA_INVALID_FIELD_LOCATION = QUDA_INVALID_ENUM
} QudaFieldLocation;

/** What links are; plaq takes those of SU(3). */
typedef enum QudaLinkType {
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
typedef enum QudaGaugeFieldOrder {
  QUDA_FLOAT_GAUGE_ORDER = 1,
  QUDA_FLOAT2_GAUGE_ORDER = 2,
  QUDA_FLOAT4_GAUGE_ORDER = 4,
  QUDA_FLOAT8_GAUGE_ORDER = 8,
  QUDA_NATIVE_GAUGE_ORDER = 9,
  /** Four arrays, one for each direction, even sites first. */
  QUDA_QDP_GAUGE_ORDER = 10,
  QUDA_QDPJIT_GAUGE_ORDER = 11,
  QUDA_CPS_WILSON_GAUGE_ORDER = 12,
  /** One array, four links on a site, even sites first. */
  QUDA_MILC_GAUGE_ORDER = 13,
  /** The same inside of structs. */
  QUDA_MILC_SITE_GAUGE_ORDER = 14,
  QUDA_BQCD_GAUGE_ORDER = 15,
  QUDA_TIFR_GAUGE_ORDER = 16,
  QUDA_TIFR_PADDED_GAUGE_ORDER = 17,
  QUDA_INVALID_GAUGE_ORDER = QUDA_INVALID_ENUM
} QudaGaugeFieldOrder;

/** Fermion boundary in t that the links carry: closed paths do not see it. */
typedef enum QudaTboundary {
  QUDA_ANTI_PERIODIC_T = -1,
  QUDA_PERIODIC_T = 1,
  QUDA_INVALID_T_BOUNDARY = QUDA_INVALID_ENUM
} QudaTboundary;

/** Bytes of a number; plaq takes single and double precision. */
typedef enum QudaPrecision {
  QUDA_QUARTER_PRECISION = 1,
  QUDA_HALF_PRECISION = 2,
  QUDA_SINGLE_PRECISION = 4,
  QUDA_DOUBLE_PRECISION = 8,
  QUDA_INVALID_PRECISION = QUDA_INVALID_ENUM
} QudaPrecision;

/** How QUDA would keep links; plaq keeps them whole. */
typedef enum QudaReconstructType {
  QUDA_RECONSTRUCT_NO = 18,
  QUDA_RECONSTRUCT_12 = 12,
  QUDA_RECONSTRUCT_8 = 8,
  QUDA_RECONSTRUCT_9 = 9,
  QUDA_RECONSTRUCT_13 = 13,
  QUDA_RECONSTRUCT_10 = 10,
  QUDA_RECONSTRUCT_INVALID = QUDA_INVALID_ENUM
} QudaReconstructType;

/** Whether links are in temporal gauge. */
typedef enum QudaGaugeFixed {
  QUDA_GAUGE_FIXED_NO = 0,
  QUDA_GAUGE_FIXED_YES = 1,
  QUDA_GAUGE_FIXED_INVALID = QUDA_INVALID_ENUM
} QudaGaugeFixed;

/** Staggered phases in links; plaq takes links without. */
typedef enum QudaStaggeredPhase {
  QUDA_STAGGERED_PHASE_NO = 0,
  QUDA_STAGGERED_PHASE_MILC = 1,
  QUDA_STAGGERED_PHASE_CHROMA = 2,
  QUDA_STAGGERED_PHASE_TIFR = 3,
  QUDA_STAGGERED_PHASE_INVALID = QUDA_INVALID_ENUM
} QudaStaggeredPhase;

/** How much a library says. plaq says nothing by itself, whatever is asked for:
 * plaq_log_set of plaq.h takes its log. */
typedef enum QudaVerbosity {
  QUDA_SILENT = 0,
  QUDA_SUMMARIZE = 1,
  QUDA_VERBOSE = 2,
  QUDA_DEBUG_VERBOSE = 3,
  QUDA_INVALID_VERBOSITY = QUDA_INVALID_ENUM
} QudaVerbosity;

/** Sites with even or odd x + y + z + t. */
typedef enum QudaParity {
  QUDA_EVEN_PARITY = 0,
  QUDA_ODD_PARITY = 1,
  QUDA_INVALID_PARITY = QUDA_INVALID_ENUM
} QudaParity;

/** Solvers. plaq has CG (on the normal equations), BICGSTAB, GCR, MR, CGNE and CGNR, and
 * refuses the others. */
typedef enum QudaInverterType {
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

#endif
