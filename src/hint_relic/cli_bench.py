"""The command that measures training on the user's own machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

from .config import TrainConfig
from .terminal import Flag, console, option, print_json, progress

USUAL = "bfs,insertion_sort,heapsort,floyd_warshall"


@dataclass(frozen=True)
class Bench:
    """Time training updates on this machine, beside what arithmetic alone would take."""

    algorithms: Annotated[str, option("NAME,NAME,...")] = USUAL
    """the algorithms, as in `hint-relic algorithms`"""
    variants: Annotated[str, option("NAME,NAME,...")] = "baseline"
    """the variants, as in `hint-relic train`"""
    seeds: Annotated[int, option("N")] = 3
    """networks side by side"""
    size: Annotated[int, option("N")] = 16
    """number of items or nodes"""
    hidden: Annotated[int, option("H")] = 128
    """width of the network"""
    seconds: Annotated[float, option("S")] = 10.0
    """how long to repeat each measurement, at least three times"""
    json: Flag = False
    """print JSON instead of a table"""


def bench(options: Bench) -> None:
    from .algorithms import get
    from .train.programs import use_graphs

    names = [get(word.strip()).name for word in options.algorithms.split(",")]
    configs = [c for name in names for c in wanted(options, name)]
    for config in configs:
        config.check()
    use_graphs()
    import jax

    from .bench import measure, multiply_rate

    rows = []
    with progress() as bar:
        rate = multiply_rate()
        for config in bar.track(configs, description="compiling and timing"):
            rows.append(row(measure(config, budget_s=options.seconds), rate))
    device = jax.devices()[0]
    facts = {
        "device": device.device_kind,
        "platform": device.platform,
        "jax": jax.__version__,
        "tflop_per_s": rate / 1e12,
        "size": options.size,
        "batch": configs[0].batch_size,
    }
    if options.json:
        print_json({**facts, "rows": rows})
    else:
        console().print(table(facts, rows))


def wanted(options: Bench, name: str) -> list[TrainConfig]:
    from .variants import preset

    found = []
    for word in options.variants.split(","):
        config = preset(word.strip(), name)
        model = replace(config.model, hidden=options.hidden)
        found.append(replace(config, seeds=options.seeds, sizes=(options.size,), model=model))
    return found


def row(cost: Any, rate: float) -> dict[str, Any]:
    limit_s = cost.flop / rate
    return {
        **cost._asdict(),
        "update_s_per_seed": cost.update_s / cost.seeds,
        "limit_s": limit_s,
        "share_of_limit": limit_s / cost.update_s,
    }


def table(facts: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    out = Table(
        title=f"one update, n = {facts['size']}, batch {facts['batch']}, on {facts['device']} "
        f"({facts['tflop_per_s']:.2g} TFLOP/s in large products)"
    )
    names = ("algorithm", "variant", "seeds", "steps", "ms", "ms per seed", "limit, ms", "reached",
             "compile, s", "memory, MB")  # fmt: skip
    for name in names:
        left = name in ("algorithm", "variant")
        out.add_column(name, justify="left" if left else "right", no_wrap=True)
    for r in rows:
        out.add_row(
            r["algorithm"],
            r["variant"],
            str(r["seeds"]),
            str(r["steps"]),
            f"{1e3 * r['update_s']:.1f}",
            f"{1e3 * r['update_s_per_seed']:.1f}",
            f"{1e3 * r['limit_s']:.2f}",
            f"{100 * r['share_of_limit']:.1f} %",
            f"{r['compile_s']:.1f}",
            f"{r['device_mb'] or r['process_mb']:.0f}",
        )
    return out
