/* Arrays of the program in the memory of a GPU: plaq reads and writes them in place, as CUDA programs have them.
 * The CUDA runtime and plaq share the primary context of the device. On the CPU the arrays are on the host.
 * test:
 */
#include <dlfcn.h>
#include <plaq.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { if ((call) != PLAQ_SUCCESS) { fprintf(stderr, "%s\n", plaq_last_error()); exit(1); } } while (0)

typedef int (*alloc_function)(void **, size_t);
typedef int (*copy_function)(void *, const void *, size_t, int);

int main(void) {
  plaq_context context;
  plaq_spinor spinor;
  double norm, again;
  void *cuda = dlopen("libcudart.so", RTLD_NOW), *array; /* a CUDA program includes cuda_runtime.h */
  PLAQ_INIT(plaq_context_report, place);
  PLAQ_INIT(plaq_spinor_params, shape);
  PLAQ_INIT(plaq_layout_params, layout);
  OK(plaq_context_create(NULL, &context));
  OK(plaq_context_describe(context, &place));
  shape.extents[0] = shape.extents[1] = shape.extents[2] = 4;
  shape.extents[3] = 8;
  size_t bytes = 4 * 4 * 4 * 8 * 24 * sizeof(double);
  OK(plaq_spinor_create(context, &shape, &spinor));
  OK(plaq_spinor_noise(spinor, PLAQ_NOISE_NORMAL, 7, 0));
  OK(plaq_spinor_norm2(spinor, &norm, 1));
  int on_device = cuda && place.device == PLAQ_DEVICE_CUDA;
  if (on_device) {
    alloc_function alloc;
    *(void **)&alloc = dlsym(cuda, "cudaMalloc");
    layout.location = PLAQ_LOCATION_DEVICE;
    if (alloc(&array, bytes)) return 1;
  } else {
    array = malloc(bytes);
  }
  OK(plaq_spinor_save(spinor, &layout, array)); /* sites with x fastest, spin, colour, real and imaginary part */
  OK(plaq_spinor_zero(spinor));
  OK(plaq_spinor_load(spinor, &layout, array));
  OK(plaq_spinor_norm2(spinor, &again, 1));
  printf("%s array: norm %.12e before, %.12e after\n", on_device ? "device" : "host", norm, again);
  if (norm != again) return 1;
  return plaq_context_destroy(context);
}
