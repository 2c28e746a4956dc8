"""The protocol: how samples of one algorithm are drawn and rewritten for training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from ..algorithms import Algorithm, draw, get
from ..config import ViewConfig
from ..spec import Field, Kind, Stage, of_stage
from ..types import Batch, Paired, View
from .rewrites import moved_name, permutations, permutations_spec, static_hints, static_hints_spec
from .shape import single_precision, with_nodes

TRAIN_SIZES = (4, 7, 11, 13, 16)
TRAIN_P = tuple(0.1 + 0.1 * i for i in range(9))
TRAIN_NEEDLE = -8  # of a random length from 1 to 8
SURVEY = 4096  # samples that tell how many steps a size takes
SURVEY_PART = 128  # of them at a time
SURVEY_SEED = 2**31


@dataclass(frozen=True)
class Protocol:
    """How samples are drawn and rewritten.

    keep_static_hints: leave hints that never change as hints (the paper does this with
    binary search and minimum) instead of turning them into inputs.
    """

    name: str
    p: tuple[float, ...] = ()
    needle: int = 0
    random_positions: bool = True
    keep_static_hints: bool = False

    @classmethod
    def training(cls, name: str, *, keep_static_hints: bool = False) -> Protocol:
        """The protocol of the paper and of dm-clrs' own training script."""
        algorithm = get(name)
        scale = 0.5 if algorithm.sparse else 1.0
        return cls(
            name,
            p=tuple(scale * q for q in TRAIN_P) if algorithm.inputs.p else (),
            needle=TRAIN_NEEDLE if algorithm.inputs.form == "haystack and needle" else 0,
            keep_static_hints=keep_static_hints,
        )

    @cached_property
    def algorithm(self) -> Algorithm:
        return get(self.name)

    @property
    def moved_hints(self) -> tuple[str, ...]:
        return () if self.keep_static_hints else self.algorithm.static_hints

    @cached_property
    def spec(self) -> dict[str, Field]:
        """The spec after the rewrites."""
        return permutations_spec(static_hints_spec(self.algorithm.spec, self.moved_hints))

    @property
    def contrasted(self) -> tuple[str, ...]:
        """The hints to contrast: the paper's; outside the paper, all that are pointers."""
        hints = of_stage(self.spec, Stage.HINT).items()
        pointers = tuple(name for name, field in hints if field.kind is Kind.POINTER)
        return self.algorithm.contrasted or pointers

    def rewrite(self, batch: Batch) -> Batch:
        """Apply the rewrites (random positions were drawn with the samples)."""
        return permutations(static_hints(batch, self.moved_hints), self.algorithm.spec)

    def sizes(self, sizes: tuple[int, ...] = TRAIN_SIZES) -> tuple[int, ...]:
        """The training sizes; string matchers use one, a quarter larger than the largest."""
        return (max(sizes) * 5 // 4,) if self.needle else sizes

    def _raw(self, size: int, samples: int, seeds: Sequence[int], first: int, steps: int) -> Batch:
        return draw(
            self.algorithm,
            size,
            samples,
            seeds=seeds,
            first=first,
            p=self.p,
            needle=self.needle,
            random_positions=self.random_positions,
            steps=steps,
        )

    def draw(
        self, size: int, samples: int, *, seeds: Sequence[int], first: int = 0, steps: int = 32
    ) -> Batch:
        """Fresh samples of each seed, rewritten, their numbers in single precision."""
        return single_precision(self.rewrite(self._raw(size, samples, seeds, first, steps)))

    def draw_paired(
        self,
        size: int,
        samples: int,
        *,
        seeds: Sequence[int],
        first: int = 0,
        steps: int = 32,
        view: ViewConfig,
        max_nodes: int,
    ) -> Paired:
        """The same samples with a view of each; all arrays have room for `max_nodes` nodes."""
        from ..augment import make_views

        raw = self._raw(size, samples, seeds, first, steps)
        made = make_views(
            replace(self.algorithm, static_hints=self.moved_hints),
            raw,
            max_nodes=max_nodes,
            seeds=np.repeat(np.asarray(seeds, np.uint64), samples),
            index=np.tile(np.arange(first, first + samples, dtype=np.uint64), len(seeds)),
            p=self.p,
            options=view,
            random_positions=self.random_positions,
        )
        batch = with_nodes(self.rewrite(raw), self.spec, max_nodes)
        return single_precision(Paired(batch, self._rewrite_view(made, max_nodes)))

    def _rewrite_view(self, view: View, max_nodes: int) -> View:
        moved = {moved_name(k): view.start[k] for k in self.moved_hints}
        kept = {k: v for k, v in view.start.items() if k not in self.moved_hints}
        spare = max_nodes - view.places.shape[1]
        return view._replace(
            inputs={**view.inputs, **moved},
            start=kept,
            places=np.pad(view.places, [(0, 0), (0, spare)]),
        )

    @lru_cache(maxsize=256)  # noqa: B019 (a frozen dataclass: it is its own key)
    def steps(self, size: int) -> int:
        """Room for the steps of a batch: the most that a survey of samples took.

        With a margin of a sixteenth where the number varies; a longer sample makes its batch
        longer, in eighths.
        """
        seen: set[int] = set()
        for first in range(0, SURVEY, SURVEY_PART):
            room = max(seen, default=32)
            seen.update(self._raw(size, SURVEY_PART, [SURVEY_SEED], first, room).lengths.tolist())
        most = max(seen)
        return most if len(seen) == 1 else most + max(1, most // 16)
