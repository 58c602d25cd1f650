"""The policy: every rule and every bar of a gate in one frozen value, read from one TOML file.

The digest of the file's bytes stands in each row, so an old row can be replayed under its own policy and
re-scored under another. All quantities are integers with their unit in the name: ``_ppm`` parts per million,
``_nanonats`` 1e-9 nats, ``_ms``/``_s`` durations. A key that is missing is an error.
"""

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from .bars import ParityBars, Probes, Ratchet, Residual, within
from .canonical import digest
from .decide import Rule
from .errors import MalformedInput
from .model import Level, Metric, Slot, Tier, parse_slot
from .parse import decode

POLICY_FORMAT = "scoreboard policy v1"
PPM = 1_000_000
MIN_DEPTHS = 5


class Basis(StrEnum):
    """Which clock scores: wall time, or CPU time of the whole sandbox (single-core engines only)."""

    WALL = "wall"
    CPU = "cpu"


class Mode(StrEnum):
    """How a block is made: both builds live and in turn, or one after the other where both do not fit."""

    PAIRED = "paired"
    ALTERNATE = "alternate"


class Opening(StrEnum):
    """How a block comes to the scored context: a prompt dealt in chunks, or the shortcut (:mod:`.shortcut`)."""

    DEALT = "dealt"
    SEEK = "seek"


@dataclass(frozen=True)
class Scored:
    """What is timed: metric and shipped context, how the prompt is dealt, how a block is made."""

    mode: Mode
    prompt: Opening
    metric: Metric
    context: int
    basis: Basis
    prefill_chunk: int
    warm_steps: int
    rounds: int
    step_ms: int

    def __post_init__(self) -> None:
        within("context", self.context, 1, 2**24)
        within("prefill_chunk", self.prefill_chunk, 1, 2**24)
        within("warm_steps", self.warm_steps, 0, self.context - 1)
        within("rounds", self.rounds, 2, 1000)
        within("step_ms", self.step_ms, 0, 10_000)


@dataclass(frozen=True)
class Guard:
    """G1: the candidate must be shown not to be slower than the base by more than this share."""

    margin_ppm: int

    def __post_init__(self) -> None:
        within("margin_ppm", self.margin_ppm, 1, 10 * PPM)


@dataclass(frozen=True)
class Tiers:
    """T1: the gain at which each tier begins; below ``s_ppm`` an accepted gain is xs."""

    s_ppm: int
    m_ppm: int
    l_ppm: int
    xl_ppm: int

    def __post_init__(self) -> None:
        bars = [self.s_ppm, self.m_ppm, self.l_ppm, self.xl_ppm]
        if bars != sorted(set(bars)) or bars[0] < 0:
            raise MalformedInput("s_ppm", f"tier bars {bars} do not rise")

    def bars(self) -> tuple[tuple[Tier, int], ...]:
        """From the largest tier to the smallest, each with the gain at which it begins."""
        return ((Tier.XL, self.xl_ppm), (Tier.L, self.l_ppm), (Tier.M, self.m_ppm), (Tier.S, self.s_ppm))


@dataclass(frozen=True)
class Anchor:
    """The second denominator: is the reference's rate part of the tier? ``reason`` says why, in words."""

    use: bool
    reason: str


@dataclass(frozen=True)
class Health:
    """N1 and block health: what is judged before a block's result is looked at.

    ``spread_max_ppm`` bounds the scatter of the base's steps against the calibrated one, ``level_max_mads`` how
    far its level may be from the calibrated one, in median absolute deviations. ``idle_cpu_max_ppm`` bounds
    the candidate's CPU time outside the timed steps, over the base's, as a share of the base's inside them.
    """

    steal_max_ppm: int
    waiting_max_ppm: int
    idle_cpu_max_ppm: int
    spread_max_ppm: int
    level_max_mads: int
    sick_share_max_ppm: int

    def __post_init__(self) -> None:
        for name in ("steal_max_ppm", "waiting_max_ppm", "idle_cpu_max_ppm", "sick_share_max_ppm"):
            within(name, getattr(self, name), 0, PPM)
        within("spread_max_ppm", self.spread_max_ppm, PPM, 1000 * PPM)
        within("level_max_mads", self.level_max_mads, 1, 10_000)


