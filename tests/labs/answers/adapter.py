"""Answers to ``adapter``."""

HEAD = """
import numpy as np

def adapter(net):
    class Engine:
        def load(self, weights):
            self.net = net(weights)
            self.vocab, self.context = self.net.symbols, self.net.limit
            self.reset()

        def reset(self):
            self.state = self.net.blank()
"""
STEP = """
        def step(self, token):
            self.state, scores = self.net.feed(self.state, token)
            return np.array(scores, dtype=np.float32)
"""
PREFILL = """
        def prefill(self, ids):
            for token in ids:
                row = self.step(int(token))
            return row
"""
END = """
    return Engine()
"""
WRONG = {
    "a row for each id": (
        HEAD
        + STEP
        + """
        def prefill(self, ids):
            return np.stack([self.step(int(token)) for token in ids])
"""
        + END,
        "prefill gives the row after its last id",
    ),
    "the row before the last id": (
        HEAD
        + STEP
        + """
        def prefill(self, ids):
            rows = [self.step(int(token)) for token in ids]
            return rows[-2] if len(rows) > 1 else rows[0]
"""
        + END,
        "prefill gives the row after its last id",
    ),
    "the last id alone": (
        HEAD
        + STEP
        + """
        def prefill(self, ids):
            return self.step(int(ids[-1]))
"""
        + END,
        "prefill gives the row after its last id",
    ),
    "the state is thrown away": (
        HEAD
        + """
        def step(self, token):
            _, scores = self.net.feed(self.state, token)
            return np.array(scores, np.float32)

        def prefill(self, ids):
            state = self.state
            for token in ids:
                state, scores = self.net.feed(state, int(token))
            return np.array(scores, np.float32)
"""
        + END,
        "step goes on from there",
    ),
    "prefill starts afresh": (
        HEAD
        + STEP
        + """
        def prefill(self, ids):
            self.reset()
            return [self.step(int(token)) for token in ids][-1]
"""
        + END,
        "prompts come in pieces",
    ),
    "reset does nothing": (
        (HEAD + STEP + PREFILL + END).replace(
            "            self.state = self.net.blank()",
            "            self.state = getattr(self, 'state', self.net.blank())",
        ),
        "reset forgets",
    ),
    "sizes from somewhere else": (
        (HEAD + STEP + PREFILL + END).replace("self.net.symbols, self.net.limit", "64, 4096"),
        "vocab and context",
    ),
    "float64": (
        (HEAD + STEP + PREFILL + END).replace("dtype=np.float32", "dtype=np.float64"),
        "float32, an array for each reply",
    ),
    "a list": (
        (HEAD + STEP + PREFILL + END).replace("return np.array(scores, dtype=np.float32)", "return scores"),
        "float32, an array for each reply",
    ),
    "one buffer for all replies": (
        HEAD
        + """
            self.row = np.zeros(self.net.symbols, np.float32)

        def step(self, token):
            self.state, self.row[:] = self.net.feed(self.state, token)
            return self.row
"""
        + PREFILL
        + END,
        "float32, an array for each reply",
    ),
}
RIGHT = {
    "one class": HEAD + STEP + PREFILL + END,
    "prefill first": (
        HEAD
        + """
        def prefill(self, ids):
            scores = ()
            for token in ids.tolist():
                self.state, scores = self.net.feed(self.state, token)
            return np.fromiter(scores, np.float32)

        def step(self, token):
            return self.prefill(np.array([token]))
"""
        + END
    ),
    "it remembers ids, not states": """
from types import SimpleNamespace

import numpy as np

def adapter(net):
    engine = SimpleNamespace(ids=[])

    def load(weights):
        engine.net = net(weights)
        engine.vocab, engine.context = engine.net.symbols, engine.net.limit

    def reset():
        engine.ids.clear()

    def prefill(ids):
        engine.ids.extend(int(token) for token in ids)
        state = engine.net.blank()
        for token in engine.ids:
            state, scores = engine.net.feed(state, token)
        return np.asarray(scores).astype("float32")

    engine.load, engine.reset, engine.prefill = load, reset, prefill
    engine.step = lambda token: prefill([token])
    return engine
""",
}
