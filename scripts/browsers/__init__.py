"""Find or install the browsers under test, prove that they start, and remember how to start them.

Names no browser, path or flag: `playwright.config.py` does, and offers this to tests and to the set-up.
"""
