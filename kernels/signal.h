// Flags in the memory of other GPUs, which this GPU sets when it has written a message to their memory.
#pragma once
#include "geometry.h"

namespace PLAQ_NS {

#if PLAQ_GPU
// Signals that message k has been written, whose writes this thread has observed: the flag on the receiver's side
// becomes the number of the exchange.
PLAQ_FN void signal_message(const SignalArgs& a, int k) {
  if (!a.flag[k]) return;
  __threadfence_system();
  *(volatile unsigned*)a.flag[k] = (unsigned)a.number;
}

// Called by every thread of the `blocks` blocks that write messages: the last block signals all messages. It has seen
// the counts of the others, and a thread that sees its flags sees what they wrote.
PLAQ_FN void signal_when_all_wrote(const SignalArgs& a, u32 blocks) {
  if (!a.counter) return;
  __syncthreads();
  if (threadIdx.x) return;
  u32 before;
  asm volatile("atom.release.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(a.counter) : "memory");
  if (before != blocks - 1) return;
  *(volatile unsigned*)a.counter = 0;
  asm volatile("fence.acq_rel.sys;" ::: "memory");
  for (int k = 0; k < 8; k++)
    if (a.flag[k]) *(volatile unsigned*)a.flag[k] = (unsigned)a.number;
}

// A limit for the wait of a thread: `nanoseconds`, or until another thread has given up, which it records in host
// memory.
struct Timeout {
  u64 end;
  volatile unsigned* failed;
  u32 rounds;
  static PLAQ_FN u64 now() {
    u64 t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
  }
  PLAQ_FN Timeout(i64 nanoseconds, char* failed) : end(now() + nanoseconds), failed((volatile unsigned*)failed), rounds(0) {}
  // Whether the wait has failed, called after each check of a flag; writes `code` if this thread is the first one that
  // gives up.
  PLAQ_FN bool expires(u32 code) {
    if (++rounds % 64) return false;
    if (*failed) return true;
    if (now() < end) return false;
    *failed = code;
    return true;
  }
};

PLAQ_FN bool has_arrived(const SignalArgs& a, int k) {
  unsigned seen;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(a.flag[k]) : "memory");
  return (int)(seen - (unsigned)a.number) >= 0;
}
// Waits until message k of this exchange has been written, or a thread has given up.
PLAQ_FN void await_message(const SignalArgs& a, int k) {
  if (!a.flag[k] || has_arrived(a, k)) return;
  Timeout timeout(a.nanoseconds, a.failed);
  while (!timeout.expires(k + 1) && !has_arrived(a, k)) {}
}

// Waits for all messages; called by every thread of a block that reads them.
PLAQ_FN void await_messages(const SignalArgs& a) {
  if (threadIdx.x < 8) await_message(a, threadIdx.x);
  __syncthreads();
}
#endif

// Sets the flags of messages, one thread per message, between kernels that do not handle flags
// themselves.
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
