"""Facts that other harnesses sealed, judged by the same checks."""
