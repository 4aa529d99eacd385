// A launch of the hop that takes both parities changes out as one for each parity does, to the last bit:
// `even`, `odd` and `both` are hop.cc. Numbers are random, as the bits of any field.
#include "host_gpu.h"

#include <pthread.h>

#include <cstdio>
#include <random>
#include <thread>
#include <vector>

#include "wilson.h"

using namespace PLAQ_NS;

thread_local Dim threadIdx;
Dim blockIdx, gridDim;
static double lanes_[PLAQ_BLOCK];
static pthread_barrier_t all_lanes;
double exchange(double v, int mask) {
  const int i = threadIdx.x;
  lanes_[i] = v;
  pthread_barrier_wait(&all_lanes);
  const double other = lanes_[i ^ mask];
  pthread_barrier_wait(&all_lanes);
  return other;
}

typedef STORAGE::T T;
typedef void Kernel(const HopArgs, int);
extern "C" Kernel even, odd, both;
static constexpr int nrhs = HopArgs{}.nrhs(), volume_ = FieldView{}.volume(), tiles = (volume_ + 31) / 32;

// Runs a launch with the grid and blocks that the CUDA back end chooses.
static void launch(Kernel* kernel, const HopArgs& a, int n) {
  const long threads = (long)n * (nrhs > 1 ? 2 : 1);
  gridDim = {(unsigned)((threads + PLAQ_BLOCK - 1) / PLAQ_BLOCK), 1, 1};
  for (unsigned b = 0; b < gridDim.x; b++) {
    blockIdx = {b, 0, 0};
    const auto thread = [&](unsigned i) { threadIdx = {i, 0, 0}, kernel(a, n); };
    if (nrhs == 1) {
      for (unsigned i = 0; i < PLAQ_BLOCK; i++) thread(i);
      continue;
    }
    std::vector<std::thread> block;
    for (unsigned i = 0; i < PLAQ_BLOCK; i++) block.emplace_back(thread, i);
    for (auto& one : block) one.join();
  }
}

struct Field {
  std::vector<T> data;
  std::vector<float> norm;
  size_t plane, norm_plane;
  Field(int planes, int reals, unsigned seed)
      : data((size_t)planes * tiles * 32 * reals), norm((size_t)planes * tiles * 32), plane(data.size() / planes),
        norm_plane(norm.size() / planes) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> in(-1, 1);
    for (auto& x : data) x = sizeof(T) == 2 ? (T)(in(random) * 32000 + 32768) : (T)in(random);
    for (auto& x : norm) x = (float)(1e-4 * (2 + in(random)));
  }
  FieldView view(int p) {
    FieldView v{};
    v.data = (char*)(data.data() + p * plane), v.norm = (char*)(norm.data() + p * norm_plane);
    v.plane_bytes = (i64)(plane * sizeof(T)), v.norm_bytes = (i64)(norm_plane * sizeof(float));
    return v;
  }
};

int main() {
  pthread_barrier_init(&all_lanes, nullptr, PLAQ_BLOCK);
  Field x(2 * nrhs, 24, 1), z(2 * nrhs, 24, 2), own(2 * nrhs, 24, 3), gauge(2, 4 * 12, 4), clover(4, 72, 5);
  const auto args = [&](Field& out, int to, int from) {
    HopArgs a{};
    a.out = out.view(to), a.inp = x.view(from), a.y = x.view(to), a.z = z.view(to);
    a.gauge = gauge.view(0), a.clover = clover.view(0);
    for (double& c : a.coef) c = -0.3;
    for (int k = 0; k < 8; k++) a.phase_re[k] = k < 6 ? 1 : -1;
    a.coef_y = 0.8, a.coef_z = 0.7, a.coef_own = -1.3, a.twist_scale = 1;
    return a;
  };
  Field expected = own, found = own;
  launch(even, args(expected, 0, 1), volume_);
  launch(odd, args(expected, 1, 0), volume_);
  // The number of elements is that of `Wilson::hop_both`.
  launch(both, args(found, 0, 0), 2 * volume_ + 1024);
  size_t differ = 0, changed = 0;
  for (size_t i = 0; i < found.data.size(); i++) differ += found.data[i] != expected.data[i], changed += found.data[i] != own.data[i];
  for (size_t i = 0; i < found.norm.size(); i++) differ += found.norm[i] != expected.norm[i];
  std::printf("%zu of %zu changed, %zu differ\n", changed, found.data.size(), differ);
  return differ != 0 || changed < (size_t)48 * nrhs * volume_ * 99 / 100;
}
