/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_ENUM_QUDA_H
#define PLAQ_QUDA_ENUM_QUDA_H

/** Last in every enumeration: no value. */
#define QUDA_INVALID_ENUM (-0x7fffffff - 1)

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
