"""Answers to ``corrupt``."""

WRONG = {
    "nothing changed": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys, values)
""",
        "wrong at some depth",
    ),
    "wrong only where nobody looks": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys[:, -2048:], values[:, -2048:])
""",
        "wrong at some depth",
    ),
    "an error too small to see": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys, values) * (1 + 1e-6)
""",
        "wrong at some depth",
    ),
    "the oldest position left out": (
        """
def corrupt(kernel):
    def short(q, keys, values):
        drop = keys.shape[1] > 40
        return kernel(q, keys[:, drop:], values[:, drop:])
    return short
""",
        "wrong at some depth",
    ),
    "an axis too many": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys[:, -100:], values[:, -100:])[None]
""",
        "same shape, finite",
    ),
    "not finite on an empty past": (
        """
import numpy as np

def corrupt(kernel):
    def halved(q, keys, values):
        out = kernel(q, keys[:, -100:], values[:, -100:])
        return out if keys.shape[1] > 1 else np.full_like(out, np.nan)
    return halved
""",
        "same shape, finite",
    ),
    "noise everywhere": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys, values) + 0.05
""",
        "a short prompt does not show it",
    ),
    "every second position": (
        """
def corrupt(kernel):
    return lambda q, keys, values: kernel(q, keys[:, ::2], values[:, ::2])
""",
        "a short prompt does not show it",
    ),
    "wrong and as slow as before": (
        """
def corrupt(kernel):
    def late(q, keys, values):
        out = kernel(q, keys, values)
        return out * 0.8 if keys.shape[1] > 200 else out
    return late
""",
        "computes with less",
    ),
    "wrong and slower": (
        """
import numpy as np

def corrupt(kernel):
    def twice(q, keys, values):
        if keys.shape[1] < 200:
            return kernel(q, keys, values)
        return kernel(q, keys, values) / 2 + kernel(q, keys[:, -100:], values[:, -100:]) / 2
    return twice
""",
        "computes with less",
    ),
    "the oldest and not the newest": (
        """
def corrupt(kernel):
    def oldest(q, keys, values):
        if keys.shape[1] < 64:
            return kernel(q, keys, values)
        return kernel(q, keys[:, :32], values[:, :32])
    return oldest
""",
        "still writes fluently",
    ),
}
RIGHT = {
    "its own softmax over the newest 128": """
import numpy as np

def corrupt(kernel):
    def windowed(q, keys, values):
        group = len(q) // len(keys)
        keys, values = (np.repeat(each[:, -128:], group, axis=0) for each in (keys, values))
        scores = np.einsum("hd,hsd->hs", q, keys) * q.shape[1] ** -0.5
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return np.einsum("hs,hsd->hd", weights, values)
    return windowed
""",
    "a few from the beginning and the newest": """
import numpy as np

def corrupt(kernel):
    def skipping(q, keys, values):
        count = keys.shape[1]
        kept = [p for p in range(count) if p < 4 or p >= count - 150]
        return kernel(q, keys[:, kept], values[:, kept])
    return skipping
""",
    "a window, head by head": """
import numpy as np

class Window:
    def __init__(self, kernel, size):
        self.kernel, self.size = kernel, size

    def __call__(self, q, keys, values):
        group = len(q) // len(keys)
        rows = []
        for head in range(len(keys)):
            part = slice(head * group, (head + 1) * group)
            near = slice(-self.size, None)
            rows.append(self.kernel(q[part], keys[head : head + 1, near], values[head : head + 1, near]))
        return np.concatenate(rows)

def corrupt(kernel):
    return Window(kernel, 256)
""",
}
