"""From raw nanoseconds to the figures that the decision sees. Pure; integers in, integers out."""

from collections.abc import Mapping, Sequence

from .evidence import ArmRun, Block, Calibration, Carried, Purpose, Rows, Stat
from .model import Metric
from .noise import BlockStat, block_stat, calibrate, sigma
from .policy import PPM, Basis, Opening, Policy

MICRO = 1_000_000
NS_PER_S = 1_000_000_000


def durations(policy: Policy, block: Block) -> dict[Metric, tuple[Sequence[int], Sequence[int]]]:
    """The paired durations of ``block`` by metric, base first, in nanoseconds, by the policy's clock.

    The prompt counts as a whole: a mean over its chunks could leave out the one in which work was hidden.
    """
    base, candidate = block.base, block.candidate
    decode = (base.steps_ns, candidate.steps_ns)
    if policy.scored.basis is Basis.CPU and base.accounting and candidate.accounting:
        decode = (base.accounting.steps_cpu_ns, candidate.accounting.steps_cpu_ns)
    return {
        Metric.DECODE: decode,
        Metric.PREFILL: ((sum(base.prefill_ns),), (sum(candidate.prefill_ns),)),
        Metric.LOAD: ((base.load_ns,), (candidate.load_ns,)),
    }


def block_stats(policy: Policy, block: Block) -> dict[Metric, BlockStat]:
    """``block`` reduced to trimmed mean, winsorised spread and total of the log ratios, by metric."""
    return {metric: block_stat(base, cand) for metric, (base, cand) in durations(policy, block).items()}


def calibration_stats(policy: Policy, blocks: Sequence[Block]) -> dict[str, tuple[Stat, ...]]:
    """The A/A blocks of a noise row, by metric, each with the sigma that they imply for themselves."""
    by_metric: dict[Metric, list[BlockStat]] = {metric: [] for metric in Metric}
    for block in blocks:
        for metric, stat in block_stats(policy, block).items():
            by_metric[metric].append(stat)
    return {metric.value: _with_sigma(stats, stats) for metric, stats in by_metric.items()}


def scaled_stats(policy: Policy, blocks: Sequence[Block], calibration: Calibration) -> list[dict[str, Stat]]:
    """Each block's figures by metric, with the sigma that ``calibration`` gives it."""
    reference = {metric: _plain(calibration.stats[metric.value]) for metric in Metric}
    result = []
    for block in blocks:
        figures = block_stats(policy, block)
        result.append({m.value: _with_sigma([figures[m]], reference[m])[0] for m in Metric})
    return result


def carried_stats(carried: Sequence[Carried]) -> list[tuple[Purpose, Mapping[str, Stat]]]:
    """The blocks of earlier rounds in the order in which they were measured."""
    return [(block.purpose, block.stats) for row in carried for block in row.blocks]


def plain(stat: Stat) -> BlockStat:
    """The block figures without the scale."""
    return BlockStat(stat.d_nanologs, stat.s_nanologs, stat.total_nanologs)


def rate_utps(tokens: int, elapsed_ns: int) -> int:
    """``tokens`` over ``elapsed_ns`` in micro-tokens per second, rounded down."""
    return tokens * MICRO * NS_PER_S // elapsed_ns


def decoded(arm: ArmRun, tokens_per_step: int) -> tuple[int, int]:
    """Tokens decoded inside timed windows, and the wall time of those windows in nanoseconds."""
    return len(arm.steps_ns) * tokens_per_step, sum(arm.steps_ns)


def measured_as(policy: Policy) -> str:
    """How a rate is measured under ``policy``. Two rates with the same words were measured the same way."""
    scored = policy.scored
    prompt = f"ids dealt in chunks of {scored.prefill_chunk}"
    if scored.prompt is Opening.SEEK:
        prompt = "a seeded cache instead of a prompt"
    return (
        f"{scored.metric.value} at {scored.context}: {prompt}, "
        f"{scored.warm_steps} warm steps, blocks of {scored.rounds} rounds, steps of {scored.step_ms} ms or more, "
        "tokens over the sum of step times, wall clock of the parent"
    )


def mean_exceeds(rows: Rows, bar_nanonats: int) -> bool:
    """Whether the mean divergence is above the bar, exactly."""
    return sum(rows.kl_nanonats) > bar_nanonats * len(rows.kl_nanonats)


def mean_nanonats(rows: Rows) -> int:
    """Mean divergence, rounded up."""
    return -(-sum(rows.kl_nanonats) // len(rows.kl_nanonats))


def cell_means(rows: Rows, passage: int) -> list[int]:
    """Mean divergence of each ``passage`` rows in turn, rounded up: of each region that a sweep repeats."""
    kl = rows.kl_nanonats
    parts = [kl[start : start + passage] for start in range(0, len(kl), passage)]
    return [-(-sum(part) // len(part)) for part in parts]


def top1_ppm(rows: Rows, near_tie_nanonats: int, *, count_near_ties: bool) -> int:
    """Share of rows whose first choice agrees, rounded down; a near tie is no miss unless told otherwise."""
    misses = sum(1 for _, gap in rows.misses if count_near_ties or gap > near_tie_nanonats)
    return (len(rows.kl_nanonats) - misses) * PPM // len(rows.kl_nanonats)


def share_over_ppm(rows: Rows, bar_nanonats: int) -> int:
    """Share of rows whose divergence is above the bar, rounded up."""
    over = sum(1 for kl in rows.kl_nanonats if kl > bar_nanonats)
    return -(-over * PPM // len(rows.kl_nanonats))


def _plain(stats: Sequence[Stat]) -> list[BlockStat]:
    return [plain(stat) for stat in stats]


def _with_sigma(stats: Sequence[BlockStat], reference: Sequence[BlockStat]) -> tuple[Stat, ...]:
    scale = calibrate(reference)
    return tuple(Stat(s.d_nanologs, s.s_nanologs, s.total_nanologs, sigma(scale, s.s_nanologs)) for s in stats)
