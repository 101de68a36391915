"""The Pyodide bundle: everything a page needs to run Python, in one folder that Core serves from.

Owns where a bundle may lie, how it is made and how it is checked. Serving it is `pedelec_core.server`'s.
"""
