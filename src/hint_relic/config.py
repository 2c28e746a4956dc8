"""Everything a run can be told, as one tree of frozen dataclasses. No JAX here."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from .errors import UserError, choose, shown

MOST = 2**31 - 1  # of seeds and updates, which a device counts in 32 bits


def _take_words(config: Any, where: str, choices: dict[str, type[StrEnum]]) -> None:
    """Let plain strings stand for a config's choices."""
    for name, kind in choices.items():
        value = kind(choose(f"{where}.{name}", getattr(config, name), kind))
        object.__setattr__(config, name, value)


class Hints(StrEnum):
    """How the network uses hints."""

    FEEDBACK = "feedback"  # decoded at each step and fed to the next
    DECODED = "decoded"  # decoded (and supervised), but not fed back
    NONE = "none"  # neither: from input to output


class Feedback(StrEnum):
    """How a predicted hint is fed to the next step."""

    SOFT = "soft"  # softmax and sigmoid: gradients flow through
    HARD = "hard"  # arg-max and threshold: none do
    HARD_ON_EVAL = "hard_on_eval"  # soft in training, hard in evaluation
    SHARPER_ON_EVAL = "sharper_on_eval"  # soft; in evaluation sharper, the more nodes beyond 16

    def when(self, training: bool) -> Feedback:
        """Which of those that don't depend on that: soft, hard or, in evaluation alone, sharper."""
        if self is Feedback.HARD_ON_EVAL:
            return Feedback.SOFT if training else Feedback.HARD
        return Feedback.SOFT if training and self is Feedback.SHARPER_ON_EVAL else self


class EdgePointers(StrEnum):
    """How hints that point from an edge (i, j) at a node u are passed on.

    The reference averages them over i and over j. That tells every (j, u) and (i, u) how often u
    is pointed at, and (i, j) nothing about where it points: it can't even keep pointing there.
    """

    AVERAGED = "averaged"
    FOLLOWED = "followed"  # and decoders can keep a pointer, or take over that of another edge


MODEL_CHOICES = {"hints": Hints, "feedback": Feedback, "edge_pointers": EdgePointers}


@dataclass(frozen=True)
class ModelConfig:
    """The network. The defaults are Triplet-GMPNN, as Ibarz et al. (2022) train it."""

    hidden: int = 128
    """numbers that a node, an edge and the graph hold"""
    triplets: int = 8
    """number of triplet features; 0 leaves triplets out (an MPNN)"""
    gated: bool = True
    """the gate on the update"""
    layer_norm: bool = True
    """the norm after the update"""
    fully_connected: bool = True
    """messages between all pairs; otherwise along edges only (like PGN)"""
    memory: bool = True
    """hand the state on from step to step; otherwise steps know of each other by hints alone"""
    hints: Hints = Hints.FEEDBACK
    """decode hints and feed them back, decode them only, or neither"""
    feedback: Feedback = Feedback.SOFT
    """feed hints back as shares, or as decisions (always, or when scoring only), or as shares that
    are sharpened when inputs are scored that are larger than 16"""
    reversal: bool = False
    """give every pointer hint reversed as well"""
    edge_pointers: EdgePointers = EdgePointers.AVERAGED
    """pass pointers of edges on averaged, as dm-clrs does, or each to where it points"""

    def __post_init__(self) -> None:
        _take_words(self, "model", MODEL_CHOICES)


class StopGradient(StrEnum):
    """Which side of the KL term is held fixed."""

    NEITHER = "neither"
    INPUT = "input"
    VIEW = "view"


class Reduce(StrEnum):
    """How the contrastive terms of a sample's steps and nodes are put together."""

    MEAN = "mean"  # over all live steps and nodes of the batch, like the other losses
    SUM = "sum"  # over steps and nodes, mean over samples: the paper's formula, read literally


@dataclass(frozen=True)
class ObjectiveConfig:
    """What is minimised, besides the loss of the outputs (`docs/paper.md` has the formulas)."""

    hints: float = 1.0
    """weight of the ordinary hint loss on the input; 0 leaves it out"""
    view_hints: float = 0.0
    """weight of the ordinary hint loss on the view, up to the step it is valid for"""
    contrastive: float = 0.0
    """weight of the paper's contrastive term"""
    kl: float = 0.0
    """weight of the paper's KL term; its alpha is `kl / contrastive`"""
    temperature: float = 0.1
    """of the similarity"""
    normalise: bool = True
    """the similarity is a cosine; otherwise a product"""
    positive_in_denominator: bool = True
    """whether the positive is among the candidates it is compared with"""
    stop_gradient: StopGradient = StopGradient.NEITHER
    """the side of the KL term that is held fixed"""
    reduce: Reduce = Reduce.MEAN
    """terms of steps and nodes: their mean, or their sum, as the formula reads literally"""

    @property
    def supervises_hints(self) -> bool:
        """Whether the network is told what the hints are. The paper's objective doesn't."""
        return bool(self.hints or self.view_hints)

    @property
    def about_hints(self) -> str:
        """What is to be said of the hints that a network predicts; mostly nothing."""
        if self.supervises_hints:
            return ""
        return (
            "this network was trained without a loss on its hints, as Hint-ReLIC is: the steps it "
            "shows are its own and need not be the algorithm's, only its outputs"
        )

    @property
    def needs_views(self) -> bool:
        return bool(self.view_hints or self.contrastive or self.kl)


