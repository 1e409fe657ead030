"""What runs in a fresh process: one call whose peak memory is read. Prints one JSON object.

    python -m bench.child NAME SOURCE TO FILE     NAME: a floor, a peer, `sendable`, or `objects same`

A fresh process, because peak memory never goes down again, and because `getrusage` hands a child the peak of the parent that
started it: on Linux the peak is therefore read from `VmHWM`, which begins anew with the program.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench import candidates, histories


def peak_memory(name: str, source: Any, to: Any, path: str) -> dict[str, int]:
    small = histories.events(20)
    warm = histories.encoded(histories.chat(small) if source == "openai-chat" else histories.anthropic(small))
    data = Path(path).read_bytes()
    call: Callable[[Any], object]
    given: Any = data
    if name == "objects same":
        from sendable import normalize

        call = partial(normalize, to=to, share=True)
        call(json.loads(warm))
        given = json.loads(data)
    else:
        floors = {c.name: c.call for c in candidates.FLOORS}
        if name in floors:
            call = floors[name]
        elif name == "sendable":
            call = candidates.ours(to)
        else:  # only now: what a peer imports would stand in the memory of the others too
            call = {c.name: c.call for c in candidates.peers(source, to)}[name]
        call(warm)
    gc.collect()
    before = peak_kib(reset=True)
    kept = call(given)
    resident = (peak_kib() - before) * 1024
    del kept
    return {"resident": resident, "input": len(data)}


def peak_kib(*, reset: bool = False) -> int:
    """The peak so far; with `reset`, the memory held now, from which the peak begins anew where the system can do that."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["VmHWM"].split()[0])
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak


if __name__ == "__main__":
    print(json.dumps(peak_memory(*sys.argv[1:])))
