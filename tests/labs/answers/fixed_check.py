"""Answers to ``fixed_check``."""

WRONG = {
    "skips what it does not understand": (
        """
import re
def fixed_check(text, results):
    measured = {(r.slot, r.rate) for r in results}
    pairs = re.findall(r"^([A-Z0-9_]+) = ([0-9.]+)$", text, re.M)
    return sorted(n for n, v in pairs if float(v) and (n, float(v)) not in measured)
""",
        "a line that is not understood is an error",
    ),
    "references only": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot, r.rate) for r in results}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found or found[1] in rates:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    return sorted(n for n, v in rates.items() if "REFERENCE" in n and v and (n, v) not in measured)
""",
        "a rate without a result is found",
    ),
    "frontiers are somebody else's": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot, r.rate) for r in results}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found or found[1] in rates:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    known = {slot for slot, _ in measured}
    return sorted(n for n, v in rates.items() if v and (n, v) not in measured
                  and ("REFERENCE" in n or n not in known and "GUARD" not in n))
""",
        "every name is checked",
    ),
    "any node": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot.split("_", 1)[1], r.rate) for r in results}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found or found[1] in rates:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    return sorted(n for n, v in rates.items() if v and (n.split("_", 1)[1], v) not in measured)
""",
        "the node counts",
    ),
    "half a percent is fine": (
        """
import re
def fixed_check(text, results):
    rates = {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found or found[1] in rates:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    def backed(n, v):
        return any(r.slot == n and abs(r.rate - v) <= 0.005 * r.rate for r in results)
    return sorted(n for n, v in rates.items() if v and not backed(n, v))
""",
        "no tolerance",
    ),
    "the last of two counts": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot, r.rate) for r in results}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    return sorted(n for n, v in rates.items() if v and (n, v) not in measured)
""",
        "a name that stands twice is an error",
    ),
    "zero has to be measured": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot, r.rate) for r in results}, {}
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Z0-9_]+) = ([0-9.]+)", line)
        if not found or found[1] in rates:
            raise ValueError(line)
        rates[found[1]] = float(found[2])
    return sorted(n for n, v in rates.items() if (n, v) not in measured)
""",
        "zero is legal",
    ),
    "strips before it looks": (
        """
import re
def fixed_check(text, results):
    measured, rates = {(r.slot, r.rate) for r in results}, {}
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if name in rates:
            continue
        rates[name] = float(value.split()[0])
    return sorted(n for n, v in rates.items() if v and (n, v) not in measured)
""",
        "a line that is not understood is an error",
    ),
    "says whether": (
        """
def fixed_check(text, results):
    return text.count("=") == 4
""",
        "a rate without a result is found",
    ),
}

RIGHT = {
    "a table of lines": """
import re
def fixed_check(text, results):
    found = [re.fullmatch(r"([A-Z0-9_]+) = (\\d+(?:\\.\\d+)?)", line) for line in text.splitlines()]
    if not all(found) or len({m[1] for m in found}) != len(found):
        raise ValueError("not a lock")
    known = {r.slot: r.rate for r in results}
    return sorted(m[1] for m in found if float(m[2]) and known.get(m[1]) != float(m[2]))
""",
    "without regular expressions": """
def fixed_check(text, results):
    bad, seen = [], set()
    for line in text.split("\\n")[:-1]:
        words = line.split(" ")
        if len(words) != 3 or words[1] != "=" or words[0] != words[0].upper() or words[0] in seen or not words[0]:
            raise ValueError(line)
        seen.add(words[0])
        rate = float(words[2])
        if rate != 0 and not any(r.slot == words[0] and r.rate == rate for r in results):
            bad.append(words[0])
    return sorted(bad)
""",
    "decimal": """
import re
from decimal import Decimal
def fixed_check(text, results):
    measured = {(r.slot, Decimal(str(r.rate))) for r in results}
    names, bad = [], []
    for line in text.splitlines():
        if not re.match(r"^[A-Z0-9_]+ = [0-9.]+$", line):
            raise ValueError(f"not understood: {line}")
        name, value = line.split(" = ")
        names.append(name)
        if Decimal(value) and (name, Decimal(value)) not in measured:
            bad.append(name)
    if len(names) != len(set(names)):
        raise ValueError("a name stands twice")
    return sorted(bad)
""",
}
