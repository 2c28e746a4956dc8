// Forward: all steps of a sample.
#pragma once
#include "sample.h"

struct Forward {
  const int *nodes, *steps;
  const uint4* half;
  const float *single, *node_in, *edge_in, *graph_in, *node_start, *edge_start, *graph_start;
  float *hidden, *node_h, *edge_h, *graph_h;                        // of room + 1 steps
  float *node_logits, *edge_logits, *pointers, *graph_logits;       // of room steps
  float* last_triplets;                                             // of a sample's last step
  half_t* reps;
  float *sent, *before_norm, *before_gate, *gate, *best;            // written down
  unsigned* winners;
  float* triplets;
  unsigned* triplet_winners;
  unsigned char* larger;
  float* pooled;
  int samples, room;
};

KERNEL forward(Forward a) {
  SHARED(memory);
  half_t* one = reinterpret_cast<half_t*>(memory);  // two tiles over pairs
  half_t* two = one + TILE;
  half_t* edge = two + TILE;                           // channels
  float* sent = reinterpret_cast<float*>(edge + ROWS * NARROW);  // what nodes send and receive with
  half_t* features = reinterpret_cast<half_t*>(sent);      // of triplets, once messages are done
  constexpr int SENT = NP * SENT_STRIDE * 4 > ROWS * NARROW * 2 ? NP * SENT_STRIDE : ROWS * NARROW / 2;
  float* hidden = sent + SENT;
  half_t* read = reinterpret_cast<half_t*>(hidden + NP * H);
  float* node = reinterpret_cast<float*>(read + NODE_ROWS * READ_STRIDE);
  float* triple = node + NP * CHANNELS;                    // of nodes, for triplets
  float* logits = triple + NP * 3 * F;                     // of pointers, by node and where it points
  float* shares = logits + (P ? P : 1) * PAIRS;            // of a pointer's logits, by 32 columns
  float* on_graph = shares + 4 * ROWS;                     // 136
  float* graph = on_graph + H + F;
  float* best_of = graph + 8;                              // 384, the largest of all nodes
  Rows rows{reinterpret_cast<unsigned short*>(best_of + 3 * H)};
  float* waiting = reinterpret_cast<float*>(one);          // messages, half of the columns
  float* out = reinterpret_cast<float*>(one);              // of nodes, once messages are done
  half_t* opens = two;                                     // what the gate reads
  float* about = reinterpret_cast<float*>(two);            // triplets: of (i, j) and of (i, k)
  float* decoded = reinterpret_cast<float*>(two);

  const Sample me(a.samples, a.room, a.nodes, a.steps);
  const int n = me.n, pairs = n * n, tiles = (pairs + 15) / 16;
  const uint4* half = a.half + static_cast<long long>(me.network) * HALF_SIZE;
  const Numbers single{a.single + static_cast<long long>(me.network) * SINGLE_SIZE};
  const Numbers node_in{me.of(a.node_in, NP * KNI_)}, edge_in{me.of(a.edge_in, PAIRS * KEI_)},
      graph_in{me.of(a.graph_in, KGI_)};
  const Channels channels{edge, node, graph};

  me.clear_rest(a.hidden, NP * H, 1);
  me.clear_rest(a.best, NP * H);
  me.clear_rest(a.before_norm, NP * H);
  me.clear_rest(a.before_gate, NP * H);
  me.clear_rest(a.node_h, NP * KNH_, 1);
  me.clear_rest(a.edge_h, PAIRS * KEH_, 1);
  me.clear_rest(a.graph_h, KGH_, 1);
  me.clear_rest(a.node_logits, NP * SN_);
  me.clear_rest(a.edge_logits, PAIRS * SE_);
  me.clear_rest(a.graph_logits, GD_);
  me.clear_rest(a.pooled, 3 * H);
  me.clear_rest(a.pointers, P_ * PAIRS);
  float* last_triplets = me.of(a.last_triplets, PAIRS * F);
  if (n < NP) clear(last_triplets, PAIRS * F);
  wait_for_all();
  rows.set(n);
  read_channels(channels, n, node_in, edge_in, graph_in, {me.of(a.node_start, NP * KNH_)},
                {me.of(a.edge_start, PAIRS * KEH_)}, {me.of(a.graph_start, KGH_)});
  clear(hidden, NP * H);
  wait_for_all();
  each(n * H, [&](int i) { me.at(a.hidden, 0, NP * H, 1)[i] = 0.f; });
  each(n * KNH, [&](int i) {
    me.at(a.node_h, 0, NP * KNH_, 1)[i / KNH_ * KNH_ + i % KNH_] = node[i / KNH_ * CHANNELS + KNI + i % KNH_];
  });
  each(pairs * KEH, [&](int i) {
    const int row = i / KEH_, k = i % KEH_, pair = row / n * NP + row % n;
    me.at(a.edge_h, 0, PAIRS * KEH_, 1)[pair * KEH_ + k] = me.of(a.edge_start, PAIRS * KEH_)[pair * KEH_ + k];
  });
  each(KGH, [&](int k) { me.at(a.graph_h, 0, KGH_, 1)[k] = graph[KGI + k]; });

  for (int t = 0; t < me.steps; t++) {
    // ---- nodes and the graph: what is sent, what is kept, what triplets are made of
    read_nodes(read, hidden, node, n);
    each(H + F, [&](int c) {
      float x = 0.f;
      for (int k = 0; k < KGI + KGH; k++) x += graph[k] * single[SINGLE_GRAPH + k * (H + F) + c];
      on_graph[c] = x;
    });
    wait_for_all();
    float* sent_now = me.at(a.sent, t, NP * 2 * H);
    float* before_norm = me.at(a.before_norm, t, NP * H);
    float* before_gate = me.at(a.before_gate, t, NP * H);
    node_product<H + 4 * CHANNELS, 3>(read + H, READ_STRIDE, half + HALF_Z, Z, n,
                                      [&](int v, int c, float x, float y) {
      x += single[SINGLE_Z_B + c], y += single[SINGLE_Z_B + c + 1];
      if (c < 2 * H) {
        if (c >= H) x += on_graph[c - H], y += on_graph[c - H + 1];
        *reinterpret_cast<float2*>(sent + v * SENT_STRIDE + c) = float2{x, y};
        *reinterpret_cast<float2*>(sent_now + v * 2 * H + c) = float2{x, y};
      } else if (c < 3 * H) {
        *reinterpret_cast<float2*>(before_norm + v * H + c - 2 * H) = float2{x, y};
      } else if (c < 4 * H) {
        *reinterpret_cast<float2*>(before_gate + v * H + c - 3 * H) = float2{x, y};
      } else if (c < 4 * H + 3 * F) {
        const int k = c - 4 * H;
        if (k >= 2 * F) x += on_graph[H + k - 2 * F], y += on_graph[H + k - 2 * F + 1];
        triple[v * 3 * F + k] = x, triple[v * 3 * F + k + 1] = y;
      }
    });
    wait_for_all();

    // ---- messages, and the largest of them for each receiver
    build_first(one, edge, sent, rows, half, n, tiles);
    const Weights<4> first(half + HALF_FIRST);
    wait_for_all();
    tile_product(one, first, tiles, [&](int row, int column, float(&c)[4][4]) {
      put_pairs<true>(two, row, column, c, [&](int, int k, float x, float y) {
        return float2{x + single[SINGLE_FIRST_B + k], y + single[SINGLE_FIRST_B + k + 1]};
      });
    });
    Weights<2> second(half + HALF_SECOND);
    wait_for_all();
    float* best = me.at(a.best, t, NP * H);
    unsigned* winners = me.at(a.winners, t, NP * H);
    for (int side = 0; side < 2; side++) {
      tile_product(two, second, tiles, [&](int row, int column, float(&c)[4][4]) {
        each_pair(row, column, c, [&](int r, int k, float x, float y) {
          *reinterpret_cast<float2*>(waiting + r * 64 + ((k >> 3 ^ (r & 7)) << 3) + (k & 7)) = float2{x, y};
        });
      });
      wait_for_all();
      const int k = thread_index() & 63, c = side * 64 + k;
      for (int j = thread_index() >> 6; j < n; j += THREADS / 64) {
        float top = -INFINITY;
        unsigned who = 0;
#pragma unroll 8
        for (int i = 0; i < n; i++) {
          const int r = j * n + i;
          const float x = waiting[r * 64 + ((k >> 3 ^ (r & 7)) << 3) + (k & 7)];
          who = x > top ? 1u << i : who | static_cast<unsigned>(x == top) << i;
          top = fmaxf(top, x);
        }
        top += single[SINGLE_SECOND_B + c];
        best[j * H + c] = top;
        winners[j * H + c] = who;
        read[j * READ_STRIDE + c] = pack(top, 0.f) & 0xffff;
      }
      if (side == 0) second = Weights<2>(half + HALF_SECOND + (H / 2) * H / 8);
      wait_for_all();
    }

    // ---- the next state: what is kept and what was received, normalised, through the gate
    clear(reinterpret_cast<unsigned*>(opens), NODE_ROWS * HIDDEN_STRIDE / 2);
    wait_for_all();
    node_product<H, 2>(read, READ_STRIDE, half + HALF_RECEIVED, 2 * H, n,
                       [&](int v, int c, float x, float y) {
      x += single[SINGLE_RECEIVED_B + c], y += single[SINGLE_RECEIVED_B + c + 1];
      float2* at = reinterpret_cast<float2*>((c < H ? before_norm : before_gate - H) + v * H + c);
      x += at->x, y += at->y;
      if (c < H) {
        *at = float2{x, y};
        *reinterpret_cast<float2*>(out + v * H + c) = float2{x, y};
      } else {
        x = fmaxf(x, 0.f), y = fmaxf(y, 0.f);
        *at = float2{x, y};
        *reinterpret_cast<unsigned*>(opens + v * HIDDEN_STRIDE + c - H) = pack(x, y);
      }
    });
    wait_for_all();
    for (int v = warp(); v < n; v += WARPS) {
      float x[4], mean, scale;
      for (int i = 0; i < 4; i++) x[i] = fmaxf(out[v * H + lane() + 32 * i], 0.f);
      moments(x, mean, scale);
      for (int i = 0; i < 4; i++) {
        const int c = lane() + 32 * i;
        out[v * H + c] = single[SINGLE_NORM_SCALE + c] * (x[i] - mean) * scale + single[SINGLE_NORM_OFFSET + c];
      }
    }
    wait_for_all();
    float* gate = me.at(a.gate, t, NP * H);
    float* after = me.at(a.hidden, t + 1, NP * H, 1);
    node_product<H, 1>(opens, HIDDEN_STRIDE, half + HALF_GATE, H, n,
                       [&](int v, int c, float x, float y) {
      const float2 g{sigmoid(x + single[SINGLE_GATE_B + c]), sigmoid(y + single[SINGLE_GATE_B + c + 1])};
      const int i = v * H + c;
      const float2 next{out[i] * g.x + hidden[i] * (1.f - g.x), out[i + 1] * g.y + hidden[i + 1] * (1.f - g.y)};
      hidden[i] = next.x, hidden[i + 1] = next.y;
      *reinterpret_cast<float2*>(after + i) = next;
      *reinterpret_cast<float2*>(gate + i) = g;
      *reinterpret_cast<unsigned*>(read + v * READ_STRIDE + c) = pack(next.x, next.y);
    });
    wait_for_all();

    // ---- triplets: for each edge (j, k) the largest over i, and edge messages
    const bool last = t + 1 == me.steps;  // outputs are read there, by the caller
    if (P + SE > 0 || last) {
      float *about_j = about, *about_k = about + PAIRS * F;
      float* triplets = me.at(a.triplets, t, PAIRS * F);
      unsigned* who_won = me.at(a.triplet_winners, t, PAIRS * F);
      const Numbers w = single + SINGLE_TRI_EDGE;
      each(pairs * F, [&](int i) {
        const int row = i / F, f = i % F;
        float x = triple[rows.first(row) * 3 * F + f], y = 0.f;
        for (int k = 0; k < KE; k++) {
          const float value = channel(edge, row, k);
          x += value * w[k * 3 * F + f], y += value * w[k * 3 * F + F + f];
        }
        about_j[i] = x, about_k[i] = y;
      });
      wait_for_all();
      each(ROWS * F, [&](int item) {
        const int row = item / F, f = item % F, j = rows.first(row), k = rows.second(row);
        float top = -INFINITY;
        unsigned who = 0;
        if (row < pairs) {
          for (int i = 0; i < n; i++) {
            const float x = about_j[(i * n + j) * F + f] + about_k[(i * n + k) * F + f];
            who = x > top ? 1u << i : who | static_cast<unsigned>(x == top) << i;
            top = fmaxf(top, x);
          }
          top += triple[j * 3 * F + F + f] + triple[k * 3 * F + 2 * F + f];
          for (int c = 0; c < KE; c++) top += channel(edge, row, c) * w[c * 3 * F + 2 * F + f];
          triplets[item] = top;
          who_won[item] = who;
          if (last) last_triplets[(j * NP + k) * F + f] = top;
        } else {
          top = 0.f;
        }
        put_channel(features, row, f, top);
      });
      wait_for_all();
      if (P + SE > 0) build_edge_messages(one, features, half, single, tiles);
    }
    if (!DECODES) continue;
    node_product<READ, 2>(read, READ_STRIDE, half + HALF_DEC_NODE, DN, n, [&](int v, int c, float x, float y) {
      const float2 z{x + single[SINGLE_DEC_B + c], y + single[SINGLE_DEC_B + c + 1]};
      *reinterpret_cast<float2*>(decoded + v * DN_STRIDE + c) = z;
    });
    Weights<4> over_edges(half + (P ? HALF_DEC_MSG : HALF_FIRST));
    wait_for_all();

    // ---- pointers: for each edge (u, v) whether v points at u
    for (int p = 0; p < P; p++) {
      half_t* reps = me.at(a.reps, t, P_ * PAIRS * H) + p * PAIRS * H;
      unsigned char* larger = me.at(a.larger, t, P_ * PAIRS * 16) + p * PAIRS * 16;
      const Numbers w = single + SINGLE_OUT_W + p * H;
      uint4 b[4];
      channel_weights(b, half + HALF_DEC_EDGE + p * H * 32 / 8);
      tile_product(one, over_edges, tiles, [&](int row, int column, float(&c)[4][4]) {
        add_channels(c, edge, b, row, [](int r) { return r; });
        float sum[2] = {};
        unsigned source_larger[2] = {}, made[4][2];
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
          for (int h = 0; h < 2; h++) {
            const int r = row + lane_row() + 8 * h, k = column + 8 * i + lane_column();
            const float2 s = *reinterpret_cast<const float2*>(decoded + rows.second(r) * DN_STRIDE + p * 2 * H + k);
            const float2 of_target =
                *reinterpret_cast<const float2*>(decoded + rows.first(r) * DN_STRIDE + p * 2 * H + H + k);
            const float x = of_target.x + c[i][2 * h], y = of_target.y + c[i][2 * h + 1];
            source_larger[h] |= (s.x > x) << (2 * i) | (s.y > y) << (2 * i + 1);
            const float f = fmaxf(s.x, x), g = fmaxf(s.y, y);
            sum[h] += f * w[k] + g * w[k + 1];
            made[i][h] = pack(within(f), within(g));
          }
        each_eight(row, column, made, [&](int r, int k, const uint4& eight) {
          if (r < pairs) *reinterpret_cast<uint4*>(reps + (rows.first(r) * NP + rows.second(r)) * H + k) = eight;
        });
#pragma unroll
        for (int h = 0; h < 2; h++) {
          const int r = row + lane_row() + 8 * h;
          sum[h] += from_lane(sum[h], 1);
          sum[h] += from_lane(sum[h], 2);
          if ((lane() & 3) == 0) shares[(column / 32) * ROWS + r] = sum[h];
          if (r < pairs) larger[r * 16 + column / 8 + (lane() & 3)] = source_larger[h];
        }
      });
      wait_for_all();
      each(pairs, [&](int r) {
        const int u = rows.first(r), v = rows.second(r);
        const float x = shares[r] + shares[ROWS + r] + shares[2 * ROWS + r] + shares[3 * ROWS + r] + single[SINGLE_OUT_B + p];
        logits[p * PAIRS + v * n + u] = x;
        me.at(a.pointers, t, P_ * PAIRS)[(p * NP + v) * NP + u] = x;
      });
      if (p + 1 < P) over_edges = Weights<4>(half + HALF_DEC_MSG + (p + 1) * H * H / 8);
      wait_for_all();
    }

    // ---- edges: a number, or one for each class
    float* edge_logits = me.at(a.edge_logits, t, PAIRS * SE_);
    float* edge_next = me.at(a.edge_h, t + 1, PAIRS * KEH_, 1);
    for (int part = 0; part < SEP / 8; part++) {
      const uint4 b = weights_of(half + HALF_DEC_EDGE + P * H * 32 / 8, 1, part, 0);
      narrow_product(one, half + HALF_DEC_MSG + P * H * H / 8 + part * H * 8 / 8, tiles, [&](int row, float(&c)[4]) {
        unsigned x[4];
        load4(x, edge + (row + block_row()) * NARROW + block_column());
        const unsigned rounded[4] = {x[0], x[1], 0, 0};
        multiply(c, x, b.x, b.y);
        multiply(c, rounded, b.z, b.w);
        for (int i = 0; i < 4; i++) {
          const int r = row + lane_row() + i / 2 * 8, k = 8 * part + lane_column() + i % 2;
          if (r < pairs && k < SE) {
            const int u = rows.first(r), v = rows.second(r);
            edge_logits[(u * NP + v) * SE_ + k] =
                c[i] + decoded[u * DN_STRIDE + POINTED + k] + decoded[v * DN_STRIDE + POINTED + SE + k];
          }
        }
      });
    }
    // ---- the graph: the largest of all nodes, number by number
    if (GD > 0) {
      const float* before = me.at(a.hidden, t, NP * H, 1);
      each(3 * H, [&](int c) {
        float x[NP], top = -INFINITY;
        read_by_graph(x, single, node, n, c, [&](int i) { return before[i]; }, [&](int i) { return hidden[i]; });
#pragma unroll
        for (int v = 0; v < NP; v++) top = fmaxf(top, x[v]);
        best_of[c] = top;
        me.at(a.pooled, t, 3 * H)[c] = top;
      });
    }
    wait_for_all();

    // ---- what is fed back: of nodes, of edges
    float* node_logits = me.at(a.node_logits, t, NP * SN_);
    float* node_next = me.at(a.node_h, t + 1, NP * KNH_, 1);
    each(n * SN, [&](int i) {
      node_logits[i / SN_ * SN_ + i % SN_] = decoded[i / SN_ * DN_STRIDE + POINTED + 2 * SE + i % SN_];
    });
    for (int i = 0; i < NODE_FEDS; i++) {
      const Fed fed = NODE_FED[i];
      if (i % WARPS != warp()) continue;
      const int v = lane();
      const float* mine = decoded + min(v, n - 1) * DN_STRIDE + POINTED + 2 * SE + fed.column;
      float x = mine[0];
      if (fed.kind == MASK) x = sigmoid(x);
      if (fed.kind == MASK_ONE) {
        const float top = largest_of_warp(v < n ? x : -INFINITY);
        x = v < n ? expf(x - top) : 0.f;
        x /= sum_of_warp(x);
      }
      float top = -INFINITY, sum = 0.f;
      if (fed.kind == CATEGORICAL) {
        for (int k = 0; k < fed.width; k++) top = fmaxf(top, mine[k]);
        for (int k = 0; k < fed.width; k++) sum += expf(mine[k] - top);
      }
      if (v < n)
        for (int k = 0; k < fed.width; k++) {
          const float y = fed.kind == CATEGORICAL ? expf(mine[k] - top) / sum : x;
          node[v * CHANNELS + KNI + fed.channel + k] = y;
          node_next[v * KNH_ + fed.channel + k] = y;
        }
    }
    for (int i = warp(); i < P * n; i += WARPS) {
      const int p = i / n, v = i % n, u = lane();
      const float x = u < n ? logits[p * PAIRS + v * n + u] : -INFINITY;
      const float share = expf(x - largest_of_warp(x)), y = share / sum_of_warp(share);
      if (u < n) {
        put_channel(edge, v * n + u, KEI + POINTER_CHANNEL[p], y);
        edge_next[(v * NP + u) * KEH_ + POINTER_CHANNEL[p]] = y;
      }
    }
    for (int i = 0; i < EDGE_FEDS; i++) {
      const Fed fed = EDGE_FED[i];
      each(pairs, [&](int r) {
        const int pair = rows.first(r) * NP + rows.second(r);
        const float* mine = edge_logits + pair * SE_ + fed.column;
        float top = -INFINITY, sum = 0.f;
        if (fed.kind == CATEGORICAL) {
          for (int k = 0; k < fed.width; k++) top = fmaxf(top, mine[k]);
          for (int k = 0; k < fed.width; k++) sum += expf(mine[k] - top);
        }
        for (int k = 0; k < fed.width; k++) {
          const float x = mine[k];
          const float y = fed.kind == MASK ? sigmoid(x) : fed.kind == CATEGORICAL ? expf(x - top) / sum : x;
          put_channel(edge, r, KEI + fed.channel + k, y);
          edge_next[pair * KEH_ + fed.channel + k] = y;
        }
      });
    }

    // ---- what the graph says, and what is fed back of it
    if (GD > 0) {
      float* graph_logits = me.at(a.graph_logits, t, GD_);
      float* graph_next = me.at(a.graph_h, t + 1, KGH_, 1);
      for (int g = warp(); g < GD; g += WARPS) {
        float x = 0.f;
        for (int c = lane(); c < 3 * H; c += 32) x += best_of[c] * single[SINGLE_POOLED + c * GD + g];
        x = sum_of_warp(x) + single[SINGLE_GRAPH_DEC_B + g];
        for (int k = 0; k < KGI + KGH; k++) x += graph[k] * single[SINGLE_GRAPH_DEC + k * GD + g];
        if (lane() == 0) shares[g] = graph_logits[g] = x;
      }
      wait_for_all();
      for (int i = thread_index(); i < GRAPH_FEDS; i += THREADS) {
        const Fed fed = GRAPH_FED[i];
        float top = -INFINITY, sum = 0.f;
        for (int k = 0; k < fed.width; k++) top = fmaxf(top, shares[fed.column + k]);
        for (int k = 0; k < fed.width; k++) sum += expf(shares[fed.column + k] - top);
        for (int k = 0; k < fed.width; k++) {
          const float x = shares[fed.column + k];
          const float y = fed.kind == MASK ? sigmoid(x) : fed.kind == CATEGORICAL ? expf(x - top) / sum : x;
          graph[KGI + fed.channel + k] = y;
          graph_next[fed.channel + k] = y;
        }
      }
    }
    wait_for_all();
  }
}
