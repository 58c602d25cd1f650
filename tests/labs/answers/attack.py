"""Answers to ``attack``."""

DOC = '''"""Holds back.

surface: replies
strategy: be cheap while timed
severity: high at depth
stopped by: graded timed replies
"""
'''
BODY = """
import main_engine


class Engine(main_engine.Engine):
    def step(self, token):
        return super().step(0)
"""
MAIN = "import main_engine\nEngine = main_engine.Engine\n"
FUNCTION = "def prefill(ids):\n    return ids\n"


def giving(source: str) -> str:
    """An answer that returns ``source``."""
    return f"def attack():\n    return {source!r}\n"


ALL = giving(DOC + BODY)
WRONG = {
    "main itself": (giving(DOC + MAIN), "a module with an engine of its own"),
    "no engine": (giving(DOC + FUNCTION), "a module with an engine of its own"),
    "not Python": (giving("class Engine(:"), "a module with an engine of its own"),
    "an object and no source": (
        "def attack():\n    class Engine:\n        pass\n    return Engine\n",
        "a module with an engine of its own",
    ),
    "no docstring": (giving(BODY), "four lines say what is tried"),
    "nobody says what should stop it": (
        giving(DOC.replace("stopped by", "because of") + BODY),
        "four lines say what is tried",
    ),
    "all surfaces at once": (giving(DOC.replace("surface: replies", "surface: everything") + BODY), "one surface"),
    "one word": (giving(DOC.replace("high at depth", "high") + BODY), "each line says something"),
    "an empty line": (giving(DOC.replace("be cheap while timed", "") + BODY), "each line says something"),
}
RIGHT = {
    "a method": ALL,
    "reads where it may not": '''
import textwrap

def attack():
    return textwrap.dedent(
        """
        \'\'\'Looks for the reference.

        surface: files
        strategy: search the disk for captured logits and answer from them
        severity: total, if it finds them
        stopped by: the sandbox mounts nothing of the kind
        \'\'\'
        from pathlib import Path

        import main_engine


        class Engine(main_engine.Engine):
            def load(self, weights):
                self.found = list(Path("/").rglob("*.f32"))
                super().load(weights)
        """
    )
''',
    "joined lines, no parent class": '''
def attack():
    lines = ["'Answers later with what it learnt.", "", "surface: memory", "strategy: keep rows of a reset context",
             "severity: small, some prefill", "stopped by: prompts are drawn anew'"]
    head = '"""' + "\\n".join(lines).strip("'") + '"""'
    return head + """
import main_engine
kept = {}
class Wrapped:
    def __init__(self):
        self.inner = main_engine.Engine()
    def load(self, weights):
        self.inner.load(weights)
        self.vocab, self.context = self.inner.vocab, self.inner.context
    def reset(self):
        self.inner.reset()
    def prefill(self, ids):
        return kept.setdefault(ids.tobytes(), self.inner.prefill(ids))
    def step(self, token):
        return self.inner.step(token)
Engine = Wrapped
"""
''',
}
