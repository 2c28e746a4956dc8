"""A loop over steps that ends when the longest sample does.

`jax.lax.scan` runs as many steps as its arrays have room for. Samples differ in length and room
is made for the longest of thousands, so most of its last steps would be for nobody. This loop
runs the steps that somebody needs, and can be differentiated all the same: the forward pass
keeps the state before each step, the backward pass runs the step again. That is faster than to
store and read back everything that a step makes, on a GPU and on a CPU. What is small and costly
to make again can be kept, too: `noted`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Int

Step = Callable[[Any, Array], tuple[Any, Any]]  # (state, t) -> (state, observed)
Numbers = dict[int, Array]
_NOTED = "noted by a step"


def noted(x: Array) -> Array:
    """x, which the backward pass remembers instead of computing it again; not differentiated."""
    return checkpoint_name(jax.lax.stop_gradient(x), _NOTED)


@jax.custom_batching.custom_vmap
def longest(steps: Int[Array, ""]) -> Int[Array, ""]:
    """The largest number of steps among all samples that are mapped over, one number for all."""
    return steps


@longest.def_vmap
def _longest_of_many(size: int, mapped: list[bool], steps: Array) -> tuple[Array, bool]:
    return longest(steps.max() if mapped[0] else steps), False


def loop(
    step: Step,
    start: Any,
    first: Int[Array, ""],
    end: Int[Array, ""],
    room: int,
    *,
    add_up: bool = False,
) -> tuple[Any, Any]:
    """(the last state, what each step observed, stacked; zeros where there was no step).

    first: the step that `start` stands before; end: the one to stop before; room: for how many
    steps to keep what they observe, and what their derivatives need. Where there is neither, more
    steps can be taken than there is room for. add_up: what steps observe is added up, not stacked.
    """
    # All that `step` reads from its surroundings becomes an argument, to be differentiated.
    program, shapes = jax.make_jaxpr(step, return_shape=True)(start, jnp.zeros((), jnp.int32))
    numbers: Numbers = {}
    others: Numbers = {}
    for i, value in enumerate(map(jnp.asarray, program.consts)):
        (numbers if jnp.issubdtype(value.dtype, jnp.floating) else others)[i] = value
    explicit = _Explicit(program.jaxpr, jax.tree.structure(shapes))
    kept = _Sum(shapes[1]) if add_up else _Stack(shapes[1], room)
    return _loop(explicit, room, kept, numbers, others, start, (longest(first), longest(end)))


class _Explicit:
    """A step with all that it reads as arguments, and with what it notes as a result or given."""

    def __init__(self, jaxpr: Any, structure: Any):
        self._structure = structure
        notes = {id(x): x for x in jaxpr.eqns if x.params.get("name") == _NOTED}
        noted = [x.outvars[0] for x in notes.values()]
        self.notes = [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in noted]
        self._first = jaxpr.replace(outvars=[*jaxpr.outvars, *noted])
        rest = [x for x in jaxpr.eqns if id(x) not in notes]
        self._again = jaxpr.replace(invars=[*jaxpr.invars, *noted], eqns=rest)

    def first(self, numbers: Numbers, others: Numbers, state: Any, t: Array) -> tuple[Any, Any]:
        """((state, observed), what was noted)"""
        out = self._run(self._first, numbers | others, state, t)
        results = self._structure.num_leaves
        return jax.tree.unflatten(self._structure, out[:results]), out[results:]

    def again(self, numbers: Numbers, others: Numbers, state: Any, t: Array, notes: Any) -> Any:
        """(state, observed)"""
        out = self._run(self._again, numbers | others, state, t, *notes)
        return jax.tree.unflatten(self._structure, out)

    @staticmethod
    def _run(jaxpr: Any, around: Numbers, state: Any, *more: Array) -> list[Any]:
        read = [around[i] for i in range(len(around))]
        return jax.core.eval_jaxpr(jaxpr, read, *jax.tree.leaves(state), *more)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _loop(explicit, room, kept, numbers, others, start, span):
    return _forward(explicit, room, kept, numbers, others, start, span)[0]


def _forward(explicit, room, kept, numbers, others, start, span):
    def body(at):
        t, state, seen_before, before = at
        (after, seen), notes = explicit.first(numbers, others, state, t)
        return t + 1, after, kept.add(seen_before, seen, t), _put(before, (state, notes), t)

    begin = span[0], start, kept.nothing(), _blank((start, explicit.notes), room)
    _, last, seen, before = jax.lax.while_loop(lambda at: at[0] < span[1], body, begin)
    return (last, kept.all_of(seen)), (numbers, others, before, span)


def _backward(explicit, room, kept, needed, wanted):
    numbers, others, before, span = needed
    of_last, of_seen = wanted

    flat, unravel = ravel_pytree(numbers)

    def body(at):
        t, of_state, of_numbers = at
        state, notes = _row(before, t - 1)
        once = lambda n, state: explicit.again(n, others, state, t - 1, notes)  # noqa: E731
        pull = jax.vjp(once, numbers, state)[1]
        more, of_state = pull((of_state, kept.at(of_seen, t - 1)))
        return t - 1, of_state, of_numbers + ravel_pytree(more)[0]  # one sum, not one for each

    begin = span[1], of_last, jnp.zeros_like(flat)
    _, of_start, of_flat = jax.lax.while_loop(lambda at: at[0] > span[0], body, begin)
    of_numbers = unravel(of_flat)
    nothing = jax.tree.map(lambda x: np.zeros(x.shape, jax.dtypes.float0), (others, span))
    return of_numbers, nothing[0], of_start, nothing[1]


_loop.defvjp(_forward, _backward)


class _Stack:
    """What steps observe, stacked."""

    def __init__(self, observed: Any, room: int):
        self.observed, self.room = observed, room

    def nothing(self) -> Any:
        return _blank(self.observed, self.room)

    def add(self, stack: Any, seen: Any, t: Array) -> Any:
        return _put(stack, seen, t)

    def all_of(self, stack: Any) -> Any:
        return stack

    def at(self, of_stack: Any, t: Array) -> Any:
        """What is wanted of step t's."""
        return _row(of_stack, t)


