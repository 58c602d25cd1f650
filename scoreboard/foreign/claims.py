"""What an engine says of its own speed, and the runs that someone else timed, read strictly. Pure.

The file is written by whoever ran the engine; a metric is whatever has a rate of its own, such as decode and prefill:

    {"format": "scoreboard claims v1",
     "metrics": {"decode": {
         "short": {"tokens": 8, "ns": [33250000000, 33490000000, 33310000000, 33270000000, 33400000000]},
         "long": {"tokens": 2056, "ns": 141870000000},
         "claim": {"tokens_per_second": 18.88, "ms_per_token": 52.97},
         "reference_tokens_per_second": 18.44}}}

``ns`` is the wall time of a whole run, by the clock of the process that started the engine; ``tokens`` are those that
arrived, counted there. Short and long runs differ in nothing but their tokens. The claim is the engine's, for the
long run; a reference of 0 says that there is none. Numbers are read as exact decimals.

``llama-bench -o json`` has claims as well: one test with ``n_gen`` alone is decode, one with ``n_prompt`` alone is
prefill. The first of its samples is a warm-up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..bounds import Claim, Window, jitter_ns
from ..errors import MalformedInput
from ..model import AXIS, Metric
from ..noise import median
from ..parse import decode
from .quantities import MICRO, rate_up, read_exact

CLAIMS_FORMAT = "scoreboard claims v1"
NS_PER_MS = 10**6


@dataclass(frozen=True)
class Metered:
    """One metric, timed from outside. The short run counts with the median of its times."""

    window: Window
    short_runs: int
    jitter_ns: int
    claim: Claim
    reference_utps: int | None


@dataclass(frozen=True)
class _Short:
    tokens: Fraction
    ns: tuple[Fraction, ...]


@dataclass(frozen=True)
class _Long:
    tokens: Fraction
    ns: Fraction


@dataclass(frozen=True)
class _Claim:
    tokens_per_second: Fraction
    ms_per_token: Fraction


@dataclass(frozen=True)
class _Metric:
    short: _Short
    long: _Long
    reference_tokens_per_second: Fraction
    claim: _Claim | None = None


@dataclass(frozen=True)
class _File:
    format: str
    metrics: dict[str, _Metric]


def read_claims(data: bytes, what: str, bench: Mapping[str, Claim] | None = None) -> dict[str, Metered]:
    """Every metric of the file, its claim from ``bench`` where that is given. MalformedInput names the place."""
    table = decode(_File, read_exact(data, what), what)
    if table.format != CLAIMS_FORMAT:
        raise MalformedInput(f"{what}.format", f"{table.format!r} is not {CLAIMS_FORMAT!r}")
    if not table.metrics:
        raise MalformedInput(f"{what}.metrics", "is empty; every metric that is scored has its own bound")
    return {name: _metered(name, metric, f"{what}.metrics.{name}", bench) for name, metric in table.metrics.items()}


def read_llama_bench(data: bytes, what: str) -> dict[str, Claim]:
    """The claims of ``llama-bench -o json`` by metric. MalformedInput where a metric has more than one test."""
    tests = read_exact(data, what)
    if not isinstance(tests, list):
        raise MalformedInput(what, "expected a list of tests, as `llama-bench -o json` writes it")
    found: dict[str, Claim] = {}
    for index, test in enumerate(tests):
        path = f"{what}[{index}]"
        prompt, generated = (_whole(_field(test, name, path), f"{path}.{name}") for name in ("n_prompt", "n_gen"))
        if (prompt > 0) == (generated > 0):
            raise MalformedInput(path, f"n_prompt {prompt} and n_gen {generated}; one of them has to be 0")
        name = Metric.DECODE.value if generated else Metric.PREFILL.value
        if name in found:
            raise MalformedInput(path, f"a second test of {name}; run llama-bench with one length of each")
        found[name] = _benched(test, prompt + generated, path)
    return found


def _metered(name: str, metric: _Metric, path: str, bench: Mapping[str, Claim] | None) -> Metered:
    if not AXIS.fullmatch(name):
        raise MalformedInput(path, f"{name!r} is not made of a-z 0-9 _ . -")
    runs = sorted(_positive(ns, f"{path}.short.ns[{i}]") for i, ns in enumerate(metric.short.ns))
    try:
        jitter = jitter_ns(runs)
    except MalformedInput as error:
        raise MalformedInput(f"{path}.short.ns", error.problem) from None
    window = Window(
        tokens_short=_whole(metric.short.tokens, f"{path}.short.tokens"),
        tokens_long=_whole(metric.long.tokens, f"{path}.long.tokens"),
        ns_short=median(runs),
        ns_long=_positive(metric.long.ns, f"{path}.long.ns"),
    )
    if not window.tokens_long > window.tokens_short:
        problem = f"{window.tokens_long} is not above the {window.tokens_short} of the short run"
        raise MalformedInput(f"{path}.long.tokens", problem)
    reference = rate_up(metric.reference_tokens_per_second, f"{path}.reference_tokens_per_second")
    return Metered(window, len(runs), jitter, _claim(name, metric, path, bench), reference)


def _claim(name: str, metric: _Metric, path: str, bench: Mapping[str, Claim] | None) -> Claim:
    if bench is None:
        if metric.claim is None:
            raise MalformedInput(f"{path}.claim", "missing; state it, or give --llama-bench")
        rate, time = metric.claim.tokens_per_second, metric.claim.ms_per_token
        return Claim(round(rate * MICRO), round(time * NS_PER_MS))
    if metric.claim is not None:
        raise MalformedInput(f"{path}.claim", "stands here and in --llama-bench; keep one")
    if name not in bench:
        raise MalformedInput(path, f"--llama-bench has no test of it; it has {', '.join(sorted(bench)) or 'none'}")
    return bench[name]


def _benched(test: Any, tokens: int, path: str) -> Claim:
    """Mean of the rates and mean of the times, as two claims, without the first sample."""
    means = {}
    for name in ("samples_ts", "samples_ns"):
        samples = _field(test, name, path)
        if not (isinstance(samples, list) and len(samples) > 1):
            raise MalformedInput(f"{path}.{name}", "expected two samples or more, the first a warm-up; use -r 5")
        counted = [_number(sample, f"{path}.{name}[{i}]") for i, sample in enumerate(samples)][1:]
        means[name] = sum(counted, Fraction(0)) / len(counted)
    return Claim(round(means["samples_ts"] * MICRO), round(means["samples_ns"] / tokens))


def _field(test: Any, name: str, path: str) -> Any:
    if not isinstance(test, dict) or name not in test:
        raise MalformedInput(f"{path}.{name}", "missing")
    return test[name]


def _number(value: Any, path: str) -> Fraction:
    if isinstance(value, Fraction):
        return value
    raise MalformedInput(path, f"expected a number, found {value!r}")


def _whole(value: Any, path: str) -> int:
    number = _number(value, path)
    if number.denominator == 1 and number >= 0:
        return number.numerator
    raise MalformedInput(path, f"{float(number)} is not a whole number from 0")


def _positive(value: Fraction, path: str) -> int:
    number = _whole(value, path)
    if number > 0:
        return number
    raise MalformedInput(path, "a run takes longer than 0 ns")
