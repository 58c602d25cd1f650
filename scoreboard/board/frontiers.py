"""The frontiers of a board: the builds to beat, where main is, how they fell, and what moves nothing. Pure."""

from collections.abc import Mapping, Sequence

from ..frontier import Claim, Frontier, Regression, Stale, Standing
from ..model import Build, Slot
from .chart import rate_text
from .markup import Html, el, join
from .parts import Column, Line, facts, link, scrolled, short

CLAIMS = (
    Column("Slot"),
    Column("Rows", num=True, wide=True),
    Column("Fastest"),
    Column("Tokens/s", num=True),
    Column("Attested", wide=True),
)


def frontiers(slots: Mapping[Slot, Standing], stale: Mapping[Slot, Stale | None]) -> Html:
    """Frontiers in force, regressions, falls, and the claims that move nothing, each under its own head."""
    held = [standing.frontier for _, standing in sorted(slots.items()) if standing.frontier is not None]
    cards = [_card(frontier, stale) for frontier in held]
    parts = [
        el("div", *cards, class_="cards")
        if cards
        else el("p", "No slot has a frontier: no sealed row is a baseline yet.")
    ]
    parts += [_regression(slot, found.regression) for slot, found in sorted(slots.items()) if found.regression]
    parts += _falls(slots)
    parts += _claims(slots)
    return join(*parts)


def _card(frontier: Frontier, stale: Mapping[Slot, Stale | None]) -> Html:
    head = el("h3", str(frontier.slot))
    peak = None if frontier.peak == frontier.build else join(_build(frontier.peak), ": main is settled against it")
    provenance = facts(
        [
            ("To beat", _build(frontier.build)),
            ("Rate", f"{rate_text(frontier.rate_utps)} tokens/s in that round"),
            ("Made by", join(link(frontier.row), f", {frontier.via.value}, {frontier.attestation.value}")),
            ("Peak", peak),
            ("Main", _main(frontier, stale)),
        ]
    )
    return el("div", head, provenance, class_="card")


def _main(frontier: Frontier, stale: Mapping[Slot, Stale | None]) -> Html | str:
    if frontier.slot not in stale:
        return "not compared"
    found = stale[frontier.slot]
    if found is None:
        return "is the frontier"
    count = found.commits
    behind = "some commits" if count is None else "1 commit" if count == 1 else f"{count} commits"
    word = el("strong", "STALE", class_="word inconclusive")
    return join(word, f": {behind} past it. Run ", el("code", "scoreboard settle"))


def _regression(slot: Slot, found: Regression) -> Html:
    words = f" of {slot}: main ({found.main.name}) was shown to be slower than {found.peak.name} in "
    return el("p", el("strong", "Regression", class_="word rejected"), words, link(found.row), ".")


def _falls(slots: Mapping[Slot, Standing]) -> list[Html]:
    lines = [
        el(
            "li",
            f"{slot}: from {_named(fall.before)} to {_named(fall.after)} in row {fall.by}. {fall.reason}",
        )
        for slot, standing in sorted(slots.items())
        for fall in standing.falls
    ]
    return [el("h3", "Frontiers that fell"), el("ul", *lines)] if lines else []


def _claims(slots: Mapping[Slot, Standing]) -> list[Html]:
    lines = [_claim(slot, s.unattested + s.sideways) for slot, s in sorted(slots.items()) if s.unattested or s.sideways]
    if not lines:
        return []
    caption = "Accepted rows that move no frontier: not sealed, or shown against another build than the frontier"
    return [scrolled(caption, CLAIMS, lines)]


def _claim(slot: Slot, claims: Sequence[Claim]) -> Line:
    best = max(claims, key=lambda claim: claim.rate_utps or 0)
    kinds = sorted({claim.attestation.value for claim in claims})
    return Line(
        (
            str(slot),
            str(len(claims)),
            join(link(best.row), " ", el("code", best.build.name)),
            rate_text(best.rate_utps),
            ", ".join(kinds),
        )
    )


def _named(frontier: Frontier | None) -> str:
    if frontier is None:
        return "nothing"
    rate = "" if frontier.rate_utps is None else f" at {rate_text(frontier.rate_utps)} tokens/s"
    return f"{frontier.build.name}{rate}"


def _build(build: Build) -> Html:
    commit = None if build.commit is None else join(", commit ", short(build.commit))
    return join(build.name, " ", short(build.tree), commit)
