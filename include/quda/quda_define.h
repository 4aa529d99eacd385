/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_QUDA_DEFINE_H
#define PLAQ_QUDA_QUDA_DEFINE_H

/** Tells that these headers are plaq's, not QUDA's. */
#define QUDA_PLAQ 1

/** Tells that hosts may pass pointers to memory of a CUDA device; on a CPU it has no effect. */
#define QUDA_TARGET_CUDA 1

#endif
