"""Core as an MCP server: the tools of open pages, for any MCP client.

`door` is what the rest of Core uses; it loads everything else, and the MCP SDK, when the first client comes.
"""
