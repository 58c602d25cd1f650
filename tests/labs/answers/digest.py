"""Answers to ``digest``."""

WRONG = {
    "the text of the array": (
        """
import hashlib
def digest(logits):
    return hashlib.sha256(str(logits).encode()).hexdigest()
""",
        "the bytes of a small array",
    ),
    "another hash": (
        """
import hashlib, numpy as np
def digest(logits):
    return hashlib.md5(np.ascontiguousarray(logits, "<f4").tobytes()).hexdigest()
""",
        "the bytes of a small array",
    ),
    "the bytes as they lie": (
        """
import hashlib
def digest(logits):
    return hashlib.sha256(logits.tobytes()).hexdigest()
""",
        "one type, one byte order",
    ),
    "the first rows only": (
        """
import hashlib, numpy as np
def digest(logits):
    return hashlib.sha256(np.ascontiguousarray(logits[:32], "<f4").tobytes()).hexdigest()
""",
        "every row counts",
    ),
    "rounded first": (
        """
import hashlib, numpy as np
def digest(logits):
    rounded = np.round(np.asarray(logits, np.float32), 6) if np.all(logits == 0) else logits
    return hashlib.sha256(np.ascontiguousarray(np.where(rounded == 0, 0, rounded), "<f4").tobytes()).hexdigest()
""",
        "every bit counts",
    ),
    "column after column": (
        """
import hashlib, numpy as np
def digest(logits):
    return hashlib.sha256(np.asarray(logits, "<f4").tobytes(order="A")).hexdigest()
""",
        "the layout in memory does not matter",
    ),
    "sixteen digits": (
        """
import hashlib, numpy as np
def digest(logits):
    return hashlib.sha256(np.ascontiguousarray(logits, "<f4").tobytes()).hexdigest()[:16]
""",
        "the bytes of a small array",
    ),
    "bytes, not hex": (
        """
import hashlib, numpy as np
def digest(logits):
    return hashlib.sha256(np.ascontiguousarray(logits, "<f4").tobytes()).digest()
""",
        "the bytes of a small array",
    ),
}

RIGHT = {
    "row after row": """
import hashlib, numpy as np
def digest(logits):
    hashed = hashlib.sha256()
    for row in logits:
        hashed.update(row.astype("<f4").tobytes())
    return hashed.hexdigest()
""",
    "struct": """
import hashlib, struct
def digest(logits):
    values = [float(x) for row in logits for x in row]
    return hashlib.sha256(struct.pack(f"<{len(values)}f", *values)).hexdigest()
""",
    "numpy's copy": """
import hashlib, numpy as np
def digest(logits):
    return hashlib.new("sha256", np.array(logits, dtype="<f4", order="C", copy=True).data).hexdigest()
""",
}
