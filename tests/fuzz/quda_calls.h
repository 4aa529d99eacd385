/* What generated calls of QUDA's interface draw their arguments from. */
#ifndef QUDA_CALLS_H
#define QUDA_CALLS_H

#include "engine.h"

#include "malloc_quda.h"
#include "quda.h"
#include "quda_milc_interface.h"
#include "util_quda.h"
#include "quda_openqcd_interface.h"

int quda_integer(const char *name);
unsigned quda_unsigned(const char *name);
size_t quda_size(void);
void *quda_pointer(const char *name);
void *quda_stream(void);
/* Links of the host, in an array of their own or of sites; the array ends where memory does. */
QudaMILCSiteArg_t *quda_site(void);
QudaInitArgs_t quda_init(void);
/* One rank, the lattice of the session; mostly right. */
openQCD_QudaLayout_t openqcd_layout(void);
openQCD_QudaInitArgs_t openqcd_init(void);
/* Mostly what plaq takes, for a lattice of 4^4; NULL now and then. */
QudaGaugeParam *quda_QudaGaugeParam(QudaGaugeParam *param);
QudaInvertParam *quda_QudaInvertParam(QudaInvertParam *param);
QudaMultigridParam *quda_QudaMultigridParam(QudaMultigridParam *param);
QudaGaugeObservableParam *quda_QudaGaugeObservableParam(QudaGaugeObservableParam *param);
QudaGaugeSmearParam *quda_QudaGaugeSmearParam(QudaGaugeSmearParam *param);
QudaEigParam *quda_QudaEigParam(QudaEigParam *param);
QudaBLASParam *quda_QudaBLASParam(QudaBLASParam *param);
QudaQuarkSmearParam *quda_QudaQuarkSmearParam(QudaQuarkSmearParam *param);
/* Of multigrid. */
QudaInvertParam *quda_operator(void);
/* The only rank. */
int quda_rank(const int *coords, void *data);
/* Paths of steps that are mostly right. */
int **quda_paths(void);
int ***quda_path_table(void);
/* Pinned memory, for the function that frees it. */
void quda_given(void *pointer);
/* After each call. */
void quda_called(const char *name, int32_t status);

#endif