class ViewSource(StrEnum):
    PAPER = "paper"  # the paper's construction, for its 17 algorithms
    VERIFIED = "verified"  # random insertions that the algorithm was seen not to mind


class ViewNodes(StrEnum):
    LARGEST = "largest"  # one node more than the largest training size
    RANDOM = "random"  # any number from one more than the input's up to that


class ViewPositions(StrEnum):
    FRESH = "fresh"  # random sorted positions for all nodes of the view
    KEPT = "kept"  # old nodes keep theirs; new ones lie beyond


class ViewWalk(StrEnum):
    """What the paper's "first" depth-first search is, where an input has several."""

    ROOT = "root"  # the walk from the first root
    SEARCH = "search"  # the walks from all roots; strongly connected components have a second


class ViewWeights(StrEnum):
    """What the new edges of a view weigh, where the algorithm takes edges by weight (Kruskal)."""

    HEAVIER = "heavier"  # more than all old ones: they come last, and the view is exact
    DRAWN = "drawn"  # as the inputs' do: the steps are borrowed


VIEW_CHOICES = {
    "source": ViewSource,
    "nodes": ViewNodes,
    "positions": ViewPositions,
    "walk": ViewWalk,
    "weights": ViewWeights,
}


@dataclass(frozen=True)
class ViewConfig:
    """How views are made."""

    source: ViewSource = ViewSource.PAPER
    """the paper's construction, or random insertions that the algorithm was seen not to mind"""
    nodes: ViewNodes = ViewNodes.LARGEST
    """one node more than the largest training size, or any number up to that"""
    positions: ViewPositions = ViewPositions.FRESH
    """of all nodes anew, or of new nodes alone, beyond the old ones"""
    walk: ViewWalk = ViewWalk.ROOT
    """of depth-first algorithms, what is drawn from: the walk of the first root, or the search"""
    weights: ViewWeights = ViewWeights.HEAVIER
    """of Kruskal's new edges: heavier than all old ones, or as drawn"""

    def __post_init__(self) -> None:
        _take_words(self, "view", VIEW_CHOICES)

    @property
    def random_nodes(self) -> bool:
        return self.nodes is ViewNodes.RANDOM


@dataclass(frozen=True)
class OptimiserConfig:
    """Adam with a clipped global gradient norm."""

    learning_rate: float = 1e-3
    """of Adam"""
    decay: bool = False
    """the learning rate falls to zero over the run, along half a cosine"""
    clip: float = 1.0
    """the norm that larger gradients are cut to; 0 cuts none"""
    skip: float = 0.0
    """an update with a gradient norm above this is left out; 0 leaves out none"""
    average: float = 0.998
    """rate of the exponential average of the weights, kept beside them; 0 keeps none"""


class Padding(StrEnum):
    """How large the arrays of a training batch are. It changes no result, only the time.

    One program for all sizes starts sooner, and on a GPU it is hardly slower; on a CPU padding
    costs time in every update, so it depends on how many there will be.
    """

    AUTO = "auto"  # largest on a GPU; elsewhere what takes the least time for a run of this length
    OWN = "own"  # as each size needs
    LARGEST = "largest"  # as the largest size needs


class Drawn(StrEnum):
    """How fresh inputs of the further sizes in validation are drawn."""

    TRAINING = "training"  # random positions, all edge densities
    BENCHMARK = "benchmark"  # evenly spaced positions and one density, as the test split's


