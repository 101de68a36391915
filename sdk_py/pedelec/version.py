"""The SDK's version, written once for the page (reading package metadata there costs a start)."""

__version__ = "0.1.0"
