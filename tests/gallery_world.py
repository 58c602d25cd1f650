"""Changed kernels run live on the shipped model, for tests: the gallery's, and some that no gallery has."""

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fixture_engines import CANDIDATES, FIXTURES, MAIN

from scoreboard.site import bench_at, open_site
from scoreboard.suites.corruptions import Judged, corruptions
from scoreboard.suites.gallery import Entry, load_gallery, parse_entry

GALLERY = CANDIDATES / "gallery"
ENTRIES = {entry.name: entry for entry in load_gallery(GALLERY)}
SEED = bytes(range(32))
CHOSEN = ("clean_kv16", "kv_prefix_plus1", "kv_stale_chunk_row", "mask_last_tile", "q8_scale_last_1mat", "kv_q8")
KEYS = ("kind: fault", "shows from: never", "caught by: nothing", "fluent: yes", "passed by: none")
SLIGHT = "\n".join(
    (
        '"""The reciprocal root of RMSNorm is 0.03 % too small.',
        "",
        *KEYS,
        '"""',
        "import kernels",
        "import main_engine",
        "",
        "def rms_norm(x, gain, epsilon):",
        "    return kernels.rms_norm(x, gain, epsilon) * x.dtype.type(0.9997)",
        "",
        "main_engine.rms_norm = rms_norm",
        "Engine = main_engine.Engine",
        "",
    )
)


def judged(
    policy: Path, entries: tuple[Entry, ...], *, gallery: Path = GALLERY, seed: bytes = SEED
) -> Iterator[Judged]:
    """What the gate makes of ``entries`` under a policy file."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        site = open_site(policy, FIXTURES / "reference.lock", work / "ledger")
        with bench_at(site, lambda _: None) as runner:
            yield from corruptions(site, runner, entries, gallery, MAIN, seed, work)


@cache
def small_gallery() -> dict[str, Judged]:
    """A few entries, and a slight fault of no gallery, at depths up to 1,024."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        (work / "policy.toml").write_text(small_policy())
        for name in CHOSEN:
            (work / f"{name}.py").write_bytes((GALLERY / f"{name}.py").read_bytes())
        (work / "slight.py").write_text(SLIGHT)
        chosen = (*(ENTRIES[name] for name in CHOSEN), parse_entry("slight", SLIGHT, "slight"))
        return {each.entry.name: each for each in judged(work / "policy.toml", chosen, gallery=work)}


def small_policy() -> str:
    """The demo's policy without the deeper places of the screen."""
    text = (FIXTURES / "demo.toml").read_text()
    text = text.replace("[4, 128, 256, 512, 1024, 2048, 4096]", "[4, 128, 256, 512, 1024]")
    return text.replace("cells = 16", "cells = 8")
