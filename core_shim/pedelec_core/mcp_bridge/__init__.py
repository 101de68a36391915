"""`pedelec-core mcp`: MCP over stdio, bridged to the running Core.

Starts fast and stays small: the MCP server is Core's own, and lines are passed on. Only while Core is away is
the MCP SDK loaded, to answer in its place (`offline`).
"""
