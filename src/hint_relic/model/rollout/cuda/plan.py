"""Which networks the kernels can run, and how they lay out what they read and write.

The numbers here become constants of the kernels (`Plan.header`), so each is compiled for one
algorithm. What a plan says nothing of is fixed: 128 channels, eight triplet features, a gate and a
norm, as Triplet-GMPNN has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ....config import ModelConfig
from ....spec import Kind, Location
from .. import plan as usual

H, F, Z, CHANNELS, WARPS = 128, 8, 544, 16, 16
THREADS = 32 * WARPS
MOST_NODES, MOST_EDGE_CHANNELS, MOST_GRAPH_CHANNELS, MOST_POINTERS = 17, 8, 8, 3
MOST_EDGE_COLUMNS, MOST_GRAPH_COLUMNS = 8, 8
COMPARE_GROUPS = 4  # blocks that share the steps of a pair
MOST_SHARED = 232_448  # bytes of shared memory that a block may have, on Hopper
KERNELS = ("forward", "backward", "compare", "compare_backward")
KINDS = [Kind.SCALAR, Kind.MASK, Kind.MASK_ONE, Kind.CATEGORICAL]


class Part(NamedTuple):
    """An array within a buffer of weights or of sums: its place, and its rows and columns."""

    start: int
    rows: int
    columns: int

    @property
    def end(self) -> int:
        return self.start + self.rows * self.columns


def _up(n: int, to: int) -> int:
    return -(-n // to) * to


def _laid_out(shapes: dict[str, tuple[int, int]]) -> dict[str, Part]:
    """Arrays one after the other, each at a place that is a multiple of four."""
    out, start = {}, 0
    for name, (rows, columns) in shapes.items():
        out[name] = Part(start, rows, columns)
        start = _up(out[name].end, 4)
    return out


@dataclass(frozen=True)
class Plan(usual.Plan):
    """What the kernels are compiled for: fields of inputs and fed hints, and room for nodes.

    compared: the pointers whose representations are compared between inputs and views.
    """

    nodes: int
    compared: tuple[str, ...] = ()

    @property
    def node_columns(self) -> int:
        return self.columns(Location.NODE)

    @property
    def edge_columns(self) -> int:
        return self.columns(Location.EDGE)

    @property
    def graph_columns(self) -> int:
        return self.columns(Location.GRAPH)

    @property
    def small(self) -> int:
        """Columns of decoders over nodes besides pointers', rounded up."""
        return _up(2 * self.edge_columns + self.node_columns, 8)

    @property
    def decoded(self) -> int:
        """Columns of all decoders over nodes."""
        return 2 * H * len(self.pointers) + self.small

    @property
    def half(self) -> dict[str, Part]:
        """The weights of products, as they are read: their rows and columns, rounded up."""
        p, small = len(self.pointers), _up(self.edge_columns, 8)
        return _laid_out(
            {
                "Z": (H + 4 * CHANNELS, Z),
                "FIRST": (H, H),
                "SECOND": (H, H),
                "EDGE": (32, H),
                "RECEIVED": (H, 2 * H),
                "GATE": (H, H),
                "TRI_OUT": (32, H),
                "DEC_NODE": (2 * H + 4 * CHANNELS, self.decoded),
                "DEC_EDGE": (32, H * p + small),
                "DEC_MSG": (H, H * p + small),
                "FIRST_T": (H, H),
                "SECOND_T": (H, H),
                "EDGE_T": (H, 8),
                "RECEIVED_T": (2 * H, H),
                "GATE_T": (H, H),
                "TRI_OUT_T": (H, 8),
                "DEC_NODE_T": (_up(self.decoded, 32), 2 * H + CHANNELS),
                "DEC_EDGE_T": (H * p, 8),
                "DEC_MSG_T": (H * p, H),
                "Z_T": (Z, H + CHANNELS),
            }
        )

    @property
    def single(self) -> dict[str, Part]:
        """Constants, and weights that are no part of products."""
        graph = sum(self.channels(Location.GRAPH))
        return _laid_out(
            {
                "Z_B": (1, Z),
                "FIRST_B": (1, H),
                "SECOND_B": (1, H),
                "RECEIVED_B": (1, 2 * H),
                "GATE_B": (1, H),
                "NORM_SCALE": (1, H),
                "NORM_OFFSET": (1, H),
                "TRI_EDGE": (8, 3 * F),
                "TRI_OUT_B": (1, H),
                "GRAPH": (graph, H + F),
                "DEC_B": (1, self.decoded),
                "DEC_MSG_SMALL": (self.edge_columns, H),
                "DEC_EDGE_SMALL": (8, self.edge_columns),
                "OUT_W": (len(self.pointers), H),
                "OUT_B": (1, len(self.pointers)),
                "NODE": (sum(self.channels(Location.NODE)), H),
                "NODE_B": (1, H),
                "POOLED": (3 * H, self.graph_columns),
                "GRAPH_DEC": (graph, self.graph_columns),
                "GRAPH_DEC_B": (1, self.graph_columns),
            }
        )

    @property
    def sums(self) -> dict[str, Part]:
        """Derivatives by weights over pairs, which the kernels add up."""
        p = len(self.pointers)
        return _laid_out(
            {
                "FIRST": (H, H),
                "SECOND": (H, H),
                "DEC_MSG": (p * H, H),
                "EDGE": (8, H),
                "DEC_EDGE": (8 * p, H),
                "TRI_OUT": (8, H),
                "TRI_OUT_B": (1, H),
                "FIRST_B": (1, H),
                "OUT_W": (p, H),
                "DEC_MSG_SMALL": (self.edge_columns, H),
                "OUT_B": (1, p),
                "DEC_EDGE_SMALL": (8, self.edge_columns),
                "TRI_EDGE": (8, 3 * F),
            }
        )

    @staticmethod
    def size(parts: dict[str, Part]) -> int:
        return _up(max(part.end for part in parts.values()), 8)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The kernels' constants that count things; with a `_`: at least one, for arrays."""
        kn, ke, kg = (self.channels(at) for at in (Location.NODE, Location.EDGE, Location.GRAPH))
        counts = {"KNI": kn[0], "KNH": kn[1], "KEI": ke[0], "KEH": ke[1]}
        counts |= {"KGI": kg[0], "KGH": kg[1], "P": len(self.pointers)}
        counts |= {"SN": self.node_columns, "SE": self.edge_columns, "GD": self.graph_columns}
        counts |= {"SMALL": self.small, "DN": self.decoded}
        return counts | {f"{k}_": max(1, v) for k, v in counts.items()}

    def header(self) -> str:
        """The kernels' constants."""
        lines = [f"#define {k} {v}" for k, v in self.counts.items()]
        lines += [f"#define NP {self.nodes}", f"#define COMPARES {len(self.compared)}"]
        lines += [f"#define COMPARES_ {max(1, len(self.compared))}"]
        lines += [f"#define COMPARE_GROUPS {COMPARE_GROUPS}"]
        lines += [f"#define SEP {_up(self.edge_columns, 8)}"]
        lines += [f"#define DNK {max(32, _up(self.decoded, 32))}", f"#define TILE {self.tile}"]
        lines += [f"#define HALF_{k} {part.start // 8}" for k, part in self.half.items()]
        lines += [f"#define HALF_SIZE {self.size(self.half) // 8}"]
        lines += [f"#define SINGLE_{k} {part.start}" for k, part in self.single.items()]
        lines += [f"#define SINGLE_SIZE {self.size(self.single)}"]
        lines += [f"#define SUM_{k} {part.start}" for k, part in self.sums.items()]
        lines += [f"#define SUMS {self.size(self.sums)}"]
        for location in Location:
            fed = self.fed(location)
            rows = [f"{{{KINDS.index(x.kind)}, {x.column}, {x.channel}, {x.width}}}" for x in fed]
            lines.append(f"#define {location.name}_FEDS {len(fed)}")
            lines.append(f"#define {location.name}_FED_LIST {{{', '.join(rows or ['{}'])}}}")
        channels = [str(x.channel) for x in self.pointers] or ["0"]
        lines.append(f"#define POINTER_CHANNEL_LIST {{{', '.join(channels)}}}")
        names = [x.name for x in self.pointers]
        compared = [str(names.index(x)) for x in self.compared] or ["0"]
        places = [str(self.compared.index(x) if x in self.compared else -1) for x in names]
        lines.append(f"#define COMPARED_LIST {{{', '.join(compared)}}}")
        lines.append(f"#define COMPARED_AS_LIST {{{', '.join(places or ['-1'])}}}")
        return "\n".join(["#pragma once", *lines, ""])

    @property
    def tile(self) -> int:
        """Float16 numbers that a tile has room for: pairs, and what takes its place meanwhile."""
        nodes, widest = _up(self.nodes, 16), max(Z, _up(self.decoded, 32))
        pairs, channels = self.nodes**2, max(1, sum(self.channels(Location.EDGE)))
        decoded = 2 * self.nodes * (max(self.decoded, H) + 32)
        triplets = 2 * (5 * F * pairs + 3 * F * WARPS * channels)
        by_warp = 2 * WARPS * H * max(1, self.edge_columns)
        return _up(max(_up(pairs, 16) * H, nodes * (widest + 8), decoded, triplets, by_warp), 64)

    def shared_bytes(self, kernel: str) -> int:
        """The shared memory of a block, as a kernel lays it out."""
        n, p = self.nodes, max(1, len(self.pointers))
        pairs, edges, small = n * n, max(1, self.edge_columns), max(1, self.small)
        rows, node_rows = _up(pairs, 16), _up(n, 16)
        if kernel == "compare":
            return 2 * rows * H * 2 + 4 * (5 * rows + 2 * n * H)
        if kernel == "compare_backward":
            return 2 * rows * H * 2 + 4 * (3 * rows + 4 * n * H + 2 * n + WARPS + n)
        sent = n * (2 * H + 8) * 4
        size = 2 * self.tile * 2 + rows * 24 * 2 + max(sent, rows * 24 * 2) + n * H * 4
        size += rows * 2
        if kernel == "forward":
            size += node_rows * (2 * H + 4 * CHANNELS + 8) * 2
            nodes = n * CHANNELS + n * 3 * F
            return size + 4 * (nodes + p * pairs + 4 * rows + H + F + 8 + 3 * H)
        nodes = 2 * n * CHANNELS + n * small
        return size + 4 * (pairs * 8 + nodes + max((p + edges) * pairs, n * H) + 3 * 8 + WARPS)


def plan_for(
    config: ModelConfig, inputs: usual.Fields, hints: usual.Fields, nodes: int
) -> Plan | None:
    """The plan of a network with the usual processor, or None where no kernels run it."""
    plan = usual.plan_for(config, inputs, hints, nodes)
    if plan is None or plan.hard or not plan.memory:
        return None
    plan = Plan(inputs, hints, plan.memory, plan.hard, nodes)
    fits = (
        (config.hidden, config.triplets) == (H, F)
        and nodes <= MOST_NODES
        and sum(plan.channels(Location.NODE)) <= CHANNELS
        and sum(plan.channels(Location.EDGE)) <= MOST_EDGE_CHANNELS
        and sum(plan.channels(Location.GRAPH)) <= MOST_GRAPH_CHANNELS
        and len(plan.pointers) <= MOST_POINTERS
        and plan.edge_columns <= MOST_EDGE_COLUMNS
        and plan.graph_columns <= MOST_GRAPH_COLUMNS
        and max(map(plan.shared_bytes, KERNELS)) <= MOST_SHARED
    )
    return plan if fits else None
