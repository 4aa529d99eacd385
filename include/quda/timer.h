/* The part of QUDA's interface that plaq offers; programs that keep to it compile and link as they
 * are. Generated from interface/src/capi; do not edit. What fails is reported as plaq.h says under "QUDA's
 * interface": by default a message and the end of the program.
 */
#ifndef PLAQ_QUDA_TIMER_H
#define PLAQ_QUDA_TIMER_H

#include <util_quda.h>

#ifdef __cplusplus
#include <chrono>

namespace quda {

/* Seconds by the clock of the host; calls of plaq end when their work has. */
template <bool device = false> struct Timer {
  /* Of all intervals, and of the last one. */
  double time = 0, last_interval = 0;
  /* Intervals that have ended. */
  int count = 0;
  bool running = false;

  void start(const char * = nullptr, const char * = nullptr, int = 0) {
    begun = std::chrono::steady_clock::now();
    running = true;
  }
  /* Seconds of an interval under way. */
  double peek(const char * = nullptr, const char * = nullptr, int = 0) const {
    return running ? std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() : 0;
  }
  void stop(const char * = nullptr, const char * = nullptr, int = 0) {
    if (!running) return;
    last_interval = peek();
    time += last_interval;
    count++;
    running = false;
  }
  double last() const { return last_interval; }
  void reset(const char * = nullptr, const char * = nullptr, int = 0) {
    time = last_interval = 0;
    count = 0;
    running = false;
  }

private:
  std::chrono::steady_clock::time_point begun;
};

using host_timer_t = Timer<false>;
using device_timer_t = Timer<true>;

} // namespace quda
#endif

#endif
