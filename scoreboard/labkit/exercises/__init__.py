"""The exercises: each module holds one, as ``EXERCISE``."""
