"""Answers to ``check_provenance``."""

HEAD = """
import hashlib
def check_provenance(lock, rows):
    bad = []
    for slot, value in lock.items():
        if value["rate_utps"] == 0:
            continue
        row = rows.get(value.get("row"))
"""
TAIL = """
            bad.append(slot)
    return sorted(bad)
"""
DIGEST = 'hashlib.sha256(row["evidence"]).hexdigest() == row["sha256"]'
SLOT, VALUE, SEALED = 'row["slot"] == slot', 'row["rate_utps"] == value["rate_utps"]', 'row["sealed"]'


def answer(*conditions: str) -> str:
    """An answer that backs a rate by these conditions."""
    return HEAD + f"        if not (row is not None and {' and '.join(conditions)}):" + TAIL


WRONG = {
    "any row of that number": (HEAD + "        if row is None:" + TAIL, "the whole slot counts"),
    "no look at the slot": (answer(VALUE, SEALED, DIGEST), "the whole slot counts"),
    "the node is not compared": (
        answer('row["slot"].split("/")[2:] == slot.split("/")[2:]', VALUE, SEALED, DIGEST),
        "the whole slot counts",
    ),
    "the context is not compared": (
        answer('row["slot"].split("/")[:3] == slot.split("/")[:3]', VALUE, SEALED, DIGEST),
        "the whole slot counts",
    ),
    "no look at the value": (answer(SLOT, SEALED, DIGEST), "the value is that of its row"),
    "near enough": (
        answer(SLOT, 'abs(row["rate_utps"] - value["rate_utps"]) < 1000', SEALED, DIGEST),
        "the value is that of its row",
    ),
    "attested will do": (answer(SLOT, VALUE, DIGEST), "only a sealed row backs a rate"),
    "the digest is believed": (answer(SLOT, VALUE, SEALED), "edited evidence backs nothing"),
    "zero needs a row": (
        """
import hashlib
def check_provenance(lock, rows):
    bad = []
    for slot, value in lock.items():
        row = rows.get(value.get("row"))
        if row is None or row["slot"] != slot or row["rate_utps"] != value["rate_utps"]:
            bad.append(slot)
    return sorted(bad)
""",
        "zero is legal",
    ),
    "some row has that rate": (
        """
import hashlib
def check_provenance(lock, rows):
    good = {(row["slot"], row["rate_utps"]) for row in rows.values() if row["sealed"]}
    return sorted(s for s, v in lock.items() if v["rate_utps"] and (s, v["rate_utps"]) not in good)
""",
        "a rate without its row is found",
    ),
    "says whether": (
        """
def check_provenance(lock, rows):
    return all(value.get("row") in rows for value in lock.values())
""",
        "a rate without its row is found",
    ),
}

RIGHT = {
    "one condition": answer(SLOT, VALUE, SEALED, DIGEST),
    "a set of what is backed": """
import hashlib
def check_provenance(lock, rows):
    backed = set()
    for number, row in rows.items():
        if row["sealed"] and hashlib.sha256(row["evidence"]).hexdigest() == row["sha256"]:
            backed.add((row["slot"], number, row["rate_utps"]))
    return sorted(
        slot for slot, value in lock.items()
        if value["rate_utps"] and (slot, value.get("row"), value["rate_utps"]) not in backed
    )
""",
    "early continues": """
import hashlib
def check_provenance(lock, rows):
    problems = []
    for slot in sorted(lock):
        rate, number = lock[slot]["rate_utps"], lock[slot].get("row", None)
        if rate == 0:
            continue
        if number in rows:
            row = rows[number]
            digest = hashlib.new("sha256", row["evidence"]).hexdigest()
            if (row["slot"], row["rate_utps"], row["sealed"], row["sha256"]) == (slot, rate, True, digest):
                continue
        problems.append(slot)
    return problems
""",
}
