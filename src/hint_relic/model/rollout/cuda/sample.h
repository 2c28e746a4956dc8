// What a block knows of its sample, and what both directions make alike.
#pragma once
#include "tiles.h"

constexpr int KN = KNI + KNH, KN_ = KN ? KN : 1, KE = KEI + KEH, KE_ = KE ? KE : 1;
constexpr int CHANNELS = 16;                     // of a node, at most
constexpr int READ = 2 * H + 4 * CHANNELS;       // of a node, by decoders: next state, state, channels
constexpr int READ_STRIDE = READ + 8, HIDDEN_STRIDE = H + 8;
// Rows of numbers that lanes read of eight nodes at a time: eight banks apart.
constexpr int SENT_STRIDE = 2 * H + 8, DN_STRIDE = (DN + 23) / 32 * 32 + 8;
static_assert(TILE >= ROWS * H && TILE >= NODE_ROWS * (Z + 8) && TILE >= NODE_ROWS * (DNK + 8) && TILE / 2 >= 2 * NP * H &&
              TILE / 2 >= SE_ * WARPS * H && TILE / 2 >= 5 * F * PAIRS + 3 * F * WARPS * KE_ && TILE / 2 >= NP * DN_STRIDE, "room for all");
constexpr int POINTED = 2 * H * P;               // columns of pointers among those of decoders
constexpr bool DECODES = P + SE + SN + GD > 0;
enum Kind { SCALAR, MASK, MASK_ONE, CATEGORICAL };
struct Fed { int kind, column, channel, width; };  // a hint: what is decoded, and where it is fed
static __device__ const Fed NODE_FED[] = NODE_FED_LIST, EDGE_FED[] = EDGE_FED_LIST,
                            GRAPH_FED[] = GRAPH_FED_LIST;
static __device__ const int POINTER_CHANNEL[] = POINTER_CHANNEL_LIST;

// Which pointers' representations are compared with those of views, and the place of each among them.
static __device__ const int COMPARED[] = COMPARED_LIST, COMPARED_AS[] = COMPARED_AS_LIST;

// Which sample a block runs: of which network, and where its numbers lie.
struct Sample {
  int samples, room, network, sample, n, steps;

  DEVICE_MEMBER Sample(int samples, int room, const int* nodes, const int* lengths)
      : samples(samples), room(room), network(block_index() / samples),
        sample(block_index() % samples), n(nodes[block_index()]), steps(max(0, min(room, lengths[block_index()]))) {}

  // `size` numbers of this sample.
  template <class T> DEVICE_MEMBER T* of(T* all, int size) const {
    return all + static_cast<long long>(block_index()) * size;
  }
  // The same at step t, of `more` steps than there is room for derivatives of.
  template <class T> DEVICE_MEMBER T* at(T* all, int t, int size, int more = 0) const {
    const long long row = static_cast<long long>(network) * (room + more) + t;
    return all + (row * samples + sample) * size;
  }
  // Zeros where nothing else is written: padding, and steps that are not taken.
  template <class T> DEVICE_MEMBER void clear_rest(T* all, int size, int more = 0) const {
    for (int t = n < NP ? 0 : steps + more; t < room + more; t++) clear(at(all, t, size, more), size);
  }
};

// What a step begins with: channels of nodes, edges and the graph.
struct Channels {
  half_t* edge;  // a narrow tile, its rows in the order of edges
  float *node, *graph;
};

DEVICE float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }

// Channels of step t, inputs and hints; from the hints of that step.
DEVICE void read_channels(const Channels& to, int n, Numbers node_in, Numbers edge_in, Numbers graph_in,
                          Numbers node_h, Numbers edge_h, Numbers graph_h) {
  // something is read for each, also where there is nothing to read, so that no read has to wait
  each(ROWS * 8, [&](int i) {
    const int row = i >> 3, k = i & 7, there = row < n * n ? row : 0, pair = there / n * NP + there % n;
    const bool hint = k >= KEI && k < KEI + KEH;
    const float x = fetch(hint ? edge_h.at + pair * KEH_ + k - KEI : edge_in.at + pair * KEI_ + (k < KEI ? k : 0));
    put_channel(to.edge, row, k, row < n * n && k < KEI + KEH ? x : 0.f);
  });
  each(NP * CHANNELS, [&](int i) {
    const int node = i / CHANNELS, k = i % CHANNELS, there = node < n ? node : 0;
    const bool hint = k >= KNI && k < KNI + KNH;
    const float x = fetch(hint ? node_h.at + there * KNH_ + k - KNI : node_in.at + there * KNI_ + (k < KNI ? k : 0));
    to.node[i] = node < n && k < KNI + KNH ? x : 0.f;
  });
  each(KGI + KGH, [&](int k) { to.graph[k] = k < KGI ? graph_in[k] : graph_h[k - KGI]; });
}

// Which node two indices of a row are: rows are ordered by the first of them.
struct Rows {
  unsigned short* of;
  DEVICE_MEMBER int first(int row) const { return of[row] >> 8; }
  DEVICE_MEMBER int second(int row) const { return of[row] & 255; }
  DEVICE_MEMBER void set(int n) const {
    each(ROWS, [&](int row) { of[row] = row < n * n ? row / n << 8 | row % n : 0; });
  }
};

