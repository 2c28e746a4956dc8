"""The reference, dm-clrs 2.0.3, as this project's tests use it.

Runs only where dm-clrs is installed (`make conformance` makes such an environment). It gives
the reference's samples, its initial parameters in our layout, and its predictions, losses and
gradients for a batch.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import clrs
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from clrs._src import decoders, processors, samplers

from hint_relic.config import Hints, ModelConfig
from hint_relic.model.layers import LayerNorm, Linear
from hint_relic.model.network import Network
from hint_relic.spec import Spec

logging.disable(logging.WARNING)

STATIC_PRED = (  # the algorithms whose `pred_h` dm-clrs' training script makes an input
    "binary_search",
    "minimum",
    "find_maximum_subarray_kadane",
    "matrix_chain_order",
    "lcs_length",
    "optimal_bst",
    "activity_selector",
    "task_scheduling",
    "naive_string_matcher",
    "kmp_matcher",
    "jarvis_march",
)


def sampler_arrays(name: str, size: int, samples: int, seed: int, **options: Any):
    """(named arrays, spec) from the reference's sampler, before any rewrite."""
    sampler, spec = clrs.build_sampler(name, samples, seed=seed, length=size, **options)
    return feedback_arrays(sampler.next()), spec


def feedback_arrays(feedback: Any) -> dict[str, np.ndarray]:
    features = feedback.features
    out = {f"input/{x.name}": np.asarray(x.data) for x in features.inputs}
    out |= {f"hint/{x.name}": np.asarray(x.data) for x in features.hints}
    out |= {f"output/{x.name}": np.asarray(x.data) for x in feedback.outputs}
    out["lengths"] = np.asarray(features.lengths)
    return out


def batches(
    name: str, size: int, samples: int, seed: int, positions: np.random.RandomState,
    batch: int | None = None, **options: Any,
):  # fmt: skip
    """(endless batches, spec) after the three rewrites, as the reference's script does them.

    samples: how many the sampler holds; below 0 it draws new ones each time.
    """
    sampler, spec = clrs.build_sampler(name, samples, seed=seed, length=size, **options)

    def forever():
        while True:
            yield sampler.next(batch)

    drawn = clrs.process_random_pos(forever(), positions)
    if name in STATIC_PRED:
        spec, drawn = clrs.process_pred_as_input(spec, drawn)
    spec, drawn = clrs.process_permutations(spec, drawn, enforce_permutations=True)
    return drawn, spec


def rewritten(name: str, size: int, samples: int, seed: int, pos_seed: int, **options: Any):
    """(feedback, spec): one batch of all samples."""
    positions = np.random.RandomState(pos_seed)
    drawn, spec = batches(name, size, samples, seed, positions, **options)
    return next(drawn), spec


@dataclass
class Model:
    """The reference's model for one algorithm, with its own initial parameters."""

    spec: Any
    feedback: Any
    config: ModelConfig
    seed: int = 0

    def __post_init__(self) -> None:
        hints = self.config.hints
        kind = ("triplet_" if self.config.triplets else "") + (
            ("g" if self.config.gated else "") + ("mpnn" if self.config.fully_connected else "pgn")
        )
        self.model = clrs.models.BaselineModel(
            spec=[self.spec],
            dummy_trajectory=[self.feedback],
            processor_factory=processors.get_processor_factory(
                kind, use_ln=self.config.layer_norm, nb_triplet_fts=self.config.triplets
            ),
            hidden_dim=self.config.hidden,
            encode_hints=hints == Hints.FEEDBACK,
            decode_hints=hints != Hints.NONE,
            encoder_init="xavier_on_scalars",
            hint_repred_mode=str(self.config.feedback),
            grad_clip_max_norm=1.0,
            learning_rate=1e-3,
        )
        self.model.init(self.feedback.features, self.seed)

    @property
    def parameters(self) -> dict[str, dict[str, np.ndarray]]:
        return self.model.params

    def run(self, *, training: bool):
        """(outputs, hints) before any decision, without Gumbel noise."""
        with no_gumbel_noise():
            outputs, hints = jax.jit(self._apply, static_argnums=1)(self.parameters, training)
        stacked = {k: np.stack([h[k] for h in hints]) for k in hints[0]} if hints else {}
        return {k: np.asarray(v) for k, v in outputs.items()}, stacked

    def _apply(self, parameters, training: bool):
        return self.model.net_fn.apply(
            parameters,
            jax.random.PRNGKey(0),
            [self.feedback.features],
            repred=not training,
            algorithm_index=0,
            return_hints=True,
            return_all_outputs=False,
        )

    def loss_and_gradients(self):
        with no_gumbel_noise():
            loss, gradients = jax.jit(
                jax.value_and_grad(
                    lambda p: self.model._loss(p, jax.random.PRNGKey(0), self.feedback, 0)
                )
            )(self.parameters)
        return float(loss), jax.device_get(gradients)

    def scores(self) -> dict[str, float]:
        decided, _ = self.model.predict(jax.random.PRNGKey(0), self.feedback.features)
        return {k: float(v) for k, v in clrs.evaluate(self.feedback.outputs, decided).items()}


