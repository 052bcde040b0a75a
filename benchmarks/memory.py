"""Peak memory of an audit against the number of images: it should not grow. `python benchmarks/memory.py 1000 20000`"""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import json, resource, sys, time
import numpy as np
import snellen
from snellen.models import from_torch
from snellen.models.zoo import NETWORKS
model = from_torch(NETWORKS["smallnet"](12), size=64, name="smallnet", mean=[0.5]*3, std=[0.25]*3)
began = time.perf_counter()
snellen.audit(model, f"phantom:test?size=64&n={sys.argv[1]}", "interference", quiet=True)
seconds = time.perf_counter() - began
print(json.dumps({"mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "s": seconds}))
"""


def main() -> None:
    for count in [int(a) for a in sys.argv[1:]] or [1000, 20000]:
        shown = subprocess.run([sys.executable, "-c", SCRIPT, str(count)], capture_output=True, text=True, check=True)
        told = json.loads(shown.stdout)
        print(f"{count:,} images of 64 px under 5 cells: peak {told['mb']:,.0f} MB, {told['s']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
