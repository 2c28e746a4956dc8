"""Settings for all tests.

With several workers, tests of the same algorithm run on the same one: its kernels take seconds
to compile, and so each worker compiles only its own share of them.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("contracts.oracles", "contracts.runs")

settings.register_profile(
    "repository",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],  # the machine may be busy with other things
)
settings.load_profile("repository")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadgroup"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = getattr(item, "callspec", None) and item.callspec.params.get("name")
        if isinstance(name, str):
            item.add_marker(pytest.mark.xdist_group(name))
