/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_MALLOC_QUDA_H
#define PLAQ_QUDA_MALLOC_QUDA_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Not offered: hosts take memory of the device from their own framework. */
void *pool_device_malloc(size_t bytes);

/** Not offered: hosts take memory of the device from their own framework. */
void pool_device_free(void *pointer);

#ifdef __cplusplus
}
#endif

#endif
