"""Run one training cell from a JSON file: no command-line library, only what training needs.

    python -m hint_relic.worker CONFIG.json --out RUN

CONFIG.json holds `TrainConfig`'s names and values; those of the variant are the defaults.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .config import TrainConfig, from_dict, to_dict
from .errors import UserError, explain
from .files import read_json
from .variants import preset


def read_config(path: Path) -> TrainConfig:
    """A config file, on top of the settings of the variant that it names."""
    try:
        values = read_json(path, follow=True)
    except FileNotFoundError:
        raise UserError(f"can't read {path}: there is no such file") from None
    if not isinstance(values, dict):
        raise UserError(f"{path} must hold an object of names and values")
    variant, algorithm = values.get("variant", "baseline"), values.get("algorithm", "")
    base = to_dict(preset(str(variant), str(algorithm)))
    return from_dict(TrainConfig, merged(base, values))


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` on top of `base`, object by object."""
    out = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merged(out[key], value) if both else value
    return out


def say(record: dict[str, Any]) -> None:
    """One line for each record."""
    print(json.dumps(record, default=float), flush=True)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hint_relic.worker", description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--restart", action="store_true")
    options = parser.parse_args(argv)
    try:
        config = read_config(options.config)
        from .train.loop import train

        say(train(config, options.out, restart=options.restart, report=say))
    except (UserError, MemoryError, OSError) as error:
        print(f"hint-relic: error: {explain(error)}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
