"""The verbs: each module has ``arguments(parser)`` and the function that answers."""
