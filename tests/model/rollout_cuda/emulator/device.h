// The machine that the kernels ask for (src/hint_relic/model/rollout/cuda/device.h), on a CPU.
//
// Each thread of a block is a fiber. Fibers run one at a time, in an order that is drawn, until they
// wait for others: for all of the block, or for those of their warp, with whom they exchange what
// matrix instructions read. So a missing barrier shows as a result that depends on the order.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "fiber.h"

typedef unsigned short half_t;
// As on a GPU, where it is an error to read several numbers at another place. The compiler checks it.
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
using std::max;
using std::min;

#define __device__
#define DEVICE static inline
#define DEVICE_MEMBER inline
#define KERNEL extern "C" void
#define SHARED(name) unsigned char* name = emulated::shared.data()

namespace emulated {

constexpr int THREADS = 512, LANES = 32, STACK = 1 << 18;
enum State { READY, WAITS_FOR_WARP, WAITS_FOR_ALL, DONE };

struct Exchange { float numbers[12]; unsigned word; const half_t* row; };

struct Thread {
  Fiber fiber;
  std::vector<unsigned char> stack = std::vector<unsigned char>(STACK);
  State state;
  int turn;  // which of two places for exchanges is in use
};

inline std::vector<unsigned char> shared;
inline std::vector<Thread> threads(THREADS);
inline Exchange places[2][THREADS];
inline Fiber scheduler;
inline int now, block;
inline std::function<void()> kernel;

inline void give_way(State state) {
  threads[now].state = state;
  switch_fiber(threads[now].fiber, scheduler);
}

inline void begin_thread() {
  kernel();
  give_way(DONE);
}

inline bool release(int first, int count, State waiting) {
  for (int i = first; i < first + count; i++)
    if (threads[i].state != waiting) return false;
  for (int i = first; i < first + count; i++) threads[i].state = READY;
  return true;
}

inline void run_block(int index, size_t bytes, unsigned seed, std::function<void()> what) {
  kernel = what, block = index;
  shared.assign(bytes + 128, 0xff);  // not a number, until it is written
  for (Thread& thread : threads) {
    thread.state = READY, thread.turn = 0;
    begin_fiber(thread.fiber, thread.stack.data(), thread.stack.size(), begin_thread);
  }
  std::mt19937 random(seed);
  std::vector<int> order(THREADS / LANES);
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  for (;;) {
    bool any = false;
    std::shuffle(order.begin(), order.end(), random);
    for (int warp : order) {
      bool ran = true;
      while (ran) {  // a warp goes on until it waits for others
        ran = false;
        for (int i = 0; i < LANES; i++) {
          now = warp * LANES + i;
          if (threads[now].state != READY) continue;
          switch_fiber(scheduler, threads[now].fiber);
          any = ran = true;
        }
        ran |= release(warp * LANES, LANES, WAITS_FOR_WARP);
      }
    }
    if (release(0, THREADS, WAITS_FOR_ALL) || any) continue;
    for (Thread& thread : threads)
      if (thread.state != DONE) std::fprintf(stderr, "threads wait at different places\n"), std::abort();
    return;
  }
}

// Hands words to the warp, and returns those of all its lanes.
inline const Exchange* exchange(const Exchange& mine) {
  Thread& me = threads[now];
  const int turn = me.turn;
  me.turn ^= 1;
  places[turn][now] = mine;
  give_way(WAITS_FOR_WARP);
  return places[turn] + now / LANES * LANES;
}

inline float wide(half_t bits) {
  _Float16 x;
  std::memcpy(&x, &bits, 2);
  return x;
}

inline half_t narrow(float x) {
  const _Float16 y = static_cast<_Float16>(x);
  half_t bits;
  std::memcpy(&bits, &y, 2);
  return bits;
}

inline float part(unsigned word, int i) { return wide(i ? word >> 16 : word & 0xffff); }

}  // namespace emulated

DEVICE int thread_index() { return emulated::now; }
DEVICE int block_index() { return emulated::block; }
DEVICE void wait_for_all() { emulated::give_way(emulated::WAITS_FOR_ALL); }
DEVICE unsigned pack(float low, float high) {
  return emulated::narrow(low) | static_cast<unsigned>(emulated::narrow(high)) << 16;
}
DEVICE unsigned pack_positive(float low, float high) {
  const float most = 65504.f;
  return pack(min(max(low, 0.f), most), min(max(high, 0.f), most));
}
DEVICE float unpack(half_t bits) { return emulated::wide(bits); }

DEVICE void load_blocks(unsigned (&x)[4], const half_t* row, bool turned) {
  if (reinterpret_cast<size_t>(row) % 16) std::fprintf(stderr, "a row not at a multiple of 16\n"), std::abort();
  const int lane = thread_index() % 32;
  const emulated::Exchange* all = emulated::exchange({{}, 0, row});
  for (int i = 0; i < 4; i++) {
    const emulated::Exchange* rows = all + 8 * i;
    const int r = lane / 4, c = lane % 4 * 2;
    const half_t low = turned ? rows[c].row[r] : rows[r].row[c];
    const half_t high = turned ? rows[c + 1].row[r] : rows[r].row[c + 1];
    x[i] = low | static_cast<unsigned>(high) << 16;
  }
}
DEVICE void load4(unsigned (&x)[4], const half_t* row) { load_blocks(x, row, false); }
DEVICE void load4_turned(unsigned (&x)[4], const half_t* row) { load_blocks(x, row, true); }

DEVICE void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const int lane = thread_index() % 32, row = lane / 4, column = lane % 4 * 2;
  const unsigned words[] = {a[0], a[1], a[2], a[3], b0, b1};
  emulated::Exchange mine{};
  for (int i = 0; i < 12; i++) mine.numbers[i] = emulated::part(words[i / 2], i % 2);
  const emulated::Exchange* all = emulated::exchange(mine);
  for (int i = 0; i < 4; i++) {
    const int r = row + i / 2 * 8, n = column + i % 2;
    double sum = c[i];
    for (int k = 0; k < 16; k++) {
      const float x = all[r % 8 * 4 + k % 8 / 2].numbers[2 * (r / 8 + k / 8 * 2) + k % 2];
      const float y = all[n * 4 + k % 8 / 2].numbers[8 + 2 * (k / 8) + k % 2];
      sum += x * y;  // which is exact
    }
    c[i] = static_cast<float>(sum);
  }
}

DEVICE unsigned from_lane(unsigned x, int mask) {
  return emulated::exchange({{}, x, nullptr})[(thread_index() % 32) ^ mask].word;
}
DEVICE float from_lane(float x, int mask) {
  unsigned word;
  std::memcpy(&word, &x, 4);
  word = from_lane(word, mask);
  std::memcpy(&x, &word, 4);
  return x;
}

DEVICE void add2(float* at, float x, float y) {
  if (reinterpret_cast<size_t>(at) % 8) std::fprintf(stderr, "a pair not at a multiple of 8\n"), std::abort();
  at[0] += x, at[1] += y;
}
DEVICE void add1(float* at, float x) { *at += x; }
template <class T>
DEVICE T fetch(const T* at) { return *at; }
DEVICE uint4 fetch_early(const uint4* at) { return *at; }
DEVICE float inverse_root(float x) { return 1.f / std::sqrt(x); }
DEVICE int ones_in(unsigned x) { return __builtin_popcount(x); }
DEVICE float power_of_two(int k) { return std::ldexp(1.f, k); }
DEVICE int exponent_of(float x) {
  unsigned word;
  std::memcpy(&word, &x, 4);
  return static_cast<int>(word >> 23 & 255) - 127;
}
