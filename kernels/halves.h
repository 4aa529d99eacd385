// Numbers in half precision: pairs (re, im) in 32 bits, the real part in the lower ones.
#pragma once
#include "su3.h"

namespace PLAQ_NS {
#if PLAQ_GPU
PLAQ_FN unsigned short to_half(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
PLAQ_FN u32 to_halves(cplx<float> z) {
  if constexpr (__CUDA_ARCH__ < 800) return to_half(z.re) | (u32)to_half(z.im) << 16;
  u32 bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(z.im), "f"(z.re));
  return bits;
}
PLAQ_FN cplx<float> from_halves(u32 bits) {
  cplx<float> z;
  asm("{ .reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }" : "=f"(z.re), "=f"(z.im) : "r"(bits));
  return z;
}
PLAQ_FN u32 fma_halves(u32 a, u32 b, u32 c) {  // a b + c of both numbers
  asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
  return c;
}
// sum += a b of 16 x 16 and 16 x 8 numbers on tensor cores; those of Turing (sm_75) take eight of the 16 k at a time. Of lane
// 4 g + t, pairs of columns k of a and of rows k of b: a has (row g, k = 2 t), (g + 8, 2 t), (g, 2 t + 8), (g + 8, 2 t + 8);
// b has (2 t, column g), (2 t + 8, g); the sum has (row g, columns 2 t and 2 t + 1), (g + 8, the same).
PLAQ_FN void tensor_product(float (&sum)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (__CUDA_ARCH__ >= 800)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else for (int k = 0; k < 2; k++)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
}
#else
PLAQ_FN u32 float_bits(float v) {
  u32 bits;
  __builtin_memcpy(&bits, &v, 4);
  return bits;
}
PLAQ_FN float bits_float(u32 bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}
// The bits of a number in half precision, rounded to nearest, ties to even.
PLAQ_FN u32 half_bits(float v) {
  const u32 bits = float_bits(v), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest >= 0x47800000) return sign | (rest > 0x7f800000 ? 0x7e00 : 0x7c00);
  // Below 2^-14 halves are multiples of 2^-24: adding 0.5 leaves the multiple in the last bits of the sum.
  if (rest < 0x38800000) return sign | (float_bits(bits_float(rest) + 0.5f) - 0x3f000000);
  return sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13);
}
PLAQ_FN float half_value(u32 half) {
  const u32 sign = (half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) return bits_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest < 0x400) return bits_float(sign | float_bits(5.9604644775390625e-8f * (float)rest));
  return bits_float(sign | ((rest << 13) + 0x38000000));
}
PLAQ_FN u32 to_halves(cplx<float> z) { return half_bits(z.re) | half_bits(z.im) << 16; }
PLAQ_FN cplx<float> from_halves(u32 bits) { return {half_value(bits & 0xffff), half_value(bits >> 16)}; }
#endif

}  // namespace PLAQ_NS
