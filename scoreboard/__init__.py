"""A performance gate for inference engines that resists gaming.

Copy this folder into an engine's repository; nothing else is needed. See README.md beside this file.
"""

__version__ = "0.1.0"
