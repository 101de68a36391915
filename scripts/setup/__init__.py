"""Prepare a checkout on a fresh machine, step by step; a step that was interrupted is done again.

Owns the virtual environment, the order of the steps and what they print. Standard library only: it runs
before anything is installed. How a bundle is made is `pedelec_core.runtime`'s, how a browser is found is
`scripts.browsers`'.
"""
