// Sums over the blocks of a GPU's kernel and over the GPUs of a machine, and their transport to the
// host.
#pragma once
#include "signal.h"

#if PLAQ_GPU
namespace PLAQ_NS {

// Writes a number in a form that shows whether it has arrived: two words of 64 bits, each with half
// of the number below the tag of its launch. A word of 64 bits is written and read at once, so that
// no order of stores is needed.
PLAQ_FN void post(char* to, double v, u32 tag) {
  const u64 bits = __double_as_longlong(v);
  volatile u64* at = (volatile u64*)to;
  at[0] = (u64)tag << 32 | (bits & 0xffffffffu), at[1] = (u64)tag << 32 | bits >> 32;
}
PLAQ_FN bool posted(const char* from, u32 tag, double& v) {
  const volatile u64* at = (const volatile u64*)from;
  const u64 low = at[0], high = at[1];
  v = __longlong_as_double(high << 32 | (low & 0xffffffffu));
  return low >> 32 == tag && high >> 32 == tag;
}

// Combines number i of all ranks, a sum or a maximum, in the order of ranks, which gives the same bits on each rank.
template <int N, int M> PLAQ_FN double over_ranks(const SumArgs& to, int k, i64 i, double mine) {
  const i64 half = to.inbox_tag % 2 * to.ranks;
  PLAQ_LOOP for (int r = 0; r < to.ranks; r++) post(to.inbox[r] + ((half + to.rank) * to.inbox_numbers + i) * 16, mine, (u32)to.inbox_tag);
  double total = 0;
  PLAQ_LOOP for (int r = 0; r < to.ranks; r++) {
    const char* at = to.inbox[to.rank] + ((half + r) * to.inbox_numbers + i) * 16;
    double theirs;
    Timeout timeout(to.nanoseconds, to.failed);
    while (!posted(at, (u32)to.inbox_tag, theirs))
      if (timeout.expires(16 + r)) break;
    total = r == 0 ? theirs : join<N, M>(k, total, theirs);
  }
  return total;
}

// Combines each of the N numbers over the lanes of a warp; lane 0 has the results.
template <int N, int M> PLAQ_FN void warp_sums(double (&v)[N]) {
  for (int d = 16; d > 0; d >>= 1)
    PLAQ_UNROLL for (int k = 0; k < N; k++) v[k] = join<N, M>(k, v[k], __shfl_down_sync(0xffffffffu, v[k], d));
}

// Called by every thread of a kernel with one column of blocks per batch; blocks of all batches for the same elements
// run side by side and share what is in the cache. Each block writes partial sums; the last block of a batch adds them
// in a fixed order, so that the same launch gives the same bits, leaves N numbers of each batch for later kernels, and
// posts them and the sum of the flag to the host.
template <int N, int M> PLAQ_FN void block_sum(double (&v)[N], const SumArgs& to) {
  __shared__ double sh[32 * N];
  __shared__ bool last;
  double* const part = (double*)to.partial + (size_t)blockIdx.x * gridDim.y * N;
  unsigned* const count = (unsigned*)to.counters + blockIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = PLAQ_BLOCK / 32;
  warp_sums<N, M>(v);
  if (lane == 0) PLAQ_UNROLL for (int k = 0; k < N; k++) sh[warp * N + k] = v[k];
  __syncthreads();
  // A loop, since a block may have fewer threads than there are numbers.
  PLAQ_LOOP for (int k = threadIdx.x; k < N; k += PLAQ_BLOCK) {
    double t = 0;
    PLAQ_LOOP for (int w = 0; w < warps; w++) t = join<N, M>(k, t, sh[w * N + k]);
    part[blockIdx.y * N + k] = t;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.y - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  // With many numbers neighbouring threads read the numbers of one block, so that each thread reads few times in a row.
  constexpr bool many = N >= 8 && N <= PLAQ_BLOCK && PLAQ_BLOCK <= 32 * N;
  constexpr int parts = many ? PLAQ_BLOCK / N : PLAQ_BLOCK / 32;
  if constexpr (many) {
    const int k = threadIdx.x % N, first = threadIdx.x / N;
    if (first < parts) {
      double t = 0;
      _Pragma("unroll 8") for (int b = first; b < gridDim.y; b += parts) t = join<N, M>(k, t, __ldcg(part + b * N + k));
      sh[first * N + k] = t;
    }
  } else {
    double t[N] = {};
    _Pragma("unroll 4") for (int b = threadIdx.x; b < gridDim.y; b += PLAQ_BLOCK)
      PLAQ_UNROLL for (int k = 0; k < N; k++) t[k] = join<N, M>(k, t[k], __ldcg(part + b * N + k));
    warp_sums<N, M>(t);
    if (lane == 0) PLAQ_UNROLL for (int k = 0; k < N; k++) sh[warp * N + k] = t[k];
  }
  if (threadIdx.x == 0) *count = 0;
  __syncthreads();
  PLAQ_LOOP for (int k = threadIdx.x; k <= N; k += PLAQ_BLOCK) {
    double t = to.flag;
    if (k < N) {
      t = 0;
      PLAQ_LOOP for (int w = 0; w < parts; w++) t = join<N, M>(k, t, sh[w * N + k]);
    }
    const i64 i = blockIdx.x * (N + 1) + k;
    // The flag comes after the numbers. It is always summed, which number 0 is, too, while the last numbers may be
    // maxima.
    if (to.ranks > 1) t = over_ranks<N, M>(to, k < N ? k : 0, i, t);
    if (k < N) ((double*)to.totals)[blockIdx.x * N + k] = t;
    post(to.out + i * 16, t, (u32)to.tag);
  }
}

}  // namespace PLAQ_NS
#endif
