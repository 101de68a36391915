"""Failing calls as test cases: how one is kept, and what a replay of it says.

Owns the cases' form and their redaction. Does no I/O.
"""
