"""Pedelec Core: the native process between pages and agents."""

__version__ = "0.1.0"
