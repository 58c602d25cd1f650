"""The record as one page."""
