// Tiles: matrices of float16 in shared memory, and products of them with weights and each other.
//
// A block of sixteen warps works on one sample. What there is for each pair of nodes is a tile: a row
// for each pair, a column for each of the 128 channels. Products read float16, which has the digits
// of TF32, and add in float32.
//
// A warp holds a part of 16 rows and 8 columns of a result as four numbers a lane: lane l has rows
// l / 4 and l / 4 + 8, and of each the columns 2 * (l % 4) and the next.
#pragma once
#include "device.h"
#include "shape.h"

constexpr int H = 128, F = 8, Z = 544, WARPS = 16, THREADS = 512;
constexpr int PAIRS = NP * NP, ROWS = (PAIRS + 15) / 16 * 16;
constexpr int NODE_TILES = (NP + 15) / 16, NODE_ROWS = 16 * NODE_TILES;
constexpr int NARROW = 24;  // of a tile of channels: 8, what rounding left of them, and a gap
constexpr float LARGEST = 65504.f;  // of a float16

DEVICE int lane() { return thread_index() & 31; }
DEVICE int warp() { return thread_index() >> 5; }
DEVICE int lane_row() { return lane() >> 2; }
DEVICE int lane_column() { return 2 * (lane() & 3); }

// Where a number of a wide tile lies. Runs of eight change places so that eight rows never meet in
// the same banks.
DEVICE int wide(int row, int column) {
  return row * H + ((column >> 3 ^ (row & 7)) << 3) + (column & 7);
}

DEVICE float within(float x) { return fminf(fmaxf(x, -LARGEST), LARGEST); }

// An array that is not written while it is read (see `fetch`).
template <class T>
struct Given {
  const T* at;
  DEVICE_MEMBER auto operator[](int i) const { return fetch(at + i); }
  DEVICE_MEMBER Given operator+(int i) const { return {at + i}; }
};
typedef Given<float> Numbers;

// Two numbers next to each other in a wide tile.
DEVICE unsigned& word_of(half_t* tile, int row, int column) {
  return *reinterpret_cast<unsigned*>(tile + wide(row, column));
}

DEVICE float2 unpack2(unsigned both) { return {unpack(both & 0xffff), unpack(both >> 16)}; }

// The row that this lane points at, of 16 from `row` on, and the column of its block of eight.
DEVICE int block_row() { return lane() & 15; }
DEVICE int block_column() { return lane() >> 4 << 3; }

// One of a tile of channels: rounded, and what rounding left.
DEVICE void put_channel(half_t* tile, int row, int k, float x) {
  half_t high = pack(x, 0.f) & 0xffff;
  tile[row * NARROW + k] = high;
  tile[row * NARROW + 8 + k] = pack(x - unpack(high), 0.f) & 0xffff;
}

DEVICE float channel(const half_t* tile, int row, int k) {
  return unpack(tile[row * NARROW + k]) + unpack(tile[row * NARROW + 8 + k]);
}

// Weights lie in the order in which lanes read them: [column / 8][k / 32][lane], 8 numbers each.
DEVICE uint4 weights_of(const uint4* weights, int k32s, int column8, int k32) {
  return fetch(weights + (column8 * k32s + k32) * 32 + lane());
}

// A warp's part of 128 x (32 * GROUPS) weights. They are far away, so they are asked for while others
// are still busy with the tile that is to be multiplied: before the barrier.
template <int GROUPS>
struct Weights {
  uint4 b[4][4];
  DEVICE_MEMBER explicit Weights(const uint4* weights) {
    const uint4* mine = weights + 4 * (warp() % GROUPS) * 4 * 32 + lane();
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int k = 0; k < 4; k++) b[i][k] = fetch_early(mine + (i * 4 + k) * 32);
  }
};