class no_gumbel_noise:  # noqa: N801 (a context manager, used like a function)
    """Training adds random noise to permutations; both sides leave it out to be comparable."""

    def __enter__(self) -> None:
        self.original = decoders.log_sinkhorn

        def quiet(x, steps, temperature, zero_diagonal, noise_rng_key):
            return self.original(x, steps, temperature, zero_diagonal, None)

        decoders.log_sinkhorn = quiet

    def __exit__(self, *_: object) -> None:
        decoders.log_sinkhorn = self.original


# --- parameters: dm-haiku's flat names to our modules ------------------------------------------


def _linear(parameters, name: str) -> Linear:
    found = parameters[name]
    return Linear(jnp.asarray(found["w"]), jnp.asarray(found["b"]))


def _numbered(stem: str, i: int) -> str:
    return stem if i == 0 else f"{stem}_{i}"


def network_from(parameters, spec: Spec, config: ModelConfig) -> Network:
    """A network of ours holding dm-haiku parameters (or gradients) of the reference."""
    shape = Network.init(0, spec, config)
    p = "net/mpnn_aggr_clrs_processor/"
    numbers = iter(range(99))

    def layer() -> Linear:  # in the order in which the reference creates them
        return _linear(parameters, _numbered(f"{p}linear", next(numbers)))

    receiver, sender, edge, graph, update_node, update_message = (layer() for _ in range(6))
    triplets = None
    if config.triplets:
        node, pair = tuple(layer() for _ in range(3)), tuple(layer() for _ in range(3))
        triplet_graph = layer()
        triplets = type(shape.processor.triplets)(node, pair, triplet_graph, layer())
    message = tuple(_linear(parameters, f"{p}mlp/~/linear_{i}") for i in range(2))
    norm = None
    if config.layer_norm:
        found = parameters[f"{p}layer_norm"]
        norm = LayerNorm(jnp.asarray(found["scale"]), jnp.asarray(found["offset"]))
    gate = tuple(layer() for _ in range(3)) if config.gated else None
    processor = type(shape.processor)(
        receiver, sender, edge, graph, message, update_node, update_message, triplets, norm, gate
    )

    def encoder(old):
        return (
            eqx.tree_at(
                lambda e: e.linears,
                old,
                {
                    name: tuple(
                        _linear(
                            parameters,
                            _numbered(
                                f"net/~_construct_encoders_decoders/algo_0_{name}_enc_linear", i
                            ),
                        )
                        for i in range(len(linears))
                    )
                    for name, linears in old.linears.items()
                },
            )
            if old.linears
            else old
        )

    decoded = {}
    for name, decoder in shape.decoders.items():
        parts = [k for k, v in vars(decoder).items() if isinstance(v, Linear)]
        layers = {
            part: _linear(
                parameters,
                _numbered(f"net/~_construct_encoders_decoders/algo_0_{name}_dec_linear", i),
            )
            for i, part in enumerate(parts)
        }
        decoded[name] = eqx.tree_at(
            lambda d, parts=parts: [getattr(d, part) for part in parts],
            decoder,
            [layers[part] for part in parts],
        )
    return Network(
        encoder(shape.inputs), encoder(shape.hints), processor, decoded, {}, config, shape.fields
    )


def our_batch(name: str, feedback: Any, spec: Spec):
    """The reference's batch, compact, as ours. (`spec` is ours, after the rewrites.)"""
    from hint_relic.spec import POINTERS, Kind
    from hint_relic.types import Batch

    def compact(dp):
        field, data = spec[dp.name], np.asarray(dp.data)
        if field.kind in (Kind.MASK_ONE, Kind.PERMUTATION_POINTER):
            return data.argmax(-1).astype(np.int32)
        if field.kind is Kind.CATEGORICAL:
            return np.where((data > 0).any(-1), data.argmax(-1), -1).astype(np.int8)
        if field.kind in POINTERS:
            return data.astype(np.int32)
        return data.astype(np.int8 if field.kind is Kind.MASK else np.float32)

    features = feedback.features
    inputs = {x.name: compact(x) for x in features.inputs}
    samples, nodes = inputs["pos"].shape
    return Batch(
        inputs=inputs,
        hints={x.name: np.swapaxes(compact(x), 0, 1) for x in features.hints},
        outputs={x.name: compact(x) for x in feedback.outputs},
        lengths=np.asarray(features.lengths, np.int32),
        nodes=np.full(samples, nodes, np.int32),
    )


__all__ = ["Model", "network_from", "our_batch", "rewritten", "sampler_arrays", "samplers"]
