"""A recorded config against the settings of its variant: what differs, and the command for it."""

from __future__ import annotations

import shlex
from functools import cache
from typing import Any

from ..config import TrainConfig, to_dict
from ..errors import UserError
from ..variants import preset

# How often a run reports and what it reports besides: these don't change what is learned.
# The numbers of updates and seeds do, and are told apart.
REPORTING = {
    "steps", "seeds", "first_seed", "report_every", "validate_every", "checkpoint_every",
    "validation_samples", "validation_sizes", "test_every",
}  # fmt: skip


def differences(config: dict[str, Any]) -> dict[str, Any]:
    """Dotted name -> value, for each setting that is not what its variant sets."""
    base = _usual(str(config.get("variant")), str(config.get("algorithm")))
    return {
        name: value
        for name, value in _flat(config).items()
        if name not in ("format", "algorithm", "variant")
        and (name not in base or base[name] != value)
    }


@cache
def _usual(variant: str, algorithm: str) -> dict[str, Any]:
    """What a variant sets for an algorithm; for an unknown one, the defaults."""
    try:
        return _flat(to_dict(preset(variant, algorithm)))
    except UserError:
        return _flat(to_dict(TrainConfig()))


def other_settings(config: dict[str, Any]) -> dict[str, Any]:
    """Those of the differences that change what is learned."""
    return {k: v for k, v in differences(config).items() if k not in REPORTING}


def command(config: dict[str, Any]) -> str | None:
    """The command that trains with a recorded config."""
    if not isinstance(config.get("algorithm"), str) or not isinstance(config.get("variant"), str):
        return None
    words = ["hint-relic", "train", config["algorithm"], "--variant", config["variant"]]
    for name, value in differences(config).items():
        words += _flag(name.replace("_", "-"), value)
    return shlex.join(words)


def _flag(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        parent, dot, last = name.rpartition(".")
        return [f"--{name}" if value else f"--{parent}{dot}no-{last}"]
    values = value if isinstance(value, list) else [value]
    return [f"--{name}", *(str(item) for item in values)]


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            out |= _flat(value, f"{prefix}{name}.")
        else:
            out[f"{prefix}{name}"] = value
    return out