class _Sum:
    """What steps observe, added up: as one vector, since one sum costs less than many."""

    def __init__(self, observed: Any):
        self.observed = observed

    def _zeros(self) -> tuple[Array, Callable[[Array], Any]]:
        zeros = jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), self.observed)
        return ravel_pytree(zeros)

    def nothing(self) -> Array:
        return self._zeros()[0]

    def add(self, total: Array, seen: Any, t: Array) -> Array:
        return total + ravel_pytree(seen)[0]

    def all_of(self, total: Array) -> Any:
        return self._zeros()[1](total)

    def at(self, of_total: Any, t: Array) -> Any:
        return of_total


def _blank(rows: Any, room: int) -> Any:
    return jax.tree.map(lambda x: jnp.zeros((room, *x.shape), x.dtype), rows)


def _put(stack: Any, row: Any, t: Array) -> Any:
    return jax.tree.map(lambda s, r: _writer(0)(s, r, t), stack, row)


def _writer(axis: int) -> Callable[[Array, Array, Array], Array]:
    """What writes row t of a stack, along an axis.

    Mapped over samples and seeds it stays one write at one place; JAX would make a scatter of it,
    which on a GPU no other kernel can take in.
    """

    @jax.custom_batching.custom_vmap
    def write(stack: Array, row: Array, t: Array) -> Array:
        return jax.lax.dynamic_update_index_in_dim(stack, row, t, axis)

    @write.def_vmap
    def _(size: int, mapped: list[bool], stack: Array, row: Array, t: Array) -> tuple[Array, bool]:
        # t is one for all that is mapped over: `longest`
        stack = stack if mapped[0] else jnp.broadcast_to(stack, (size, *stack.shape))
        row = row if mapped[1] else jnp.broadcast_to(row, (size, *row.shape))
        return _writer(axis + 1)(stack, row, t), True

    return write


def _row(stack: Any, t: Array) -> Any:
    return jax.tree.map(lambda s: jax.lax.dynamic_index_in_dim(s, t, 0, keepdims=False), stack)
