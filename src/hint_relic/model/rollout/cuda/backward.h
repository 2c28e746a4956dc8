// Backward: derivatives of all steps of a sample, last step first.
#pragma once
#include "sample.h"

struct Backward {
  const int *nodes, *steps;
  const uint4* half;
  const float *single, *node_in, *edge_in, *graph_in;
  const float *hidden, *node_h, *edge_h, *graph_h;
  const half_t* reps;
  const float *sent, *before_norm, *before_gate, *gate;
  const unsigned* winners;
  const float* triplets;
  const unsigned* triplet_winners;
  const unsigned char* larger;
  // what is wanted of the results of `forward`
  const float *of_hidden, *of_node_h, *of_edge_h, *of_graph_h;
  const float *of_node_logits, *of_edge_logits, *of_pointers, *of_graph_logits, *of_last_triplets;
  const half_t* of_reps;          // of those that are compared, times a power of two
  const float* of_reps_scale;     // one over that; 0 if nothing is wanted
  float *of_z, *of_gate, *of_norm, *of_decoded, *of_node, *of_graph;  // of room steps
  float* sums;
  int samples, room;
};

// Rows of nodes as float16, times the power of two that fits them; returns one over that.
// K: numbers of a row that a product reads, of which `count` are there, a multiple of four.
template <int K>
DEVICE float stage(half_t* to, const float* rows, int stride, int count, int n, float* of_warps) {
  constexpr int FOURS = NODE_ROWS * (K / 4), EACH = (FOURS + THREADS - 1) / THREADS;
  float4 x[EACH];  // all that a thread packs, waited for together
  float top = 0.f;
#pragma unroll
  for (int b = 0; b < EACH; b++) {
    const int i = thread_index() + b * THREADS, v = i / (K / 4), k = i % (K / 4) * 4;
    x[b] = {0.f, 0.f, 0.f, 0.f};
    if (v < n && k < count) x[b] = *reinterpret_cast<const float4*>(rows + v * stride + k);
  }
#pragma unroll
  for (int b = 0; b < EACH; b++)
    top = fmaxf(top, fmaxf(fmaxf(fabsf(x[b].x), fabsf(x[b].y)), fmaxf(fabsf(x[b].z), fabsf(x[b].w))));
  const float scale = fitting(top, of_warps);
#pragma unroll
  for (int b = 0; b < EACH; b++) {
    const int i = thread_index() + b * THREADS;
    if (i < FOURS)
      *reinterpret_cast<uint2*>(to + i / (K / 4) * (K + 8) + i % (K / 4) * 4) =
          uint2{pack(scale * x[b].x, scale * x[b].y), pack(scale * x[b].z, scale * x[b].w)};
  }
  wait_for_all();
  return 1.f / scale;
}

