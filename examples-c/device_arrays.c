/* device_arrays: fields from and to arrays in the memory of a GPU, as a CUDA program has them.
 *
 *   device_arrays [--device auto|cpu|cuda] [--threads N] [--lattice X,Y,Z,T]
 *
 * The arrays come from the CUDA driver, which is opened at run time; plaq works in the device's
 * primary context, so that its pointers and those of the CUDA runtime are the same. What goes
 * through device arrays must be, bit for bit, what goes through host arrays. On the CPU only the
 * host arrays are tried.
 *
 * test: --device cpu
 * test: --device auto --lattice 4,6,8,4
 */
#include <dlfcn.h>

#include "example.h"

static const char HELP[] = "usage: device_arrays [--device auto|cpu|cuda] [--threads N] [--lattice X,Y,Z,T]\n";

/* Functions of the CUDA driver; a CUDA program would include cuda.h. */
typedef unsigned long long device_pointer;
static struct {
  int (*init)(unsigned);
  int (*retain)(void **context, int device);
  int (*release)(int device);
  int (*push)(void *context);
  int (*pop)(void **context);
  int (*alloc)(device_pointer *, size_t);
  int (*release_memory)(device_pointer);
  int (*upload)(device_pointer, const void *, size_t);
  int (*download)(void *, device_pointer, size_t);
} cuda;

#define CUDA(call)                                                \
  do {                                                            \
    int code = (call);                                            \
    if (code) {                                                   \
      fprintf(stderr, "%s: CUDA error %d\n", #call, code);        \
      exit(1);                                                    \
    }                                                             \
  } while (0)

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "the CUDA driver has no %s\n", name);
    exit(1);
  }
  memcpy(function, &found, sizeof found);
}

static void open_cuda(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  find(library, "cuInit", &cuda.init);
  find(library, "cuDevicePrimaryCtxRetain", &cuda.retain);
  find(library, "cuDevicePrimaryCtxRelease_v2", &cuda.release);
  find(library, "cuCtxPushCurrent_v2", &cuda.push);
  find(library, "cuCtxPopCurrent_v2", &cuda.pop);
  find(library, "cuMemAlloc_v2", &cuda.alloc);
  find(library, "cuMemFree_v2", &cuda.release_memory);
  find(library, "cuMemcpyHtoD_v2", &cuda.upload);
  find(library, "cuMemcpyDtoH_v2", &cuda.download);
  CUDA(cuda.init(0));
  CUDA(cuda.retain(&context, 0));
  CUDA(cuda.push(context));
}

static void same(const char *what, const void *found, const void *expected, size_t bytes) {
  if (memcmp(found, expected, bytes)) {
    fprintf(stderr, "%s: other numbers than through host arrays\n", what);
    exit(1);
  }
  printf("%s: the same bits\n", what);
}

static double *numbers(size_t count) {
  double *all = calloc(count, sizeof *all);
  if (!all) {
    fprintf(stderr, "no memory for %zu numbers\n", count);
    exit(1);
  }
  return all;
}

static double plaquette(plaq_gauge gauge) {
  plaq_plaquette p;
  OK(plaq_gauge_plaquette(gauge, &p));
  return p.total;
}

/* Four arrays, one per direction (QDP): `host` holds them one after the other. */
static void links(plaq_gauge gauge, plaq_gauge other, size_t volume, int on_device) {
  const size_t count = 18 * volume, bytes = count * sizeof(double);
  double *host = numbers(4 * count), *back = numbers(4 * count);
  device_pointer arrays[4];
  void *pointers[4];
  int mu;
  PLAQ_INIT(plaq_layout_params, layout);
  layout.order = PLAQ_ORDER_QDP;
  OK(plaq_gauge_save(gauge, &layout, host));
  OK(plaq_gauge_load(other, &layout, host));
  OK(plaq_gauge_save(other, &layout, back));
  same("links, host arrays", back, host, 4 * bytes);
  if (on_device) {
    layout.location = PLAQ_LOCATION_DEVICE;
    layout.arrays = 4;
    for (mu = 0; mu < 4; mu++) {
      CUDA(cuda.alloc(&arrays[mu], bytes));
      CUDA(cuda.upload(arrays[mu], host + mu * count, bytes));
      pointers[mu] = (void *)(uintptr_t)arrays[mu];
    }
    OK(plaq_gauge_unit(other));
    OK(plaq_gauge_load(other, &layout, pointers));
    if (plaquette(other) != plaquette(gauge)) {
      fprintf(stderr, "links: another plaquette after loading device arrays\n");
      exit(1);
    }
    memset(back, 0, 4 * bytes);
    for (mu = 0; mu < 4; mu++) CUDA(cuda.upload(arrays[mu], back, bytes));
    OK(plaq_gauge_save(gauge, &layout, pointers));
    for (mu = 0; mu < 4; mu++) {
      CUDA(cuda.download(back + mu * count, arrays[mu], bytes));
      CUDA(cuda.release_memory(arrays[mu]));
    }
    same("links, device arrays", back, host, 4 * bytes);
  }
  free(host);
  free(back);
}

