// What the paper compares: representations of a pointer in an input and in its view.
//
// For every node v of the input, with p the node it really points at: how alike the projections are
// of (v, p) in the input and all (v, u) in the view (`forth`), and of (v, p) in the view and all
// (v, u) in the input (`back`). A projection is two layers with a ReLU between them, at unit length.
// One block takes a pair of samples, one pointer and every GROUPS-th step.
#pragma once
#include "sample.h"
#if COMPARES

constexpr int GROUPS = COMPARE_GROUPS;
constexpr int PROJECT_FIRST = 0, PROJECT_SECOND = H * H / 8, PROJECT_FIRST_T = 2 * H * H / 8,
              PROJECT_SECOND_T = 3 * H * H / 8, PROJECT_HALF = 4 * H * H / 8;  // where weights lie
constexpr int PROJECT_SINGLE = 2 * H;
constexpr int PROJECT_SUM_FIRST = 0, PROJECT_SUM_SECOND = H * H, PROJECT_SUM_FIRST_B = 2 * H * H,
              PROJECT_SUM_SECOND_B = 2 * H * H + H, PROJECT_SUMS = 2 * H * H + 2 * H;
constexpr float TINY = 1e-6f;  // added to a squared length

struct Compare {
  const int *until, *nodes, *places, *truth;  // nodes: of inputs, then of views
  const uint4* half;
  const float* single;
  const half_t* reps;
  half_t* projected;  // not at unit length
  float *scale;       // what brings it there
  float *forth, *back;
  int samples, room;
};

struct CompareBackward {
  const int *until, *nodes, *places, *truth;
  const uint4* half;
  const float* single;
  const half_t *reps, *projected;
  const float *scale, *forth, *back, *of_forth, *of_back;
  half_t* of_reps;
  float* of_reps_scale;
  float* sums;
  int samples, room;
};

// Which pair a block takes, and where its numbers lie.
struct Pair {
  int samples, room, network, sample, which, group, until, n, m;

  template <class Arguments>
  DEVICE_MEMBER explicit Pair(const Arguments& a) : samples(a.samples), room(a.room) {
    int i = block_index();
    group = i % GROUPS, i /= GROUPS;
    which = i % COMPARES_, i /= COMPARES_;
    sample = i % samples, network = i / samples;
    until = min(room, a.until[i]);
    n = a.nodes[network * 2 * samples + sample], m = a.nodes[network * 2 * samples + samples + sample];
  }
  // Of the pair, at step t.
  template <class T> DEVICE_MEMBER T* at(T* all, int t, int size) const {
    const long long row = static_cast<long long>(network) * room + t;
    return all + ((row * samples + sample) * COMPARES_ + which) * size;
  }
  // Of the input (0) or the view (1), at step t; one of `count` pointers.
  template <class T> DEVICE_MEMBER T* of(T* all, int side, int t, int pointer, int count, int size) const {
    const long long row = static_cast<long long>(network) * room + t;
    return all + ((row * 2 * samples + side * samples + sample) * count + pointer) * size;
  }
};

// The first layer of a projection, from one tile to another.
DEVICE void project_first(const half_t* from, half_t* to, const Weights<4>& first, Numbers single, int tiles) {
  tile_product(from, first, tiles, [&](int row, int column, float(&c)[4][4]) {
    put_pairs<true>(to, row, column, c, [&](int, int k, float x, float y) {
      return float2{x + single[k], y + single[k + 1]};
    });
  });
}