// A tile times such weights: each warp has 32 columns, of every other part of rows.
// use(row, column, part): 16 rows from `row` on, 32 columns from `column` on, in four parts of 8.
template <int GROUPS, class Use>
DEVICE void tile_product(const half_t* tile, const Weights<GROUPS>& weights, int tiles, Use use) {
  const int column = 32 * (warp() % GROUPS);
  const auto& b = weights.b;
  for (int t = warp() / GROUPS; t < tiles; t += WARPS / GROUPS) {
    float c[4][4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      unsigned a0[4], a1[4];
      load4(a0, tile + wide(16 * t + block_row(), 32 * k + block_column()));
      load4(a1, tile + wide(16 * t + block_row(), 32 * k + 16 + block_column()));
#pragma unroll
      for (int i = 0; i < 4; i++) multiply(c[i], a0, b[i][k].x, b[i][k].y);
#pragma unroll
      for (int i = 0; i < 4; i++) multiply(c[i], a1, b[i][k].z, b[i][k].w);
    }
    use(16 * t, column, c);
  }
}

// Adds the product of channels (8, of the rows that `of` names) and their weights to a part of 16
// rows. Rounded channels with rounded weights, what rounding left of either with the other.
template <class Of>
DEVICE void add_channels(float (&c)[4][4], const half_t* channels, const uint4 (&b)[4], int row, Of of) {
  unsigned a[4];
  load4(a, channels + of(row + block_row()) * NARROW + block_column());
  const unsigned rounded[4] = {a[0], a[1], 0, 0};
#pragma unroll
  for (int i = 0; i < 4; i++) multiply(c[i], a, b[i].x, b[i].y);
#pragma unroll
  for (int i = 0; i < 4; i++) multiply(c[i], rounded, b[i].z, b[i].w);
}

DEVICE void channel_weights(uint4 (&b)[4], const uint4* weights) {
#pragma unroll
  for (int i = 0; i < 4; i++) b[i] = weights_of(weights, 1, 4 * (warp() % 4) + i, 0);
}

// All rows of a tile, in parts as of a product: what is linear in channels.
template <class Of, class Use>
DEVICE void channel_product(const half_t* channels, const uint4* weights, int tiles, Of of, Use use) {
  uint4 b[4];
  channel_weights(b, weights);
  for (int t = warp() / 4; t < tiles; t += WARPS / 4) {
    float c[4][4] = {};
    add_channels(c, channels, b, 16 * t, of);
    use(16 * t, 32 * (warp() % 4), c);
  }
}

// use(row, column, x, y) for the pairs of numbers of a part.
template <class Use>
DEVICE void each_pair(int row, int column, float (&c)[4][4], Use use) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int at = column + 8 * i + lane_column();
    use(row + lane_row(), at, c[i][0], c[i][1]);
    use(row + lane_row() + 8, at, c[i][2], c[i][3]);
  }
}

// Four lanes next to each other have pairs of numbers of a row: of each of four blocks of eight columns
// one. Afterwards each has the block of its place among the four.
DEVICE uint4 block_of_lane(const unsigned (&w)[4]) {
  const bool odd = lane() & 1, high = lane() & 2;
  const unsigned a = from_lane(odd ? w[0] : w[1], 1), b = from_lane(odd ? w[2] : w[3], 1);
  const unsigned x[4] = {odd ? a : w[0], odd ? w[1] : a, odd ? b : w[2], odd ? w[3] : b};
  const unsigned c = from_lane(high ? x[0] : x[2], 2), d = from_lane(high ? x[1] : x[3], 2);
  return high ? uint4{c, d, x[2], x[3]} : uint4{x[0], x[1], c, d};
}

// use(row, k, eight): the numbers of a part as float16, eight columns from k on a lane. row, column: of
// the part; made[i][h]: pairs of the i-th of 8 columns, the h-th of 8 rows.
template <class Use>
DEVICE void each_eight(int row, int column, const unsigned (&made)[4][2], Use use) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const unsigned words[4] = {made[0][h], made[1][h], made[2][h], made[3][h]};
    const uint4 eight = block_of_lane(words);
    use(row + lane_row() + 8 * h, column + 8 * (lane() & 3), eight);
  }
}

