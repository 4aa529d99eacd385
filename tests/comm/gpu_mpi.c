/* Stands in for plaq's library for MPI, and says that this MPI takes addresses of GPU memory. That is true for a CPU
 * that stands in for a GPU, whose memory any MPI reaches. */
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
static int takes_it(void) { return 1; }
#undef MPIX_CUDA_AWARE_SUPPORT
#define MPIX_CUDA_AWARE_SUPPORT 1
#define MPIX_Query_cuda_support takes_it
#include "../../mpi/plaq_mpi.c"