KERNEL compare(Compare a) {
  SHARED(memory);
  half_t* one = reinterpret_cast<half_t*>(memory);
  half_t* two = one + ROWS * H;
  float* shares = reinterpret_cast<float*>(two + ROWS * H);  // of squared lengths, by 32 columns
  float* scale = shares + 4 * ROWS;
  float* anchors = scale + ROWS;                             // (v, p) of the input, at unit length
  float* images = anchors + NP * H;                          // the same of the view

  const Pair me(a);
  const int i = me.network * me.samples + me.sample, p = COMPARED[me.which];
  const uint4* half = a.half + (static_cast<long long>(me.network) * COMPARES_ + me.which) * PROJECT_HALF;
  const Numbers single{a.single + (static_cast<long long>(me.network) * COMPARES_ + me.which) * PROJECT_SINGLE};
  const int* places = a.places + i * NP;

  for (int t = me.group; t < me.room; t += GROUPS) {
    float *forth = me.at(a.forth, t, PAIRS), *back = me.at(a.back, t, PAIRS);
    if (t >= me.until || me.n < NP) {
      clear(forth, PAIRS);
      clear(back, PAIRS);
      wait_for_all();
    }
    if (t >= me.until) continue;
    const int* truth = me.at(a.truth, t, NP);
    for (int side = 0; side < 2; side++) {
      const int n = side ? me.m : me.n, tiles = (n * n + 15) / 16;
      load_tile(one, me.of(a.reps, side, t, p, P_, PAIRS * H), n);
      const Weights<4> first(half + PROJECT_FIRST);
      wait_for_all();
      project_first(one, two, first, single, tiles);
      const Weights<4> second(half + PROJECT_SECOND);
      wait_for_all();
      tile_product(two, second, tiles, [&](int row, int column, float(&c)[4][4]) {
        float squares[2] = {};
        put_pairs(one, row, column, c, [&](int r, int k, float x, float y) {
          x = within(x + single[H + k]), y = within(y + single[H + k + 1]);
          squares[r != row + lane_row()] += x * x + y * y;
          return float2{x, y};
        });
        for (int h = 0; h < 2; h++) {
          squares[h] += from_lane(squares[h], 1);
          squares[h] += from_lane(squares[h], 2);
          if ((lane() & 3) == 0) shares[(column / 32) * ROWS + row + lane_row() + 8 * h] = squares[h];
        }
      });
      wait_for_all();
      float* kept = me.of(a.scale, side, t, me.which, COMPARES_, ROWS);
      each(n * n, [&](int r) {
        const float x = shares[r] + shares[ROWS + r] + shares[2 * ROWS + r] + shares[3 * ROWS + r];
        kept[r] = scale[r] = inverse_root(x + TINY);
      });
      half_t* projected = me.of(a.projected, side, t, me.which, COMPARES_, PAIRS * H);
      each_run(n * n, n, [&](int r, int at, int place) {
        if (r < n * n) *reinterpret_cast<uint4*>(projected + at) = *reinterpret_cast<uint4*>(one + place);
      });
      wait_for_all();
      each(me.n * H, [&](int item) {
        const int v = item / H, k = item % H, u = truth[v];
        const int r = side ? places[u] * n + places[v] : u * n + v;
        (side ? images : anchors)[item] = unpack(one[wide(r, k)]) * scale[r];
      });
      wait_for_all();
    }
    // The tile holds the view's rows now; then the input's again. That of (v, u) is row (u, v).
    const auto measure = [&](float* to, const float* with, int n, bool of_view) {
      const int items = me.n * n;
      for (int first = 8 * warp(); first < items; first += 8 * WARPS) {  // four lanes each
        const int item = min(first + lane_row(), items - 1), v = item / n, u = item % n;
        const int r = u * n + (of_view ? places[v] : v);
        float x = 0.f;
#pragma unroll
        for (int j = 0; j < 4; j++) {  // rows next to each other begin with other columns, in other banks
          const int k = 32 * ((j + lane_row()) & 3) + 8 * (lane() & 3);
          const uint4 eight = *reinterpret_cast<const uint4*>(one + wide(r, k));
          const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
          for (int i = 0; i < 4; i++) {
            const float2 of = unpack2(words[i]), to_it = *reinterpret_cast<const float2*>(with + v * H + k + 2 * i);
            x += of.x * to_it.x + of.y * to_it.y;
          }
        }
        x += from_lane(x, 1);
        x += from_lane(x, 2);
        if ((lane() & 3) == 0 && first + lane_row() < items) to[v * NP + u] = x * scale[r];
      }
      wait_for_all();
    };
    measure(forth, anchors, me.m, true);
    const float* lengths = me.of(a.scale, 0, t, me.which, COMPARES_, ROWS);
    load_tile(one, me.of(a.projected, 0, t, me.which, COMPARES_, PAIRS * H), me.n);
    each(me.n * me.n, [&](int r) { scale[r] = lengths[r]; });
    wait_for_all();
    measure(back, images, me.n, false);
  }
}

