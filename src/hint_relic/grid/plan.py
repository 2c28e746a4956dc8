"""Which cells a grid has: by default those of the paper's tables. No JAX here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..config import TrainConfig, from_dict, to_dict
from ..errors import UserError, choose
from ..paper import scores
from ..variants import VARIANTS, preset
from ..worker import merged


def plan(
    algorithms: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    settings: dict[str, Any] | None = None,
) -> list[TrainConfig]:
    """The settings of each cell, refused as a whole if one of them can't be trained.

    algorithms, variants: default to the paper's. An algorithm without views is left out of the
    variants that need them, unless both lists were given: then that is an error.
    settings: names and values as in a config file, for all cells.
    """
    from ..algorithms import ALGORITHMS

    for fixed in ("algorithm", "variant"):
        if fixed in (settings or {}):
            raise UserError(f"{fixed} is not a setting of a whole grid: use --{fixed}s")
    both = algorithms is not None and variants is not None
    wanted = [
        (choose("algorithm", algorithm, ALGORITHMS), choose("variant", variant, VARIANTS))
        for algorithm in _unique("algorithms", algorithms, _paper(0))
        for variant in _unique("variants", variants, _paper(1))
    ]
    configs = []
    for algorithm, variant in wanted:
        base = merged(to_dict(preset(variant, algorithm)), settings or {})
        config = from_dict(TrainConfig, base | {"algorithm": algorithm})
        if not both and not has_views(config):
            continue
        check(config)
        configs.append(config)
    if not configs:
        raise UserError("no cell is left: these algorithms have no views for these variants")
    return configs


def _paper(part: int) -> list[str]:
    """The algorithms (0) or the variants (1) of the paper's tables, in their order."""
    return list(dict.fromkeys(key[part] for key in scores()))


def _unique(kind: str, given: Sequence[str] | None, default: list[str]) -> list[str]:
    if given is None:
        return default
    twice = [name for name in given if list(given).count(name) > 1]
    if twice:
        raise UserError(f"{twice[0]} is given twice in --{kind}")
    return list(given)


def has_views(config: TrainConfig) -> bool:
    """Whether the views a cell needs can be made."""
    if not config.objective.needs_views:
        return True
    from ..algorithms import get
    from ..augment import check_views

    try:
        check_views(get(config.algorithm), config.view, (), 0)
    except UserError:
        return False
    return True


def check(config: TrainConfig) -> None:
    """Refuse what could not be trained, as training itself would, but without JAX."""
    from ..data import Protocol, Stream

    config.check()
    Stream(
        Protocol.training(config.algorithm, keep_static_hints=config.keep_static_hints),
        sizes=config.sizes,
        batch_size=config.batch_size,
        seeds=config.seed_list,
        view=config.view if config.objective.needs_views else None,
    ).close()