// Puts of(row, column, i, h), pairs of numbers, into a part of a tile: the i-th of 8 columns, the h-th
// of 8 rows. All that it reads is read before anything is written, so that a warp does not wait for
// one pair after the other. POSITIVE: zeros take the place of negative numbers.
template <bool POSITIVE = false, class Of>
DEVICE void put_part(half_t* tile, int row, int column, Of of) {
  unsigned made[4][2];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const float2 x = of(row + lane_row() + 8 * h, column + 8 * i + lane_column(), i, h);
      made[i][h] = POSITIVE ? pack_positive(x.x, x.y) : pack(x.x, x.y);
    }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      word_of(tile, row + lane_row() + 8 * h, column + 8 * i + lane_column()) = made[i][h];
}

// The same of what of(row, column, x, y) makes of the pairs of a product.
template <bool POSITIVE = false, class Of>
DEVICE void put_pairs(half_t* tile, int row, int column, float (&c)[4][4], Of of) {
  put_part<POSITIVE>(tile, row, column, [&](int r, int k, int i, int h) {
    return of(r, k, c[i][2 * h], c[i][2 * h + 1]);
  });
}

// A tile times 128 x 8 weights, a part of 16 rows a warp. use(row, c)
template <class Use>
DEVICE void narrow_product(const half_t* tile, const uint4* weights, int tiles, Use use) {
  uint4 b[4];
#pragma unroll
  for (int k = 0; k < 4; k++) b[k] = weights_of(weights, 4, 0, k);
  for (int t = warp(); t < tiles; t += WARPS) {
    float c[4] = {};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      unsigned a0[4], a1[4];
      load4(a0, tile + wide(16 * t + block_row(), 32 * k + block_column()));
      load4(a1, tile + wide(16 * t + block_row(), 32 * k + 16 + block_column()));
      multiply(c, a0, b[k].x, b[k].y);
      multiply(c, a1, b[k].z, b[k].w);
    }
    use(16 * t, c);
  }
}

// sums (128 x 128) += scale * x^T y, over all rows of two tiles: 32 x 32 of them a warp.
DEVICE void add_gradient(float* sums, const half_t* x, const half_t* y, int tiles, float scale) {
  const int row = 32 * (warp() % 4), column = 32 * (warp() / 4);
  float c[2][4][4] = {};
  for (int t = 0; t < tiles; t++) {
    unsigned a[2][4], b[2][4];
    const int across = 16 * t + (lane() & 7) + (lane() >> 4 << 3);
#pragma unroll
    for (int m = 0; m < 2; m++)
      load4_turned(a[m], x + wide(across, row + 16 * m + (lane() & 8)));
#pragma unroll
    for (int i = 0; i < 2; i++)
      load4_turned(b[i], y + wide(16 * t + block_row(), column + 16 * i + block_column()));
#pragma unroll
    for (int m = 0; m < 2; m++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        multiply(c[m][i], a[m], b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1]);
  }
#pragma unroll
  for (int m = 0; m < 2; m++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float* at = sums + (row + 16 * m + lane_row()) * H + column + 8 * i + lane_column();
      add2(at, scale * c[m][i][0], scale * c[m][i][1]);
      add2(at + 8 * H, scale * c[m][i][2], scale * c[m][i][3]);
    }
}

// use(i) for all i below `count`, by all threads.
template <class Use>
DEVICE void each(int count, Use use) {
  for (int i = thread_index(); i < count; i += THREADS) use(i);
}