@dataclass(frozen=True)
class TrainConfig:
    """One training run: an algorithm, a variant of the method, and a schedule."""

    algorithm: str = "bfs"
    """set by NAME"""
    variant: str = "baseline"
    """whose settings to take where none are given: no_hints, baseline, baseline_reversal,
    hint_relic_no_kl, hint_relic, hint_relic_no_reversal, baseline_views, untold or best"""
    steps: int = 10_000
    """updates"""
    seeds: int = 3
    """how many networks to train, side by side"""
    first_seed: int = 0
    """the seed of the first; the others follow"""
    batch_size: int = 16
    """samples of an update, for each network"""
    sizes: tuple[int, ...] = (4, 7, 11, 13, 16)
    """the training sizes, one for each update in turn"""
    padding: Padding = Padding.AUTO
    """the room arrays get: as each size needs, as the largest does, or what is fastest for so many
    updates on this device; it changes no result"""
    report_every: int = 100
    """updates between two reports of the loss"""
    validate_every: int = 500
    """updates between two validations"""
    checkpoint_every: int = 500
    """updates between two checkpoints"""
    validation_samples: int = 0
    """fresh samples of the largest size; 0 takes the benchmark's number"""
    validation_sizes: tuple[int, ...] = ()
    """further sizes to report scores at; they choose nothing"""
    validation_drawn: Drawn = Drawn.TRAINING
    """how inputs of those sizes, and of choose_at, are drawn"""
    choose_at: int = 0
    """the size whose score chooses the best weights; 0: the largest training size"""
    test_every: int = 0
    """how often to report the score on the test split, which chooses nothing; 0: never"""
    keep_static_hints: bool = False
    """hints that never change stay hints; otherwise they become inputs, as in dm-clrs"""
    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    view: ViewConfig = field(default_factory=ViewConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)

    @property
    def seed_list(self) -> list[int]:
        return list(range(self.first_seed, self.first_seed + self.seeds))

    @property
    def reported_sizes(self) -> list[int]:
        """All sizes besides the largest that are scored in validation."""
        chosen_at = [self.choose_at] if self.choose_at else []
        return list(dict.fromkeys([*self.validation_sizes, *chosen_at]))

    def check(self) -> None:
        """Refuse what could not be trained, before anything is started."""
        for name in (
            "steps",
            "seeds",
            "batch_size",
            "report_every",
            "validate_every",
            "checkpoint_every",
        ):
            if getattr(self, name) < 1:
                raise UserError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("first_seed", "validation_samples", "test_every", "choose_at"):
            if getattr(self, name) < 0:
                raise UserError(f"{name} must not be negative, it is {getattr(self, name)}")
        if max(self.steps, self.first_seed + self.seeds) > MOST:
            raise UserError(f"steps and seeds must not go beyond {MOST}")
        for part in ("objective", "optimiser"):
            for name, value in vars(getattr(self, part)).items():
                if isinstance(value, float) and not 0.0 <= value < math.inf:
                    raise UserError(f"{part}.{name} must be a number that is not negative")
        if self.model.hidden < 1:
            raise UserError(f"model.hidden must be at least 1, not {self.model.hidden}")
        if self.model.triplets < 0:
            raise UserError(f"model.triplets must not be negative, it is {self.model.triplets}")
        if not 0.0 <= self.optimiser.average < 1.0:
            raise UserError("optimiser.average must lie between 0 and 1 (1 excluded)")
        if not self.sizes:
            raise UserError("at least one training size is needed")
        objective = self.objective
        if objective.kl and not objective.contrastive:
            raise UserError("objective.kl needs objective.contrastive: it compares its softmaxes")
        if self.model.hints is Hints.NONE and objective.needs_views:
            raise UserError("model.hints=none leaves no hints to contrast or to supervise on views")
        if objective.temperature <= 0.0:
            raise UserError(f"objective.temperature must be positive, not {objective.temperature}")


def with_feedback(config: TrainConfig, feedback: str | None) -> TrainConfig:
    """The same settings, with hints fed back in another way, if told."""
    if feedback is None:
        return config
    kind = Feedback(choose("feedback", feedback, Feedback))
    return dataclasses.replace(config, model=dataclasses.replace(config.model, feedback=kind))


def to_dict(config: Any) -> dict[str, Any]:
    """A config as plain JSON values."""
    return _plain(dataclasses.asdict(config))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, StrEnum) else value


C = TypeVar("C")


def from_dict(kind: type[C], values: Any, where: str = "") -> C:
    """A config from plain JSON values; unknown names and wrong types are refused."""
    if not isinstance(values, dict):
        raise UserError(f"{where or 'the config'} must be an object of names and values")
    hints = typing.get_type_hints(kind)
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]
    given = {}
    for name, value in values.items():
        choose(f"option in {where or 'the config'}", name, known)
        given[name] = _typed(hints[name], value, f"{where}.{name}" if where else name)
    return kind(**given)


def _typed(kind: Any, value: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return from_dict(kind, value, where)  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(choose(where, str(value), list(kind)))
    if isinstance(kind, types.GenericAlias):
        if not isinstance(value, (list, tuple)):
            raise UserError(f"{where} must be a list, not {shown(value)}")
        (item, *_) = typing.get_args(kind)
        return tuple(_typed(item, v, where) for v in value)
    if kind is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    if type(value) is not kind:
        raise UserError(f"{where} must be a {kind.__name__}, not {shown(value)}")
    return value
