"""Start commands quickly, many times: a process that has imported everything and forks.

Read by `crash.py`: a line of JSON (the arguments, and a file for what is printed) on standard
input starts a command; its process id comes back on standard output, and its exit status when it
has ended, however it ends. JAX starts no threads before its first computation, which is made in
the forked process only.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress


def main() -> None:
    import jax

    import hint_relic.cli
    import hint_relic.data.export
    import hint_relic.grid.run
    import hint_relic.train.loop

    warnings.filterwarnings("ignore", message="os.fork")
    assert not jax._src.xla_bridge.backends_are_initialized()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for stream in (1, 2):
                os.dup2(log, stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os._exit(hint_relic.cli.main(request["arguments"]))
        with suppress(OSError):  # the child does that too; who is first wins
            os.setpgid(child, child)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