// Sums over the rows of a tile, weighted: 16 sums for each of M, of 8 columns a warp. weigh(m, row, a)
// gives the weights of 16 rows from `row` on; use(m, column, c) gets sums lane_row() and lane_row() + 8.
template <int M, class Weigh, class Use>
DEVICE void row_sums(const half_t* tile, int tiles, Weigh weigh, Use use) {
  const int column = 8 * warp();
  float c[M][4] = {};
  for (int t = 0; t < tiles; t += 2) {
    const bool both = t + 1 < tiles;
    unsigned b[4];
    load4_turned(b, tile + wide(16 * t + (both ? lane() : block_row()), column));
#pragma unroll
    for (int m = 0; m < M; m++) {
      unsigned a[4];
      weigh(m, 16 * t, a);
      multiply(c[m], a, b[0], b[1]);
    }
    if (!both) break;
#pragma unroll
    for (int m = 0; m < M; m++) {
      unsigned a[4];
      weigh(m, 16 * t + 16, a);
      multiply(c[m], a, b[2], b[3]);
    }
  }
#pragma unroll
  for (int m = 0; m < M; m++) use(m, column + lane_column(), c[m]);
}

// sums (S x 128) += over so many rows of 128 numbers each, times S weights: eight columns and every
// 32nd row a thread, and what warps find is added in the same order each time. row(r, k): eight
// numbers; of(r, s): a weight; by_warp: room for S * WARPS * 128 numbers, which others may still read.
template <int S, class Row, class Of>
DEVICE void add_weighted_rows(float* sums, float* by_warp, int rows, Row row, Of of) {
  const int column = 8 * (lane() & 15);
  float2 sum[S][4] = {};
#pragma unroll (S == 1 ? 8 : 2)
  for (int r = 2 * warp() + (lane() >> 4); r < rows; r += 2 * WARPS) {
    const uint4 x = row(r, column);
    const float2 x2[4] = {unpack2(x.x), unpack2(x.y), unpack2(x.z), unpack2(x.w)};
#pragma unroll
    for (int s = 0; s < S; s++) {
      const float weight = of(r, s);
#pragma unroll
      for (int i = 0; i < 4; i++) sum[s][i].x += weight * x2[i].x, sum[s][i].y += weight * x2[i].y;
    }
  }
  wait_for_all();
#pragma unroll
  for (int s = 0; s < S; s++)
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 both{sum[s][i].x + from_lane(sum[s][i].x, 16), sum[s][i].y + from_lane(sum[s][i].y, 16)};
      if (lane() < 16) *reinterpret_cast<float2*>(by_warp + (warp() * S + s) * H + column + 2 * i) = both;
    }
  wait_for_all();
  each(S * H, [&](int i) {
    float all = 0.f;
#pragma unroll
    for (int w = 0; w < WARPS; w++) all += by_warp[w * S * H + i];
    add1(sums + i, all);
  });
}

// Sums over the rows of a tile that belong to a node, of which row_of(node, i) is the i-th of n.
// use(node, column, x, y)
template <class RowOf, class Use>
DEVICE void node_sums(half_t* tile, int n, RowOf row_of, Use use) {
  each(n * (H / 4), [&](int item) {
    const int v = item / (H / 4), k = item % (H / 4) * 4;
    float2 x{0.f, 0.f}, y{0.f, 0.f};
#pragma unroll 8
    for (int i = 0; i < n; i++) {
      const uint2 four = *reinterpret_cast<const uint2*>(tile + wide(row_of(v, i), k));
      const float2 a = unpack2(four.x), b = unpack2(four.y);
      x.x += a.x, x.y += a.y, y.x += b.x, y.y += b.y;
    }
    use(v, k, x.x, x.y);
    use(v, k + 2, y.x, y.y);
  });
}

// Weights for `row_sums`: those of rows k that `of(m, k)` says, for sums m from `first` on.
template <class Of>
DEVICE void weights_for_rows(unsigned (&a)[4], int first, int row, Of of) {
  const int m = first + lane_row(), k = row + lane_column();
  a[0] = pack(of(m, k), of(m, k + 1));
  a[1] = pack(of(m + 8, k), of(m + 8, k + 1));
  a[2] = pack(of(m, k + 8), of(m, k + 9));
  a[3] = pack(of(m + 8, k + 8), of(m + 8, k + 9));
}

