"""Answers to ``judge_attack``."""

WRONG = {
    "the wrong way round": (
        """
def judge_attack(honest, broken, attack):
    if attack == "accepted":
        return "stopped"
    return "got through"
""",
        "accepted got through, rejected is stopped",
    ),
    "an honest build has to be accepted": (
        """
def judge_attack(honest, broken, attack):
    if honest != "accepted" or broken != "rejected":
        return "suite invalid"
    return {"accepted": "got through", "rejected": "stopped", "review": "stopped", "invalid": "no answer"}.get(
        attack, "gained nothing"
    )
""",
        "accepted got through, rejected is stopped",
    ),
    "review is through": (
        """
def judge_attack(honest, broken, attack):
    if honest in ("rejected", "review", "invalid") or broken != "rejected":
        return "suite invalid"
    if attack in ("accepted", "review"):
        return "got through"
    return "stopped" if attack == "rejected" else "gained nothing"
""",
        "review is stopped too",
    ),
    "whatever is not accepted is stopped": (
        """
def judge_attack(honest, broken, attack):
    if honest in ("rejected", "review", "invalid") or broken != "rejected":
        return "suite invalid"
    return "got through" if attack == "accepted" else "stopped"
""",
        "no gain is no break",
    ),
    "invalid is stopped": (
        """
def judge_attack(honest, broken, attack):
    if honest in ("rejected", "review", "invalid") or broken != "rejected":
        return "suite invalid"
    if attack == "accepted":
        return "got through"
    return "stopped" if attack in ("rejected", "review", "invalid") else "gained nothing"
""",
        "an invalid run answers nothing",
    ),
    "no controls": (
        """
def judge_attack(honest, broken, attack):
    words = {"accepted": "got through", "rejected": "stopped", "review": "stopped", "invalid": "no answer"}
    return words.get(attack, "gained nothing")
""",
        "the broken control has to be rejected",
    ),
    "the attack first": (
        """
def judge_attack(honest, broken, attack):
    if attack == "rejected":
        return "stopped"
    if honest in ("rejected", "review", "invalid") or broken != "rejected":
        return "suite invalid"
    words = {"accepted": "got through", "review": "stopped", "invalid": "no answer"}
    return words.get(attack, "gained nothing")
""",
        "the broken control has to be rejected",
    ),
    "only not accepted": (
        """
def judge_attack(honest, broken, attack):
    if honest in ("rejected", "review", "invalid") or broken == "accepted":
        return "suite invalid"
    words = {"accepted": "got through", "rejected": "stopped", "review": "stopped", "invalid": "no answer"}
    return words.get(attack, "gained nothing")
""",
        "the broken control has to be rejected",
    ),
    "one control is enough": (
        """
def judge_attack(honest, broken, attack):
    if broken != "rejected":
        return "suite invalid"
    words = {"accepted": "got through", "rejected": "stopped", "review": "stopped", "invalid": "no answer"}
    return words.get(attack, "gained nothing")
""",
        "the honest control has to be let be",
    ),
}
RIGHT = {
    "branches": """
def judge_attack(honest, broken, attack):
    if broken != "rejected":
        return "suite invalid"
    if honest == "rejected" or honest == "review" or honest == "invalid":
        return "suite invalid"
    if attack == "accepted":
        return "got through"
    if attack == "none" or attack == "inconclusive":
        return "gained nothing"
    if attack == "invalid":
        return "no answer"
    return "stopped"
""",
    "match": """
def judge_attack(honest, broken, attack):
    match honest, broken, attack:
        case ("rejected" | "review" | "invalid"), _, _:
            return "suite invalid"
        case _, "rejected", "accepted":
            return "got through"
        case _, "rejected", "none" | "inconclusive":
            return "gained nothing"
        case _, "rejected", "invalid":
            return "no answer"
        case _, "rejected", _:
            return "stopped"
    return "suite invalid"
""",
    "sets and a table": """
def judge_attack(honest, broken, attack):
    controls_hold = {honest} <= {"accepted", "none", "inconclusive"} and broken == "rejected"
    table = dict(accepted="got through", none="gained nothing", inconclusive="gained nothing", invalid="no answer")
    return table.get(attack, "stopped") if controls_hold else "suite invalid"
""",
}
