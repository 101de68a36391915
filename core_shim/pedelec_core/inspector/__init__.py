"""What `<pedelec-inspector>` gets to see: a page's tools, the lives of its calls, and calls of its own.

The element itself is in `static/`; it runs in pages, and Core serves it.
"""