KERNEL compare_backward(CompareBackward a) {
  SHARED(memory);
  half_t* one = reinterpret_cast<half_t*>(memory);
  half_t* two = one + ROWS * H;
  float* scale = reinterpret_cast<float*>(two + ROWS * H);
  float* alike = scale + ROWS;             // of a row's projection with what is wanted of it
  float* wanted = alike + ROWS;            // of how alike a row is to an anchor or an image
  float* anchors = wanted + ROWS;
  float* images = anchors + NP * H;
  float* of_anchors = images + NP * H;
  float* of_images = of_anchors + NP * H;
  float* own = of_images + NP * H;         // of anchors and images with what is wanted of them
  float* of_warps = own + 2 * NP;
  int* origin = reinterpret_cast<int*>(of_warps + WARPS);  // of a node of the view: which of the input

  const Pair me(a);
  const int i = me.network * me.samples + me.sample, p = COMPARED[me.which];
  const uint4* half = a.half + (static_cast<long long>(me.network) * COMPARES_ + me.which) * PROJECT_HALF;
  const Numbers single{a.single + (static_cast<long long>(me.network) * COMPARES_ + me.which) * PROJECT_SINGLE};
  const int* places = a.places + i * NP;
  float* sums = a.sums + static_cast<long long>(block_index()) * PROJECT_SUMS;

  clear(sums, PROJECT_SUMS);
  each(NP, [&](int v) { origin[v] = -1; });
  wait_for_all();
  each(me.n, [&](int v) { origin[places[v]] = v; });
  wait_for_all();

  for (int t = me.group; t < me.room; t += GROUPS) {
    if (t >= me.until) {
      if (thread_index() < 2) *me.of(a.of_reps_scale, thread_index(), t, me.which, COMPARES_, 1) = 0.f;
      continue;
    }
    const int* truth = me.at(a.truth, t, NP);
    const float *forth = me.at(a.forth, t, PAIRS), *back = me.at(a.back, t, PAIRS);
    const float *of_forth = me.at(a.of_forth, t, PAIRS), *of_back = me.at(a.of_back, t, PAIRS);
    float top = 0.f;
    each(me.n * NP, [&](int item) {
      const int u = item % NP;
      if (u < me.m) top = fmaxf(top, fabsf(of_forth[item]));
      if (u < me.n) top = fmaxf(top, fabsf(of_back[item]));
    });
    const float fit = fitting(top, of_warps);
    if (thread_index() < 2) *me.of(a.of_reps_scale, thread_index(), t, me.which, COMPARES_, 1) = 1.f / fit;

    // ---- of anchors (by the view's rows) and of images (by the input's)
    for (int side = 0; side < 2; side++) {
      const int n = side ? me.m : me.n;
      const half_t* projected = me.of(a.projected, side, t, me.which, COMPARES_, PAIRS * H);
      const float* lengths = me.of(a.scale, side, t, me.which, COMPARES_, ROWS);
      load_tile(one, projected, n);
      each(n * n, [&](int r) {
        const int v = side ? origin[r % n] : r % n;
        scale[r] = lengths[r];
        wanted[r] = v < 0 ? 0.f : fit * lengths[r] * (side ? of_forth : of_back)[v * NP + r / n];
      });
      wait_for_all();
      each(me.n * H, [&](int item) {
        const int v = item / H, k = item % H, u = truth[v];
        const int r = side ? places[u] * n + places[v] : u * n + v;
        (side ? images : anchors)[item] = unpack(one[wide(r, k)]) * scale[r];
      });
      each(me.n * (H / 4), [&](int item) {
        const int v = item / (H / 4), k = item % (H / 4) * 4, at = side ? places[v] : v;
        float sum[4] = {};
#pragma unroll 4
        for (int r = at; r < n * n; r += n) {
          const uint2 four = *reinterpret_cast<const uint2*>(one + wide(r, k));
          const float2 x = unpack2(four.x), y = unpack2(four.y);
          const float of = wanted[r];
          sum[0] += of * x.x, sum[1] += of * x.y, sum[2] += of * y.x, sum[3] += of * y.y;
        }
        float* to = (side ? of_anchors : of_images) + v * H + k;
        for (int j = 0; j < 4; j++) to[j] = sum[j];
      });
      wait_for_all();
    }
    for (int item = warp(); item < 2 * me.n; item += WARPS) {
      const int v = item / 2;
      const float *x = (item & 1 ? images : anchors) + v * H, *y = (item & 1 ? of_images : of_anchors) + v * H;
      float sum = 0.f;
      for (int k = lane(); k < H; k += 32) sum += x[k] * y[k];
      sum = sum_of_warp(sum);
      if (lane() == 0) own[item] = sum;
    }
    wait_for_all();

    // ---- of representations, through both layers
    for (int side = 0; side < 2; side++) {
      const int n = side ? me.m : me.n, tiles = (n * n + 15) / 16;
      const half_t* reps = me.of(a.reps, side, t, p, P_, PAIRS * H);
      const half_t* projected = me.of(a.projected, side, t, me.which, COMPARES_, PAIRS * H);
      const float* lengths = me.of(a.scale, side, t, me.which, COMPARES_, ROWS);
      load_tile(one, reps, n);
      each(tiles * 16, [&](int r) {
        const int u = r / n, v = r < n * n ? side ? origin[r % n] : r % n : -1;
        float x = 0.f, y = 0.f;
        if (v >= 0) {
          x = fit * (side ? of_forth : of_back)[v * NP + u];
          y = x * (side ? forth : back)[v * NP + u];
          if (u == (side ? places[truth[v]] : truth[v])) y += own[2 * v + side];
        }
        scale[r] = r < n * n ? lengths[r] : 0.f;
        wanted[r] = x, alike[r] = y;
      });
      const Weights<4> first(half + PROJECT_FIRST);
      wait_for_all();
      project_first(one, two, first, single, tiles);
      wait_for_all();
      {  // a thread has the same eight columns of every 32nd row
        constexpr int AT_ONCE = 2;  // rows that are waited for together
        const int k = (thread_index() & 15) << 3;
        for (int first = thread_index() >> 4; first < 16 * tiles; first += AT_ONCE * (THREADS / 16)) {
          uint4 eight[AT_ONCE];
#pragma unroll
          for (int b = 0; b < AT_ONCE; b++) {
            const int r = min(first + b * (THREADS / 16), n * n - 1);
            eight[b] = *reinterpret_cast<const uint4*>(projected + (r / n * NP + r % n) * H + k);
          }
#pragma unroll
          for (int b = 0; b < AT_ONCE; b++) {
            const int r = first + b * (THREADS / 16);
            if (r >= 16 * tiles) continue;
            const int v = r < n * n ? side ? origin[r % n] : r % n : -1;
            unsigned made[4] = {};
            if (v >= 0) {
              const bool also = r / n == (side ? places[truth[v]] : truth[v]);
              const float of = scale[r] * wanted[r], of_mine = scale[r] * scale[r] * alike[r];
              const float *with = (side ? anchors : images) + v * H + k, *own = (side ? of_images : of_anchors) + v * H + k;
              const unsigned words[4] = {eight[b].x, eight[b].y, eight[b].z, eight[b].w};
#pragma unroll
              for (int i = 0; i < 4; i++) {
                const float2 mine = unpack2(words[i]), to = *reinterpret_cast<const float2*>(with + 2 * i);
                float x = of * to.x - of_mine * mine.x, y = of * to.y - of_mine * mine.y;
                if (also) x += scale[r] * own[2 * i], y += scale[r] * own[2 * i + 1];
                made[i] = pack(x, y);
              }
            }
            *reinterpret_cast<uint4*>(one + wide(r, k)) = uint4{made[0], made[1], made[2], made[3]};
          }
        }
      }
      wait_for_all();
      const float after = 1.f / fit;
      const auto ones = [&](int m, int row, unsigned(&x)[4]) {
        weights_for_rows(x, 0, row, [](int s, int r) { return s == 0 ? 1.f : 0.f; });
      };
      add_gradient(sums + PROJECT_SUM_SECOND, two, one, tiles, after);
      row_sums<1>(one, tiles, ones, [&](int m, int column, const float(&c)[4]) {
        if (lane_row() == 0) add2(sums + PROJECT_SUM_SECOND_B + column, after * c[0], after * c[1]);
      });
      const Weights<4> second_turned(half + PROJECT_SECOND_T);
      wait_for_all();
      tile_product(one, second_turned, tiles, [&](int row, int column, float(&c)[4][4]) {
        put_pairs(two, row, column, c, [&](int r, int k, float x, float y) {
          const unsigned there = word_of(two, r, k);
          return float2{there & 0x7fff ? x : 0.f, there >> 16 & 0x7fff ? y : 0.f};
        });
      });
      wait_for_all();
      load_tile(one, reps, n);
      wait_for_all();
      add_gradient(sums + PROJECT_SUM_FIRST, one, two, tiles, after);
      row_sums<1>(two, tiles, ones, [&](int m, int column, const float(&c)[4]) {
        if (lane_row() == 0) add2(sums + PROJECT_SUM_FIRST_B + column, after * c[0], after * c[1]);
      });
      half_t* of_reps = me.of(a.of_reps, side, t, me.which, COMPARES_, PAIRS * H);
      tile_product(two, Weights<4>(half + PROJECT_FIRST_T), tiles, [&](int row, int column, float(&c)[4][4]) {
        unsigned made[4][2];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
          for (int h = 0; h < 2; h++) made[i][h] = pack(within(c[i][2 * h]), within(c[i][2 * h + 1]));
        each_eight(row, column, made, [&](int r, int k, const uint4& eight) {
          if (r < n * n) *reinterpret_cast<uint4*>(of_reps + (r / n * NP + r % n) * H + k) = eight;
        });
      });
      wait_for_all();
    }
  }
}
#endif
