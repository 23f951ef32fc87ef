"""The name of the machine, which results are saved with."""

from __future__ import annotations

import os
from pathlib import Path


def machine() -> str:
    """Return the name of the processor, its widest instructions for integers, and its cores."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    known = {name.strip(): value.strip() for name, value in facts.items()}
    flags = known.get("flags", "").split()
    kinds = [each for each in ("avx2", "avx_vnni", "avx512_vnni", "amx_int8") if each in flags]
    name = known.get("model name", "unknown processor")
    return ", ".join([name, *kinds, f"{os.cpu_count()} cores"])
