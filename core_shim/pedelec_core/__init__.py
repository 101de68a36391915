"""Pedelec Core: the native process between pages and agents."""
