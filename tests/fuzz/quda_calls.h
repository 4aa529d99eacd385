/* Functions from which generated calls of QUDA's interface draw their arguments. */
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
/* The host's links, in an array of their own or inside of sites; the array ends where memory ends. */
QudaMILCSiteArg_t *quda_site(void);
QudaInitArgs_t quda_init(void);
/* Layouts for one rank and the lattice of the session, mostly right ones. */
openQCD_QudaLayout_t openqcd_layout(void);
openQCD_QudaInitArgs_t openqcd_init(void);
/* Mostly arguments that plaq accepts, for a lattice of 4^4; now and then NULL. */
QudaGaugeParam *quda_QudaGaugeParam(QudaGaugeParam *param);
QudaInvertParam *quda_QudaInvertParam(QudaInvertParam *param);
QudaMultigridParam *quda_QudaMultigridParam(QudaMultigridParam *param);
QudaGaugeObservableParam *quda_QudaGaugeObservableParam(QudaGaugeObservableParam *param);
QudaGaugeSmearParam *quda_QudaGaugeSmearParam(QudaGaugeSmearParam *param);
QudaEigParam *quda_QudaEigParam(QudaEigParam *param);
QudaBLASParam *quda_QudaBLASParam(QudaBLASParam *param);
QudaQuarkSmearParam *quda_QudaQuarkSmearParam(QudaQuarkSmearParam *param);
/* Parameters of multigrid. */
QudaInvertParam *quda_operator(void);
/* The rank for the only process. */
int quda_rank(const int *coords, void *data);
/* Paths whose steps are mostly right. */
int **quda_paths(void);
int ***quda_path_table(void);
/* Pinned memory for the function that frees it. */
void quda_given(void *pointer);
/* Checks after each call. */
void quda_called(const char *name, int32_t status);

#endif