@dataclass(frozen=True)
class Limits:
    """Bounds on an engine and on a round."""

    load_ms: int
    reply_ms: int
    memory_mib: int
    processes: int
    log_kib: int

    def __post_init__(self) -> None:
        for name in ("load_ms", "reply_ms", "memory_mib", "processes", "log_kib"):
            within(name, getattr(self, name), 1, 10**9)


@dataclass(frozen=True)
class Calibrating:
    """How the noise floor is measured, and for how long it is good."""

    blocks: int
    min_blocks: int
    max_age_s: int

    def __post_init__(self) -> None:
        within("min_blocks", self.min_blocks, 2, 1000)
        within("blocks", self.blocks, self.min_blocks, 1000)
        within("max_age_s", self.max_age_s, 0, 10**9)


@dataclass(frozen=True)
class Building:
    """The compiler of engines that are built: a program, and the first line that it prints for ``--version``."""

    compiler: str
    version: str
    limit_ms: int

    def __post_init__(self) -> None:
        for name in ("compiler", "version"):
            if not getattr(self, name):
                raise MalformedInput(name, "is empty; name what is pinned, or leave [building] out")
        within("limit_ms", self.limit_ms, 1, 10**9)


@dataclass(frozen=True)
class Policy:
    """One gate, whole. ``digest`` is the SHA-256 of the file that it was read from.

    ``residual`` is what the bars were calibrated from; None: they were set by hand.
    """

    format: str
    digest: str
    name: str
    slot: Slot
    scored: Scored
    parity: ParityBars
    probes: Probes
    ratchet: Ratchet
    speed: Rule
    guards: dict[str, Guard]
    tiers: Tiers
    anchor: Anchor
    plausible_max_ppm: int
    least_level: Level
    health: Health
    limits: Limits
    calibration: Calibrating
    libraries: tuple[str, ...]
    diagnostic_speed: bool
    residual: Residual | None = None
    building: Building | None = None

    def __post_init__(self) -> None:
        if self.format != POLICY_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {POLICY_FORMAT!r}")
        if self.slot.context != self.scored.context:
            problem = f"the slot says {self.slot.context}, scored.context says {self.scored.context}"
            raise MalformedInput("slot", f"{problem}; name the slot for the context that is measured")
        if self.slot.metric is not self.scored.metric:
            problem = f"the slot says {self.slot.metric}, scored.metric says {self.scored.metric}"
            raise MalformedInput("slot", problem)
        if self.scored.metric is not Metric.DECODE:
            raise MalformedInput("scored.metric", f"{self.scored.metric} cannot be scored; decode can")
        timed = {metric.value for metric in Metric} - {self.scored.metric.value}
        if self.scored.prompt is Opening.SEEK and Metric.PREFILL.value in self.guards:
            raise MalformedInput(
                "guards.prefill", 'scored.prompt = "seek" deals no prompt; there is no prefill to guard'
            )
        for name in self.guards:
            if name not in timed:
                known = ", ".join(sorted(timed))
                raise MalformedInput(f"guards.{name}", f"not a guarded metric; known: {known}")
        if len(self.parity.depths) < MIN_DEPTHS:
            problem = f"{len(self.parity.depths)} depths; at least {MIN_DEPTHS} are needed"
            raise MalformedInput("parity.depths", problem)
        within("plausible_max_ppm", self.plausible_max_ppm, PPM, 10**12)


def parse_policy(data: bytes, what: str = "policy.toml") -> Policy:
    """Read a policy file. MalformedInput names ``what``, the path of the bad key, its value and the bound."""
    try:
        table = tomllib.loads(data.decode("utf-8"), parse_float=_no_float)
    except MalformedInput as error:
        raise error.within(what) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedInput(what, f"is not TOML ({error})") from None
    if "digest" in table:
        raise MalformedInput(f"{what}.digest", "unknown key; the digest is taken of the file")
    slot = table.get("slot")
    if isinstance(slot, str):
        named = parse_slot(slot, f"{what}.slot")
        table["slot"] = {
            "engine": named.engine,
            "node": named.node,
            "quant": named.quant,
            "context": named.context,
            "metric": named.metric.value,
        }
    elif slot is not None:
        raise MalformedInput(f"{what}.slot", "expected 'engine/node/quant/context/metric'")
    return decode(Policy, {**table, "digest": digest(data)}, what)


def _no_float(text: str) -> NoReturn:
    raise MalformedInput("", f"{text} is not an integer; write quantities as integers in the key's unit")
