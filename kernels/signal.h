// Flags in the memory of other GPUs: a message has been written there.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

#if PLAQ_GPU
// Message k has been written by what this thread knows of: its flag on the receiver's side becomes
// the number of the exchange.
PLAQ_FN void signal_message(const SignalArgs& a, int k) {
  if (!a.flag[k]) return;
  __threadfence_system();
  *(volatile unsigned*)a.flag[k] = (unsigned)a.number;
}

// Called by every thread of the `blocks` blocks that write messages: the last to come signals all.
PLAQ_FN void signal_when_all_wrote(const SignalArgs& a, u32 blocks) {
  if (!a.counter) return;
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence_system();
  if (atomicAdd((unsigned*)a.counter, 1u) != blocks - 1) return;
  *(unsigned*)a.counter = 0;
  for (int k = 0; k < 8; k++) signal_message(a, k);
}

// Waits for message k. After `nanoseconds` it gives up and says so in host memory; whoever waits
// after that does so for a millisecond only.
PLAQ_FN void await_message(const SignalArgs& a, int k) {
  if (!a.flag[k]) return;
  u64 start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  for (;;) {
    unsigned seen;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(a.flag[k]) : "memory");
    if ((int)(seen - (unsigned)a.number) >= 0) return;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (now - start > (u64)a.nanoseconds) break;
    if (now - start > 1000000 && *(volatile unsigned*)a.failed) return;
  }
  *(volatile unsigned*)a.failed = k + 1;
}

// Called by every thread of a block that reads messages.
PLAQ_FN void await_messages(const SignalArgs& a) {
  if (threadIdx.x < 8) await_message(a, threadIdx.x);
  __syncthreads();
}
#endif

// One thread per message, between kernels that know nothing of flags.
template <int W> struct Signal {
  static PLAQ_FN void site(const SignalArgs& a, int k, int, int) {
#if PLAQ_GPU
    if (k < 8) signal_message(a, k);
#endif
  }
};
template <int W> struct Await {
  static PLAQ_FN void site(const SignalArgs& a, int k, int, int) {
#if PLAQ_GPU
    if (k < 8) await_message(a, k);
#endif
  }
};

}  // namespace PLAQ_NS
