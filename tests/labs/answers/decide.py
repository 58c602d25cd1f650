"""Answers to ``decide``."""

WRONG = {
    "speed first": (
        """
def decide(failures, read_speed, significant, tier):
    reading = read_speed()
    if failures:
        return "rejected"
    if reading is None:
        return "invalid"
    word = significant(reading)
    return tier(reading) if word == "faster" else word
""",
        "after a parity failure nobody reads a clock",
    ),
    "correctness last": (
        """
def decide(failures, read_speed, significant, tier):
    reading = read_speed()
    if reading is None:
        return "invalid"
    word = significant(reading)
    size = tier(reading) if word == "faster" else word
    return "rejected" if failures else size
""",
        "after a parity failure nobody reads a clock",
    ),
    "a fast build is forgiven": (
        """
def decide(failures, read_speed, significant, tier):
    reading = read_speed()
    if reading is None:
        return "invalid"
    word = significant(reading)
    if word == "faster":
        return tier(reading)
    return "rejected" if failures else word
""",
        "every answer is given",
    ),
    "reads until it is faster": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    for _ in range(3):
        reading = read_speed()
        if reading is None:
            return "invalid"
        word = significant(reading)
        if word == "faster":
            return tier(reading)
    return word
""",
        "the speed is read once",
    ),
    "asks again for each judge": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    if read_speed() is None:
        return "invalid"
    word = significant(read_speed())
    return tier(read_speed()) if word == "faster" else word
""",
        "the speed is read once",
    ),
    "a busy machine is a rejection": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    reading = read_speed()
    if reading is None:
        return "rejected"
    word = significant(reading)
    return tier(reading) if word == "faster" else word
""",
        "a machine that could not measure says nothing about the candidate",
    ),
    "no reading is not looked for": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    reading = read_speed()
    word = significant(reading)
    return tier(reading) if word == "faster" else word
""",
        "a machine that could not measure says nothing about the candidate",
    ),
    "a tier for everybody": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    reading = read_speed()
    if reading is None:
        return "invalid"
    word, size = significant(reading), tier(reading)
    return size if word == "faster" else word
""",
        "a tier is asked for only after faster",
    ),
    "none for what is not shown": (
        """
def decide(failures, read_speed, significant, tier):
    if failures:
        return "rejected"
    reading = read_speed()
    if reading is None:
        return "invalid"
    return tier(reading) if significant(reading) == "faster" else "none"
""",
        "every answer is given",
    ),
}

RIGHT = {
    "nested": """
def decide(failures, read_speed, significant, tier):
    if not failures:
        reading = read_speed()
        if reading is not None:
            word = significant(reading)
            if word == "faster":
                return tier(reading)
            return word
        return "invalid"
    return "rejected"
""",
    "one line each": """
def decide(failures, read_speed, significant, tier):
    if len(failures) > 0: return "rejected"
    speed = read_speed()
    if speed is None: return "invalid"
    answer = significant(speed)
    if answer != "faster": return answer
    return tier(speed)
""",
    "match": """
def decide(failures, read_speed, significant, tier):
    match failures, (None if failures else read_speed()):
        case [_, *_], _:
            return "rejected"
        case _, None:
            return "invalid"
        case _, reading:
            word = significant(reading)
            return tier(reading) if word == "faster" else word
""",
}