// Messages' first layer, the part of it that is linear, made positive: rows by receiver, then sender.
DEVICE void build_first(half_t* tile, const half_t* channels, const float* sent, const Rows& rows,
                        const uint4* half, int n, int tiles) {
  channel_product(
      channels, half + HALF_EDGE, tiles, [&](int row) { return rows.second(row) * n + rows.first(row); },
      [&](int row, int column, float(&c)[4][4]) {
        put_pairs<true>(tile, row, column, c, [&](int r, int k, float x, float y) {
          const float2 s = *reinterpret_cast<const float2*>(sent + rows.second(r) * SENT_STRIDE + k);
          const float2 t = *reinterpret_cast<const float2*>(sent + rows.first(r) * SENT_STRIDE + H + k);
          return float2{x + s.x + t.x, y + s.y + t.y};
        });
      });
}

// Puts of(row, column, x, y) into a tile, of what edge messages are the positive part of: rows as
// edges are.
template <bool POSITIVE, class Of>
DEVICE void put_edge_messages(half_t* tile, const half_t* features, const uint4* half, Numbers single,
                              int tiles, Of of) {
  channel_product(features, half + HALF_TRI_OUT, tiles, [](int row) { return row; },
                  [&](int row, int column, float(&c)[4][4]) {
                    put_pairs<POSITIVE>(tile, row, column, c, [&](int r, int k, float x, float y) {
                      return of(r, k, x + single[SINGLE_TRI_OUT_B + k], y + single[SINGLE_TRI_OUT_B + k + 1]);
                    });
                  });
}

DEVICE void build_edge_messages(half_t* tile, const half_t* features, const uint4* half, Numbers single,
                                int tiles) {
  put_edge_messages<true>(tile, features, half, single, tiles,
                          [](int, int, float x, float y) { return float2{x, y}; });
}

// use(row, place in memory, place in the tile) for runs of eight numbers of a tile, that lie in memory
// with room for NP nodes.
template <class Use>
DEVICE void each_run(int pairs, int n, Use use) {
  each((pairs + 15) / 16 * 16 * 16, [&](int i) {
    const int r = i >> 4, k = (i & 15) << 3;
    use(r, (r / n * NP + r % n) * H + k, wide(r, k));
  });
}

DEVICE void load_tile(half_t* tile, const half_t* from, int n) {
  constexpr int AT_ONCE = 4;  // that are waited for together
  const int pairs = n * n, count = (pairs + 15) / 16 * 16 * 16;
  for (int first = thread_index(); first < count; first += AT_ONCE * THREADS) {
    uint4 x[AT_ONCE];
#pragma unroll
    for (int b = 0; b < AT_ONCE; b++) {
      const int i = first + b * THREADS, r = i >> 4, k = (i & 15) << 3;
      x[b] = {0, 0, 0, 0};
      if (r < pairs) x[b] = *reinterpret_cast<const uint4*>(from + (r / n * NP + r % n) * H + k);
    }
#pragma unroll
    for (int b = 0; b < AT_ONCE; b++) {
      const int i = first + b * THREADS;
      if (i < count) *reinterpret_cast<uint4*>(tile + wide(i >> 4, (i & 15) << 3)) = x[b];
    }
  }
}

// What decoders read of nodes: next state (filled in later), state, channels thrice (rounded, what
// rounding left, rounded again for what rounding left of the weights).
DEVICE void read_nodes(half_t* read, const float* hidden, const float* channels, int n) {
  each(NODE_ROWS * (READ / 2), [&](int i) {
    const int node = i / (READ / 2), k = i % (READ / 2) * 2, c = (k - 2 * H) % CHANNELS;
    float x = 0.f, y = 0.f;
    if (node < n && k >= H && k < 2 * H) {
      x = hidden[node * H + k - H], y = hidden[node * H + k - H + 1];
    } else if (node < n && k >= 2 * H && k < 2 * H + 3 * CHANNELS) {
      x = channels[node * CHANNELS + c], y = channels[node * CHANNELS + c + 1];
      if (k / CHANNELS - 2 * H / CHANNELS == 1) {
        const unsigned both = pack(x, y);
        x -= unpack(both & 0xffff), y -= unpack(both >> 16);
      }
    }
    *reinterpret_cast<unsigned*>(read + node * READ_STRIDE + k) = pack(x, y);
  });
}

// The mean of 128 numbers, four a lane, and one over their deviation.
DEVICE void moments(const float (&x)[4], float& mean, float& scale) {
  mean = sum_of_warp(x[0] + x[1] + x[2] + x[3]) / H;
  float squares = 0.f;
  for (int i = 0; i < 4; i++) squares += (x[i] - mean) * (x[i] - mean);
  scale = inverse_root(sum_of_warp(squares) / H + 1e-5f);
}

// Number c of what decoders of the graph read, of each node: how it is encoded, its state before the
// step and after it. -inf where there is no node.
template <class Before, class After>
DEVICE void read_by_graph(float (&x)[NP], Numbers single, const float* channels, int n, int c, Before before, After after) {
  if (c < H) {
    const float constant = single[SINGLE_NODE_B + c];
#pragma unroll
    for (int v = 0; v < NP; v++) x[v] = constant;
#pragma unroll
    for (int k = 0; k < KN; k++) {
      const float weight = single[SINGLE_NODE + k * H + c];
#pragma unroll
      for (int v = 0; v < NP; v++) x[v] += channels[v * CHANNELS + k] * weight;
    }
  } else {  // all are asked for at once
    const int k = c % H;
#pragma unroll
    for (int v = 0; v < NP; v++) {
      const int i = min(v, n - 1) * H + k;
      x[v] = c < 2 * H ? before(i) : after(i);
    }
  }
#pragma unroll
  for (int v = 0; v < NP; v++)
    if (v >= n) x[v] = -INFINITY;
}

