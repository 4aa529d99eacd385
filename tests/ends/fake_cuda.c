/* A CUDA driver without a GPU: its memory is addresses, its kernels do nothing. What plaq compiles for it is compiled.
 * With REAL_MEMORY its memory is the host's, which is never freed, and each process has a device of its own, for what
 * stands in for NCCL (tests/comm/nccl.c). */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int here;

#define NOTHING(name, ...) \
  int name(__VA_ARGS__) { return 0; }

NOTHING(cuInit, unsigned f)
int cuGetExportTable(const void **t, const void *id) { return (void)id, *t = NULL, 1; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuGetErrorName(int code, const char **s) { return *s = "FAKE", code == 0; }
int cuGetErrorString(int code, const char **s) { return *s = "not by this driver", code == 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *d, int n) { return *d = n, 0; }
int cuDeviceGetName(char *s, int n, int d) { return strncpy(s, "no GPU", (size_t)n), d; }
int cuDeviceGetUuid_v2(void *id, int d) {
  const pid_t own = getpid();
  return memset(id, 0, 16), memcpy(id, &own, sizeof own), d;
}
int cuDeviceGetAttribute(int *v, int which, int d) {
  /* Device properties: multiprocessors, bytes of the cache, architecture 9.0, no memory pools. */
  *v = which == 16 ? 132 : which == 38 ? 50 << 20 : which == 75 ? 9 : 0;
  return d;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { return *c = &here, d; }
NOTHING(cuDevicePrimaryCtxRelease_v2, int d)
int cuCtxGetCurrent(void **c) { return *c = &here, 0; }
NOTHING(cuCtxPushCurrent_v2, void *c)
NOTHING(cuCtxPopCurrent_v2, void **c)
int cuMemGetInfo_v2(size_t *f, size_t *t) { return *f = *t = (size_t)64 << 30, 0; }
#ifdef REAL_MEMORY
int cuMemAlloc_v2(uint64_t *p, size_t n) { return (*p = (uint64_t)(uintptr_t)calloc(1, n)) ? 0 : 2; }
#else
static uint64_t next = 1 << 20;
int cuMemAlloc_v2(uint64_t *p, size_t n) { return *p = __atomic_fetch_add(&next, (n + 511) / 256 * 256, __ATOMIC_RELAXED), 0; }
#endif
NOTHING(cuMemFree_v2, uint64_t p)
NOTHING(cuMemPoolCreate, void **p, const void *a)
NOTHING(cuMemPoolDestroy, void *p)
NOTHING(cuMemPoolSetAttribute, void *p, int w, void *v)
NOTHING(cuMemPoolGetAttribute, void *p, int w, void *v)
NOTHING(cuMemPoolTrimTo, void *p, size_t n)
int cuMemAllocFromPoolAsync(uint64_t *p, size_t n, void *q, void *s) { return (void)q, (void)s, cuMemAlloc_v2(p, n); }
NOTHING(cuMemFreeAsync, uint64_t p, void *s)
int cuMemHostAlloc(void **p, size_t n, unsigned f) { return (void)f, (*p = calloc(1, n)) ? 0 : 2; }
int cuMemFreeHost(void *p) { return free(p), 0; }
int cuPointerGetAttributes(unsigned n, int *w, void **v, uint64_t p) { return 1; }
int cuMemRetainAllocationHandle(uint64_t *h, void *p) { return 1; }
NOTHING(cuMemRelease, uint64_t h)
int cuMemGetAddressRange_v2(uint64_t *b, size_t *n, uint64_t p) { return 1; }
int cuIpcGetMemHandle(void *h, uint64_t p) { return 1; }
typedef struct {
  char c[64];
} ipc_handle;
int cuIpcOpenMemHandle_v2(uint64_t *p, ipc_handle h, unsigned f) { return 1; }
int cuIpcCloseMemHandle(uint64_t p) { return 1; }
int cuMemHostGetDevicePointer_v2(uint64_t *d, void *p, unsigned f) { return *d = (uint64_t)(uintptr_t)p, (int)f; }
NOTHING(cuMemcpyHtoDAsync_v2, uint64_t d, const void *p, size_t n, void *s)
NOTHING(cuMemcpyDtoHAsync_v2, void *p, uint64_t d, size_t n, void *s)
NOTHING(cuMemcpyDtoDAsync_v2, uint64_t d, uint64_t p, size_t n, void *s)
NOTHING(cuMemsetD8Async, uint64_t d, unsigned char c, size_t n, void *s)
int cuStreamCreate(void **s, unsigned f) { return *s = calloc(1, 64), (int)(f & 0); }
int cuStreamCreateWithPriority(void **s, unsigned f, int p) { return (void)p, cuStreamCreate(s, f); }
NOTHING(cuStreamDestroy_v2, void *s)
NOTHING(cuStreamSynchronize, void *s)
NOTHING(cuStreamQuery, void *s)
NOTHING(cuStreamWaitEvent, void *s, void *e, unsigned f)
int cuEventCreate(void **e, unsigned f) { return *e = &here, (int)(f & 0); }
NOTHING(cuEventDestroy_v2, void *e)
NOTHING(cuEventRecord, void *e, void *s)
NOTHING(cuEventSynchronize, void *e)
NOTHING(cuEventQuery, void *e)
int cuEventElapsedTime(float *t, void *a, void *b) { return (void)a, (void)b, *t = 0.01f, 0; }
int cuModuleLoadData(void **m, const void *image) { return (void)image, *m = &here, 0; }
NOTHING(cuModuleUnload, void *m)
int cuModuleGetFunction(void **f, void *m, const char *s) { return (void)m, (void)s, *f = &here, 0; }
int cuFuncGetAttribute(int *v, int w, void *f) { return (void)w, (void)f, *v = 0, 0; }
NOTHING(cuLaunchKernelEx, const void *c, void *f, void **p, void **e)
