/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_DEVICE_H
#define PLAQ_QUDA_DEVICE_H

#endif
