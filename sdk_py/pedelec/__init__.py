"""Pedelec for Python: the SDK that runs in the page."""
