"""Everything a run can be told, as one tree of frozen dataclasses. No JAX here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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


@dataclass(frozen=True)
class ModelConfig:
    """The network. The defaults are Triplet-GMPNN, as Ibarz et al. (2022) train it.

    triplets: number of triplet features; 0 leaves triplets out (an MPNN).
    gated, layer_norm: the gate on the update, and the norm after it.
    fully_connected: messages between all pairs; otherwise along edges only (like PGN).
    """

    hidden: int = 128
    triplets: int = 8
    gated: bool = True
    layer_norm: bool = True
    fully_connected: bool = True
    hints: Hints = Hints.FEEDBACK
    feedback: Feedback = Feedback.SOFT
    reversal: bool = False


@dataclass(frozen=True)
class OptimiserConfig:
    """Adam with a clipped global gradient norm.

    average: rate of the exponential average of the weights, kept beside them; 0 keeps none.
    """

    learning_rate: float = 1e-3
    clip: float = 1.0
    average: float = 0.998


@dataclass(frozen=True)
class TrainConfig:
    """One training run: an algorithm, a variant of the method, and a schedule."""

    algorithm: str = "bfs"
    variant: str = "baseline"
    steps: int = 10_000
    seeds: int = 3
    first_seed: int = 0
    batch_size: int = 16
    sizes: tuple[int, ...] = (4, 7, 11, 13, 16)
    validate_every: int = 500
    checkpoint_every: int = 500
    model: ModelConfig = field(default_factory=ModelConfig)
    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