KERNEL backward(Backward a) {
  SHARED(memory);
  half_t* one = reinterpret_cast<half_t*>(memory);
  half_t* two = one + TILE;
  half_t* edge = two + TILE;
  float* sent = reinterpret_cast<float*>(edge + ROWS * NARROW);
  half_t* features = reinterpret_cast<half_t*>(sent);
  constexpr int SENT = NP * SENT_STRIDE * 4 > ROWS * NARROW * 2 ? NP * SENT_STRIDE : ROWS * NARROW / 2;
  float* of_hidden = sent + SENT;          // what is wanted of the state after the step, then before
  float* of_edge = of_hidden + NP * H;     // of channels of edges, 8 each
  float* node = of_edge + PAIRS * 8;
  float* of_node = node + NP * CHANNELS;
  float* of_small = of_node + NP * CHANNELS;   // of what is decoded of nodes, but for pointers
  float* of_logits = of_small + NP * SMALL_;   // of pointers: rows as edges are
  float* of_edges = of_logits + P_ * PAIRS;    // of what is decoded of edges
  float* of_best = of_logits;                  // of messages received, once those are done with
  constexpr int LOGITS = (P_ + SE_) * PAIRS > NP * H ? (P_ + SE_) * PAIRS : NP * H;
  float* graph = of_logits + LOGITS;
  float* of_graph = graph + 8;
  float* of_graph_logits = of_graph + 8;
  float* of_warps = of_graph_logits + 8;
  Rows rows{reinterpret_cast<unsigned short*>(of_warps + WARPS)};
  float* of_features = reinterpret_cast<float*>(two);  // of triplets, and what goes back from them
  float* of_about_j = of_features + PAIRS * F;
  float* of_about_k = of_about_j + PAIRS * F;
  float* shares = of_about_k + PAIRS * F;              // for each of those that were largest
  unsigned* who_won = reinterpret_cast<unsigned*>(shares + PAIRS * F);
  float* by_warps = shares + 2 * PAIRS * F;            // sums of some rows
  float* of_state = reinterpret_cast<float*>(two);     // of the state, by decoders
  float* of_code = of_state + NP * H;                  // of encoded nodes, by decoders of the graph

  const Sample me(a.samples, a.room, a.nodes, a.steps);
  const int n = me.n, pairs = n * n, tiles = (pairs + 15) / 16;
  const uint4* half = a.half + static_cast<long long>(me.network) * HALF_SIZE;
  const Numbers single{a.single + static_cast<long long>(me.network) * SINGLE_SIZE};
  const Numbers node_in{me.of(a.node_in, NP * KNI_)}, edge_in{me.of(a.edge_in, PAIRS * KEI_)},
      graph_in{me.of(a.graph_in, KGI_)};
  float* sums = me.of(a.sums, SUMS);
  const Channels channels{edge, node, graph};

  clear(sums, SUMS);
  me.clear_rest(a.of_z, NP * Z);
  me.clear_rest(a.of_gate, NP * H);
  me.clear_rest(a.of_norm, NP * H);
  me.clear_rest(a.of_decoded, NP * DN_);
  me.clear_rest(a.of_node, NP * H);
  me.clear_rest(a.of_graph, GD_);
  rows.set(n);
  clear(of_hidden, NP * H);
  clear(of_node, NP * CHANNELS);
  clear(of_edge, PAIRS * 8);
  clear(of_graph, 8);
  wait_for_all();

  // What is wanted of the state and the hints before step t by whoever asked for them.
  const auto add_wanted = [&](int t) {
    const Numbers hidden{me.at(a.of_hidden, t, NP * H, 1)}, nodes{me.at(a.of_node_h, t, NP * KNH_, 1)},
        edges{me.at(a.of_edge_h, t, PAIRS * KEH_, 1)}, graph{me.at(a.of_graph_h, t, KGH_, 1)};
    each(n * H / 4, [&](int i) {
      const float4 x = fetch(reinterpret_cast<const float4*>(hidden.at) + i);
      float4& to = reinterpret_cast<float4*>(of_hidden)[i];
      to = {to.x + x.x, to.y + x.y, to.z + x.z, to.w + x.w};
    });
    each(n * KNH, [&](int i) { of_node[i / KNH_ * CHANNELS + KNI + i % KNH_] += nodes[i]; });
    each(pairs * KEH, [&](int i) {
      const int r = i / KEH_, pair = rows.first(r) * NP + rows.second(r);
      of_edge[r * 8 + KEI + i % KEH_] += edges[pair * KEH_ + i % KEH_];
    });
    each(KGH, [&](int k) { of_graph[KGI + k] += graph[k]; });
  };
  add_wanted(me.steps);
  wait_for_all();

  for (int t = me.steps - 1; t >= 0; t--) {
    float* of_z = me.at(a.of_z, t, NP * Z);
    float* of_decoded = me.at(a.of_decoded, t, NP * DN_);

    // ---- through what was fed back, to what was decoded
    if (DECODES) {
      const Numbers node_next{me.at(a.node_h, t + 1, NP * KNH_, 1)};
      const Numbers edge_next{me.at(a.edge_h, t + 1, PAIRS * KEH_, 1)};
      const Numbers graph_next{me.at(a.graph_h, t + 1, KGH_, 1)};
      const Numbers wanted_of_nodes{me.at(a.of_node_logits, t, NP * SN_)};
      const Numbers wanted_of_edges{me.at(a.of_edge_logits, t, PAIRS * SE_)};
      const Numbers wanted_of_pointers{me.at(a.of_pointers, t, P_ * PAIRS)};
      const Numbers wanted_of_graph{me.at(a.of_graph_logits, t, GD_)};
      for (int i = warp(); i < P * n; i += WARPS) {
        const int p = i / n, v = i % n, u = lane(), k = POINTER_CHANNEL[p];
        const float y = u < n ? edge_next[(v * NP + u) * KEH_ + k] : 0.f;
        const float wanted = u < n ? of_edge[(v * n + u) * 8 + KEI + k] : 0.f;
        const float all = sum_of_warp(y * wanted);
        if (u < n)
          of_logits[p * PAIRS + u * n + v] = y * (wanted - all) + wanted_of_pointers[(p * NP + v) * NP + u];
      }
      for (int i = 0; i < EDGE_FEDS; i++) {
        const Fed fed = EDGE_FED[i];
        each(pairs, [&](int r) {
          const int pair = rows.first(r) * NP + rows.second(r);
          const Numbers y = edge_next + (pair * KEH_ + fed.channel);
          const float* wanted = of_edge + r * 8 + KEI + fed.channel;
          float all = 0.f;
          if (fed.kind == CATEGORICAL)
            for (int k = 0; k < fed.width; k++) all += y[k] * wanted[k];
          for (int k = 0; k < fed.width; k++) {
            const float slope = fed.kind == MASK ? y[k] * (1.f - y[k]) : fed.kind == CATEGORICAL ? y[k] : 1.f;
            of_edges[r * SE_ + fed.column + k] = slope * (wanted[k] - all) + wanted_of_edges[pair * SE_ + fed.column + k];
          }
        });
      }
      for (int i = warp(); i < NODE_FEDS; i += WARPS) {
        const Fed fed = NODE_FED[i];
        const int v = min(lane(), n - 1);
        const Numbers y = node_next + (v * KNH_ + fed.channel);
        const float* wanted = of_node + v * CHANNELS + KNI + fed.channel;
        float all = 0.f;
        if (fed.kind == CATEGORICAL)
          for (int k = 0; k < fed.width; k++) all += y[k] * wanted[k];
        if (fed.kind == MASK_ONE) all = sum_of_warp(lane() < n ? y[0] * wanted[0] : 0.f);
        if (lane() < n)
          for (int k = 0; k < fed.width; k++) {
            const float slope = fed.kind == MASK ? y[k] * (1.f - y[k]) : fed.kind == SCALAR ? 1.f : y[k];
            of_small[v * SMALL_ + 2 * SE + fed.column + k] =
                slope * (wanted[k] - all) + wanted_of_nodes[v * SN_ + fed.column + k];
          }
      }
      for (int i = thread_index(); i < GRAPH_FEDS; i += THREADS) {
        const Fed fed = GRAPH_FED[i];
        const Numbers y = graph_next + fed.channel;
        const float* wanted = of_graph + KGI + fed.channel;
        float all = 0.f;
        if (fed.kind == CATEGORICAL)
          for (int k = 0; k < fed.width; k++) all += y[k] * wanted[k];
        for (int k = 0; k < fed.width; k++) {
          const float slope = fed.kind == MASK ? y[k] * (1.f - y[k]) : fed.kind == CATEGORICAL ? y[k] : 1.f;
          const float x = slope * (wanted[k] - all) + wanted_of_graph[fed.column + k];
          of_graph_logits[fed.column + k] = x;
          me.at(a.of_graph, t, GD_)[fed.column + k] = x;
        }
      }
      wait_for_all();
    }

    // ---- what the step began with
    read_channels(channels, n, node_in, edge_in, graph_in, {me.at(a.node_h, t, NP * KNH_, 1)},
                  {me.at(a.edge_h, t, PAIRS * KEH_, 1)}, {me.at(a.graph_h, t, KGH_, 1)});
    clear(of_edge, pairs * 8);
    clear(of_node, n * CHANNELS);
    clear(of_graph, 8);
    each(n * 4 * F, [&](int i) { of_z[i / (4 * F) * Z + 4 * H + i % (4 * F)] = 0.f; });

    const bool last = t + 1 == me.steps;
    const Numbers of_last{me.of(a.of_last_triplets, PAIRS * F)};
    const Given<unsigned> winners_then{me.at(a.triplet_winners, t, PAIRS * F)};
    const auto put_of_features = [&](int r, int f, float x) {
      const int at = r * F + f;
      const unsigned who = winners_then[at];
      if (last) x += of_last[(rows.first(r) * NP + rows.second(r)) * F + f];
      of_features[at] = x, shares[at] = x / ones_in(who), who_won[at] = who;
    };

    if (P + SE > 0) {
      const Numbers triplets{me.at(a.triplets, t, PAIRS * F)};
      each(ROWS * F, [&](int i) {
        const float x = triplets[i < pairs * F ? i : 0];
        put_channel(features, i / F, i % F, i < pairs * F ? x : 0.f);
      });
      const half_t* reps = me.at(a.reps, t, P_ * PAIRS * H);
      const Given<unsigned char> larger{me.at(a.larger, t, P_ * PAIRS * 16)};
      float top = 0.f;
      each(P * pairs, [&](int i) { top = fmaxf(top, fabsf(of_logits[i / pairs * PAIRS + i % pairs])); });
      each(pairs * SE, [&](int i) { top = fmaxf(top, fabsf(of_edges[i / SE_ * SE_ + i % SE_])); });
      const half_t* wanted_of_reps = me.at(a.of_reps, t, COMPARES_ * PAIRS * H);
      const Numbers reps_scale{me.at(a.of_reps_scale, t, COMPARES_)};
      for (int c = 0; c < COMPARES; c++) top = fmaxf(top, 16.f * reps_scale[c]);
      const float scale = fitting(top, of_warps), back = 1.f / scale;  // and waits
      build_edge_messages(one, features, half, single, tiles);

      // What is wanted of a pointer's representations: of the edge, or of its source, where that
      // was larger.
      const auto build_wanted = [&](half_t* tile, int p, bool of_source) {
        // A thread has the same eight columns of every 32nd row. Of four bytes, each has two bits of
        // those eight.
        constexpr int AT_ONCE = 4;  // rows that are waited for together
        const int k = (thread_index() & 15) << 3, shift = k / 8 % 4 * 2, c = COMPARED_AS[p];
        const unsigned* bits_of = reinterpret_cast<const unsigned*>(larger.at) + p * PAIRS * 4 + k / 32;
        const half_t* also = wanted_of_reps + max(c, 0) * PAIRS * H + k;
        const float of_rep = c >= 0 ? scale * reps_scale[c] : 0.f;
        const Numbers w = single + (SINGLE_OUT_W + p * H + k);
        float weight[8];
#pragma unroll
        for (int i = 0; i < 8; i++) weight[i] = scale * w[i];
        for (int first = thread_index() >> 4; first < 16 * tiles; first += AT_ONCE * (THREADS / 16)) {
          unsigned bits[AT_ONCE];
          uint4 of[AT_ONCE];
#pragma unroll
          for (int b = 0; b < AT_ONCE; b++) {
            const int r = min(first + b * (THREADS / 16), pairs - 1);
            bits[b] = fetch(bits_of + r * 4);
            of[b] = {0, 0, 0, 0};
            if (of_rep > 0.f) of[b] = fetch(reinterpret_cast<const uint4*>(also + (rows.first(r) * NP + rows.second(r)) * H));
          }
#pragma unroll
          for (int b = 0; b < AT_ONCE; b++) {
            const int r = first + b * (THREADS / 16);
            if (r >= 16 * tiles) continue;
            const float wanted = r < pairs ? of_logits[p * PAIRS + r] : 0.f;
            const unsigned mine = r < pairs ? (of_source ? bits[b] : ~bits[b]) >> shift : 0, words[4] = {of[b].x, of[b].y, of[b].z, of[b].w};
            unsigned made[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
              const float2 rep = unpack2(words[i]);
              const float x = wanted * weight[2 * i] + of_rep * rep.x, y = wanted * weight[2 * i + 1] + of_rep * rep.y;
              made[i] = pack(mine >> (8 * i) & 1 ? x : 0.f, mine >> (8 * i + 1) & 1 ? y : 0.f);
            }
            *reinterpret_cast<uint4*>(tile + wide(r, k)) = uint4{made[0], made[1], made[2], made[3]};
          }
        }
      };

      // Of edges' own numbers: weights over edge messages and over channels, sources and targets.
      if (SE > 0) {
        wait_for_all();
        add_weighted_rows<SE_>(
            sums + SUM_DEC_MSG_SMALL, reinterpret_cast<float*>(two), pairs,
            [&](int r, int k) { return *reinterpret_cast<const uint4*>(one + wide(r, k)); },
            [&](int r, int k) { return of_edges[r * SE_ + k]; });
        for (int i = warp(); i < KE * SE; i += WARPS) {
          const int k = i / SE_, s = i % SE_;
          float sum = 0.f;
          for (int r = lane(); r < pairs; r += 32) sum += channel(edge, r, k) * of_edges[r * SE_ + s];
          sum = sum_of_warp(sum);
          if (lane() == 0) add1(sums + SUM_DEC_EDGE_SMALL + k * SE + s, sum);
        }
        each(pairs * KE, [&](int i) {
          const int r = i / KE_, k = i % KE_;
          float x = 0.f;
          for (int s = 0; s < SE; s++) x += of_edges[r * SE_ + s] * single[SINGLE_DEC_EDGE_SMALL + k * SE + s];
          of_edge[r * 8 + k] += x;
        });
        each(n * 2 * SE, [&](int i) {
          const int v = i / (2 * SE_), s = i % SE_;
          const bool target = i % (2 * SE_) >= SE;
          float x = 0.f;
          for (int u = 0; u < n; u++) x += of_edges[(target ? u * n + v : v * n + u) * SE_ + s];
          of_small[v * SMALL_ + i % (2 * SE_)] = x;
        });
        wait_for_all();
      }

      for (int p = 0; p < P; p++) {
        float* of_sources = of_decoded + p * 2 * H;
        const auto keep = [&](float* of_nodes) {
          return [=](int v, int k, float x, float y) {
            *reinterpret_cast<float2*>(of_nodes + v * DN_ + k) = float2{back * x, back * y};
          };
        };
        build_wanted(two, p, true);
        wait_for_all();
        node_sums(two, n, [&](int v, int i) { return i * n + v; }, keep(of_sources));
        // Of the weights that make a logit of a representation.
        const half_t* all_reps = reps + p * PAIRS * H;
        if (warp() == 0) {
          float sum = 0.f;
          for (int r = lane(); r < pairs; r += 32) sum += of_logits[p * PAIRS + r];
          sum = sum_of_warp(sum);
          if (lane() == 0) add1(sums + SUM_OUT_B + p, sum);
        }
        add_weighted_rows<1>(
            sums + SUM_OUT_W + p * H, reinterpret_cast<float*>(two), pairs,
            [&](int r, int k) {
              return fetch(reinterpret_cast<const uint4*>(all_reps + (rows.first(r) * NP + rows.second(r)) * H + k));
            },
            [&](int r, int) { return of_logits[p * PAIRS + r]; });
        wait_for_all();

        build_wanted(two, p, false);
        wait_for_all();
        add_gradient(sums + SUM_DEC_MSG + p * H * H, one, two, tiles, back);
        row_sums<1>(
            two, tiles,
            [&](int, int row, unsigned(&x)[4]) { channels_as_weights(x, edge, row, [](int r) { return r; }); },
            [&](int, int column, const float(&c)[4]) {
              add2(sums + SUM_DEC_EDGE + (p * 8 + lane_row()) * H + column, back * (c[0] + c[2]), back * (c[1] + c[3]));
            });
        node_sums(two, n, [&](int v, int i) { return v * n + i; }, keep(of_sources + H));
        narrow_product(two, half + HALF_DEC_EDGE_T + p * H * 8 / 8, tiles, [&](int row, float(&c)[4]) {
          for (int i = 0; i < 4; i++) {
            const int r = row + lane_row() + i / 2 * 8;
            if (r < pairs) of_edge[r * 8 + lane_column() + i % 2] += back * c[i];
          }
        });
        wait_for_all();
      }

      // Of edge messages, by all that is decoded from them; then of triplets' features.
      for (int i = 0; i < P; i++) {
        const int p = P - 1 - i;
        if (i > 0) build_wanted(two, p, false);  // that of the last pointer is still there
        const Weights<4> over_edges(half + HALF_DEC_MSG_T + p * H * H / 8);
        wait_for_all();
        tile_product(two, over_edges, tiles, [&](int row, int column, float(&c)[4][4]) {
          put_pairs(one, row, column, c, [&](int r, int k, float x, float y) {
            const float2 before = i ? unpack2(word_of(one, r, k)) : float2{0.f, 0.f};
            return float2{x + before.x, y + before.y};
          });
        });
        wait_for_all();
      }
      put_edge_messages<false>(one, features, half, single, tiles, [&](int r, int k, float e, float f) {
        float2 x = P ? unpack2(word_of(one, r, k)) : float2{0.f, 0.f};
        const Numbers w = single + (SINGLE_DEC_MSG_SMALL + k);
        if (r < pairs)
          for (int s = 0; s < SE; s++) {
            x.x += scale * of_edges[r * SE_ + s] * w[s * H];
            x.y += scale * of_edges[r * SE_ + s] * w[s * H + 1];
          }
        return float2{e > 0.f && r < pairs ? x.x : 0.f, f > 0.f && r < pairs ? x.y : 0.f};
      });
      wait_for_all();
      row_sums<2>(
          one, tiles,
          [&](int m, int row, unsigned(&x)[4]) {
            if (m == 0) channels_as_weights(x, features, row, [](int r) { return r; });
            else weights_for_rows(x, 0, row, [](int s, int r) { return s == 0 ? 1.f : 0.f; });
          },
          [&](int m, int column, const float(&c)[4]) {
            if (m == 0)
              add2(sums + SUM_TRI_OUT + lane_row() * H + column, back * (c[0] + c[2]), back * (c[1] + c[3]));
            else if (lane_row() == 0)
              add2(sums + SUM_TRI_OUT_B + column, back * c[0], back * c[1]);
          });
      narrow_product(one, half + HALF_TRI_OUT_T, tiles, [&](int row, float(&c)[4]) {
        for (int i = 0; i < 4; i++) {
          const int r = row + lane_row() + i / 2 * 8;
          if (r < pairs) put_of_features(r, lane_column() + i % 2, back * c[i]);
        }
      });
    } else if (last) {
      each(pairs * F, [&](int item) { put_of_features(item / F, item % F, 0.f); });
    }
    if (P + SE > 0 || last) {
      wait_for_all();

      // To the nodes and edges of the triplets that were largest. Lanes have the same `other`, and
      // nodes i next to each other, so that they read the same numbers.
      each(pairs * F, [&](int item) {
        const int other = rows.first(item / F), i = rows.second(item / F), f = item % F;
        float x = 0.f, y = 0.f;
#pragma unroll 4
        for (int v = 0; v < n; v++) {
          const int from = (other * n + v) * F + f, to = (v * n + other) * F + f;
          x += who_won[from] >> i & 1 ? shares[from] : 0.f;
          y += who_won[to] >> i & 1 ? shares[to] : 0.f;
        }
        of_about_j[(i * n + other) * F + f] = x, of_about_k[(i * n + other) * F + f] = y;
      });
      wait_for_all();
      each(n * 3 * F, [&](int item) {
        const int v = item / (3 * F), k = item % (3 * F), f = k % F;
        float x = 0.f;
        for (int u = 0; u < n; u++)
          x += k < F ? of_about_j[(v * n + u) * F + f] : of_features[(k < 2 * F ? v * n + u : u * n + v) * F + f];
        of_z[v * Z + 4 * H + k] = x;
      });
      const Numbers w = single + SINGLE_TRI_EDGE;
      each(pairs * KE, [&](int item) {
        const int r = item / KE_, k = item % KE_;
        float x = 0.f;
        for (int f = 0; f < F; f++)
          x += of_about_j[r * F + f] * w[k * 3 * F + f] + of_about_k[r * F + f] * w[k * 3 * F + F + f] +
               of_features[r * F + f] * w[k * 3 * F + 2 * F + f];
        of_edge[r * 8 + k] += x;
      });
      if (lane() < 3 * F) {
        const float* of = lane() < F ? of_about_j : lane() < 2 * F ? of_about_k : of_features;
        float sum[KE_] = {};
#pragma unroll 4
        for (int r = warp(); r < pairs; r += WARPS)
          for (int k = 0; k < KE; k++) sum[k] += channel(edge, r, k) * of[r * F + lane() % F];
        for (int k = 0; k < KE; k++) by_warps[(warp() * KE_ + k) * 3 * F + lane()] = sum[k];
      }
      wait_for_all();
      each(KE * 3 * F, [&](int item) {
        float sum = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS; w++) sum += by_warps[w * KE_ * 3 * F + item];
        add1(sums + SUM_TRI_EDGE + item, sum);
      });
      wait_for_all();
    }

    // ---- of nodes, by decoders
    const Numbers hidden{me.at(a.hidden, t, NP * H, 1)}, after{me.at(a.hidden, t + 1, NP * H, 1)};
    clear(of_state, NP * H);
    if (DECODES) {
      each(n * SMALL, [&](int i) {
        of_decoded[i / SMALL_ * DN_ + POINTED + i % SMALL_] = i % SMALL_ < 2 * SE + SN ? of_small[i / SMALL_ * SMALL_ + i % SMALL_] : 0.f;
      });
      wait_for_all();
      const float back = stage<DNK>(one, of_decoded, DN_, DN, n, of_warps);
      node_product<DNK, 3>(one, DNK + 8, half + HALF_DEC_NODE_T, 2 * H + CHANNELS, n, [&](int v, int c, float x, float y) {
        float* at = c < H ? of_hidden + v * H + c : c < 2 * H ? of_state + v * H + c - H : of_node + v * CHANNELS + c - 2 * H;
        at[0] += back * x, at[1] += back * y;
      });
      wait_for_all();
      if (GD > 0) {
        float* of_node_now = me.at(a.of_node, t, NP * H);
        each(3 * H, [&](int c) {
          float wanted = 0.f, x[NP], top = -INFINITY, number = 0.f;
          for (int g = 0; g < GD; g++) wanted += of_graph_logits[g] * single[SINGLE_POOLED + c * GD + g];
          read_by_graph(x, single, node, n, c, [&](int i) { return hidden[i]; }, [&](int i) { return after[i]; });
#pragma unroll
          for (int v = 0; v < NP; v++) top = fmaxf(top, x[v]);
#pragma unroll
          for (int v = 0; v < NP; v++) number += x[v] == top;
          const float share = wanted / number;
          if (c < H) {
            for (int v = 0; v < n; v++) of_node_now[v * H + c] = 0.f, of_code[v * H + c] = 0.f;
          }
#pragma unroll
          for (int v = 0; v < NP; v++) {
            if (x[v] != top) continue;
            if (c < H) of_code[v * H + c] = of_node_now[v * H + c] = share;
            else if (c < 2 * H) of_state[v * H + c - H] += share;
            else of_hidden[v * H + c - 2 * H] += share;
          }
        });
        wait_for_all();
        for (int i = warp(); i < n * KN; i += WARPS) {
          const int v = i / KN_, k = i % KN_;
          float x = 0.f;
          for (int c = lane(); c < H; c += 32) x += of_code[v * H + c] * single[SINGLE_NODE + k * H + c];
          x = sum_of_warp(x);
          if (lane() == 0) of_node[v * CHANNELS + k] += x;
        }
      }
    } else {
      wait_for_all();
    }

    // ---- through the gate and the norm, to what was received
    const Numbers gate{me.at(a.gate, t, NP * H)}, before_norm{me.at(a.before_norm, t, NP * H)},
        before_gate{me.at(a.before_gate, t, NP * H)};
    float* of_gate = me.at(a.of_gate, t, NP * H);
    float* of_norm = me.at(a.of_norm, t, NP * H);
    for (int v = warp(); v < n; v += WARPS) {
      float x[4], of_x[4], mean, deviation, sum = 0.f, product = 0.f;
#pragma unroll
      for (int i = 0; i < 4; i++) x[i] = fmaxf(before_norm[v * H + lane() + 32 * i], 0.f);
      moments(x, mean, deviation);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int c = lane() + 32 * i, at = v * H + c;
        const float g = gate[at], wanted = of_hidden[at], scale = single[SINGLE_NORM_SCALE + c];
        x[i] = (x[i] - mean) * deviation;
        const float out = scale * x[i] + single[SINGLE_NORM_OFFSET + c];
        of_gate[at] = wanted * (out - hidden[at]) * g * (1.f - g);
        of_norm[at] = wanted * g;
        of_hidden[at] = wanted * (1.f - g) + of_state[at];
        of_x[i] = wanted * g * scale;
        sum += of_x[i], product += of_x[i] * x[i];
      }
      sum = sum_of_warp(sum) / H, product = sum_of_warp(product) / H;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int c = lane() + 32 * i;
        const float back = deviation * (of_x[i] - sum - x[i] * product);
        of_z[v * Z + 2 * H + c] = before_norm[v * H + c] > 0.f ? back : 0.f;
      }
    }
    wait_for_all();
    {
      const float back = stage<H>(one, of_gate, H, H, n, of_warps);
      node_product<H, 1>(one, HIDDEN_STRIDE, half + HALF_GATE_T, H, n, [&](int v, int c, float x, float y) {
        of_z[v * Z + 3 * H + c] = before_gate[v * H + c] > 0.f ? back * x : 0.f;
        of_z[v * Z + 3 * H + c + 1] = before_gate[v * H + c + 1] > 0.f ? back * y : 0.f;
      });
      wait_for_all();
    }
    float top = 0.f;
    {
      const float back = stage<2 * H>(one, of_z + 2 * H, Z, 2 * H, n, of_warps);
      node_product<2 * H, 1>(one, 2 * H + 8, half + HALF_RECEIVED_T, H, n, [&](int v, int c, float x, float y) {
        of_best[v * H + c] = back * x, of_best[v * H + c + 1] = back * y;
        top = fmaxf(top, fmaxf(fabsf(back * x), fabsf(back * y)));
      });
    }

    // ---- through messages
    {
      const Numbers sent_then{me.at(a.sent, t, NP * 2 * H)};
      const Given<unsigned> winners{me.at(a.winners, t, NP * H)};
      each(n * 2 * H / 4, [&](int i) {
        float* to = sent + i / (H / 2) * SENT_STRIDE + i % (H / 2) * 4;
        *reinterpret_cast<float4*>(to) = fetch(reinterpret_cast<const float4*>(sent_then.at) + i);
      });
      const float scale = fitting(top, of_warps), back = 1.f / scale;  // and waits
      each(n * H, [&](int i) { of_best[i] *= scale / ones_in(winners[i]); });  // for each that was largest
      build_first(two, edge, sent, rows, half, n, tiles);
      const Weights<4> first(half + HALF_FIRST);
      wait_for_all();
      tile_product(two, first, tiles, [&](int row, int column, float(&c)[4][4]) {
        put_pairs<true>(one, row, column, c, [&](int, int k, float x, float y) {
          return float2{x + single[SINGLE_FIRST_B + k], y + single[SINGLE_FIRST_B + k + 1]};
        });
      });
      wait_for_all();
      // Eight columns of a receiver a thread, for every other sender.
      each(n * 32, [&](int item) {
        const int k = (item & 15) << 3, j = item >> 5;
        const uint4* who_at = reinterpret_cast<const uint4*>(winners.at + j * H + k);
        const uint4 first_who = fetch(who_at), second_who = fetch(who_at + 1);
        const unsigned who[8] = {first_who.x, first_who.y, first_who.z, first_who.w,
                                 second_who.x, second_who.y, second_who.z, second_who.w};
        unsigned of[4];
#pragma unroll
        for (int i = 0; i < 4; i++) of[i] = pack(of_best[j * H + k + 2 * i], of_best[j * H + k + 2 * i + 1]);
        for (int sender = item >> 4 & 1; sender < n; sender += 2) {
          unsigned made[4];
#pragma unroll
          for (int i = 0; i < 4; i++)
            made[i] = of[i] & ((who[2 * i] >> sender & 1) * 0xffff | (who[2 * i + 1] >> sender & 1) * 0xffff0000);
          *reinterpret_cast<uint4*>(two + wide(j * n + sender, k)) = uint4{made[0], made[1], made[2], made[3]};
        }
      });
      clear(two + pairs * H, (16 * tiles - pairs) * H);
      wait_for_all();
      add_gradient(sums + SUM_SECOND, one, two, tiles, back);
      const Weights<4> second_turned(half + HALF_SECOND_T);
      wait_for_all();
      // times the slope of what lies there: a ReLU's
      const auto to_before = [&](half_t* tile) {
        return [=](int row, int column, float(&c)[4][4]) {
          put_pairs(tile, row, column, c, [&](int r, int k, float x, float y) {
            const unsigned there = word_of(tile, r, k);
            return float2{there & 0x7fff ? x : 0.f, there >> 16 & 0x7fff ? y : 0.f};
          });
        };
      };
      tile_product(two, second_turned, tiles, to_before(one));
      wait_for_all();
      build_first(two, edge, sent, rows, half, n, tiles);
      wait_for_all();
      add_gradient(sums + SUM_FIRST, two, one, tiles, back);
      row_sums<1>(
          one, tiles,
          [&](int m, int row, unsigned(&x)[4]) {
            weights_for_rows(x, 0, row, [](int s, int r) { return s == 0 ? 1.f : 0.f; });
          },
          [&](int m, int column, const float(&c)[4]) {
            if (lane_row() == 0) add2(sums + SUM_FIRST_B + column, back * c[0], back * c[1]);
          });
      const Weights<4> first_turned(half + HALF_FIRST_T);
      wait_for_all();
      tile_product(one, first_turned, tiles, to_before(two));
      wait_for_all();
      row_sums<1>(
          two, tiles,
          [&](int, int row, unsigned(&x)[4]) {  // channels lie in the order of edges
            channels_as_weights(x, edge, row, [&](int r) { return rows.second(r) * n + rows.first(r); });
          },
          [&](int, int column, const float(&c)[4]) {
            add2(sums + SUM_EDGE + lane_row() * H + column, back * (c[0] + c[2]), back * (c[1] + c[3]));
          });
      const auto keep = [&](float* of_nodes) {
        return [=](int v, int k, float x, float y) {
          *reinterpret_cast<float2*>(of_nodes + v * Z + k) = float2{back * x, back * y};
        };
      };
      node_sums(two, n, [&](int v, int i) { return i * n + v; }, keep(of_z));
      node_sums(two, n, [&](int v, int i) { return v * n + i; }, keep(of_z + H));
      narrow_product(two, half + HALF_EDGE_T, tiles, [&](int row, float(&c)[4]) {
        for (int i = 0; i < 4; i++) {
          const int r = row + lane_row() + i / 2 * 8;
          if (r < pairs) of_edge[(rows.second(r) * n + rows.first(r)) * 8 + lane_column() + i % 2] += back * c[i];
        }
      });
      wait_for_all();
    }

    // ---- to the state and the channels that the step began with
    {
      float* on_graph = reinterpret_cast<float*>(two);
      if (KGI + KGH > 0)
        each(H + F, [&](int c) {
          float all = 0.f;
#pragma unroll 8
          for (int v = 0; v < n; v++) all += of_z[v * Z + (c < H ? H + c : 4 * H + 2 * F + c - H)];
          on_graph[c] = all;
        });
      const float back = stage<Z>(one, of_z, Z, Z, n, of_warps);  // and waits
      node_product<Z, 2>(one, Z + 8, half + HALF_Z_T, H + CHANNELS, n, [&](int v, int c, float x, float y) {
        float* at = c < H ? of_hidden + v * H + c : of_node + v * CHANNELS + c - H;
        at[0] += back * x, at[1] += back * y;
      });
      for (int k = warp(); k < KGI + KGH; k += WARPS) {
        float x = 0.f;
        for (int c = lane(); c < H + F; c += 32) x += on_graph[c] * single[SINGLE_GRAPH + k * (H + F) + c];
        x = sum_of_warp(x);
        for (int g = 0; g < GD; g++) x += of_graph_logits[g] * single[SINGLE_GRAPH_DEC + k * GD + g];
        if (lane() == 0) of_graph[k] = x;
      }
      wait_for_all();
      add_wanted(t);
      wait_for_all();
    }
  }
}