/* Two right-hand sides in one array, single precision. */
static void spinors(plaq_spinor spinor, plaq_spinor other, size_t volume, int on_device) {
  const size_t count = 2 * 24 * volume, bytes = count * sizeof(float);
  float *host = (float *)numbers(count / 2), *back = (float *)numbers(count / 2);
  double norms[2], again[2];
  PLAQ_INIT(plaq_layout_params, layout);
  layout.precision = PLAQ_PRECISION_SINGLE;
  OK(plaq_spinor_save(spinor, &layout, host));
  OK(plaq_spinor_load(other, &layout, host));
  OK(plaq_spinor_save(other, &layout, back));
  same("spinors, host array", back, host, bytes);
  OK(plaq_spinor_norm2(other, norms, 2));
  if (on_device) {
    device_pointer array;
    layout.location = PLAQ_LOCATION_DEVICE;
    CUDA(cuda.alloc(&array, bytes));
    CUDA(cuda.upload(array, host, bytes));
    OK(plaq_spinor_zero(other));
    OK(plaq_spinor_load(other, &layout, (void *)(uintptr_t)array));
    OK(plaq_spinor_norm2(other, again, 2));
    same("spinors loaded from the device, norms", again, norms, sizeof norms);
    memset(back, 0, bytes);
    CUDA(cuda.upload(array, back, bytes));
    OK(plaq_spinor_save(other, &layout, (void *)(uintptr_t)array));
    CUDA(cuda.download(back, array, bytes));
    CUDA(cuda.release_memory(array));
    same("spinors, device array", back, host, bytes);
  }
  free(host);
  free(back);
}

int main(int argc, char **argv) {
  plaq_context context;
  plaq_gauge gauge[2];
  plaq_spinor spinor[2];
  size_t volume = 1;
  int i, on_device;
  check_options(argc, argv, "--device --threads --lattice", NULL, HELP);
  context = open_context(argc, argv);
  PLAQ_INIT(plaq_context_report, report);
  OK(plaq_context_describe(context, &report));
  on_device = report.device == PLAQ_DEVICE_CUDA;
  if (on_device) open_cuda();
  else printf("skipped: device arrays, this context computes on the CPU\n");

  PLAQ_INIT(plaq_gauge_params, gauge_params);
  PLAQ_INIT(plaq_spinor_params, spinor_params);
  integers("--lattice", option(argc, argv, "--lattice", "4,4,4,8"), gauge_params.extents, 4);
  memcpy(spinor_params.extents, gauge_params.extents, sizeof spinor_params.extents);
  spinor_params.precision = PLAQ_PRECISION_SINGLE;
  spinor_params.nrhs = 2;
  for (i = 0; i < 4; i++) volume *= (size_t)gauge_params.extents[i];
  for (i = 0; i < 2; i++) {
    OK(plaq_gauge_create(context, &gauge_params, &gauge[i]));
    OK(plaq_spinor_create(context, &spinor_params, &spinor[i]));
  }
  OK(plaq_gauge_hot(gauge[0], 7));
  OK(plaq_spinor_noise(spinor[0], PLAQ_NOISE_NORMAL, 7, 0));
  links(gauge[0], gauge[1], volume, on_device);
  spinors(spinor[0], spinor[1], volume, on_device);
  OK(plaq_context_destroy(context));
  if (on_device) {
    void *current;
    CUDA(cuda.pop(&current));
    CUDA(cuda.release(0));
  }
  return 0;
}
