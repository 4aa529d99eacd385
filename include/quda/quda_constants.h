/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#pragma once

/** Lengths of arrays in structs. */
#define QUDA_MAX_DIM 6

#define QUDA_MAX_GEOMETRY 8

#define QUDA_MAX_MULTI_SHIFT 32

#define QUDA_MAX_MULTI_SRC 128

#define QUDA_MAX_DWF_LS 32

#define QUDA_MAX_MG_LEVEL 5

/** The version of QUDA whose interface plaq offers. */
#define QUDA_VERSION_MAJOR 1

#define QUDA_VERSION_MINOR 1

#define QUDA_VERSION_SUBMINOR 0

#define QUDA_VERSION ((QUDA_VERSION_MAJOR << 16) | (QUDA_VERSION_MINOR << 8) | QUDA_VERSION_SUBMINOR)
