/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_CONSTANTS_H
#define PLAQ_QUDA_QUDA_CONSTANTS_H

/** The version of QUDA whose interface this is. */
#define QUDA_VERSION_MAJOR 1

#define QUDA_VERSION_MINOR 1

#define QUDA_VERSION_SUBMINOR 0

#define QUDA_VERSION ((QUDA_VERSION_MAJOR << 16) | (QUDA_VERSION_MINOR << 8) | QUDA_VERSION_SUBMINOR)

#endif