// of(row): which row of channels it is.
template <class Of>
DEVICE void channels_as_weights(unsigned (&a)[4], const half_t* channels, int row, Of of) {
  const int across = row + (lane() & 7) + (lane() >> 4 << 3);
  load4_turned(a, channels + of(across) * NARROW + (lane() & 8));
}

// Rows of nodes (K numbers each, `stride` apart) times weights: J times 8 columns at a time a warp, since
// few rows leave it waiting for weights, and for one product to end before the next is added to it.
// use(node, column, x, y)
template <int K, int J, class Use>
DEVICE void node_product(const half_t* rows, int stride, const uint4* weights, int columns, int n,
                         Use use) {
  constexpr int STEPS = K / 32, AT_ONCE = 8 / J;  // weights that are waited for together
  const int parts = columns / 8;
  for (int first = warp(); first < parts; first += J * WARPS) {
    float c[J][NODE_TILES][2][4] = {};
#pragma unroll
    for (int from = 0; from < STEPS; from += AT_ONCE) {
      uint4 b[J][AT_ONCE];
#pragma unroll
      for (int j = 0; j < J; j++)
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
          if (from + k < STEPS) b[j][k] = weights_of(weights, STEPS, min(first + j * WARPS, parts - 1), from + k);
#pragma unroll
      for (int k = 0; k < AT_ONCE; k++) {
        if (from + k >= STEPS) continue;
#pragma unroll
        for (int m = 0; m < NODE_TILES; m++) {
          unsigned a0[4], a1[4];
          load4(a0, rows + (16 * m + block_row()) * stride + 32 * (from + k) + block_column());
          load4(a1, rows + (16 * m + block_row()) * stride + 32 * (from + k) + 16 + block_column());
#pragma unroll
          for (int j = 0; j < J; j++) {
            multiply(c[j][m][0], a0, b[j][k].x, b[j][k].y);
            multiply(c[j][m][1], a1, b[j][k].z, b[j][k].w);
          }
        }
      }
    }
#pragma unroll
    for (int j = 0; j < J; j++) {
      const int part = first + j * WARPS;
      if (part >= parts) continue;
      const int column = 8 * part + lane_column();
#pragma unroll
      for (int m = 0; m < NODE_TILES; m++) {
        const int node = 16 * m + lane_row();
        const float(&x)[4] = c[j][m][0], (&y)[4] = c[j][m][1];
        if (node < n) use(node, column, x[0] + y[0], x[1] + y[1]);
        if (node + 8 < n) use(node + 8, column, x[2] + y[2], x[3] + y[3]);
      }
    }
  }
}

template <class T>
DEVICE void clear(T* at, int count) {
  each(count, [&](int i) { at[i] = 0; });
}

DEVICE float sum_of_warp(float x) {
#pragma unroll
  for (int mask = 16; mask; mask >>= 1) x += from_lane(x, mask);
  return x;
}

DEVICE float largest_of_warp(float x) {
#pragma unroll
  for (int mask = 16; mask; mask >>= 1) x = fmaxf(x, from_lane(x, mask));
  return x;
}

// The power of two that takes the largest of all threads' numbers to eight or a little more, so
// that products of derivatives lie within float16. `of_warps`: room for a number of each.
DEVICE float fitting(float x, float* of_warps) {
  x = largest_of_warp(fabsf(x));
  wait_for_all();
  if (lane() == 0) of_warps[warp()] = x;
  wait_for_all();
  for (int i = 0; i < WARPS; i++) x = fmaxf(x, of_warps[i]);
  const int e = exponent_of(x);
  return x > 0.f && e < 120 ? power_of_two(max(-100, min(100, 3 - e))) : 1.f;
}
