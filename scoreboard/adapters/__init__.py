"""Formats and foreign engines: what stands between the protocol and an engine."""
