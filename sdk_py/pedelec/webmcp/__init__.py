"""WebMCP, the browser's own door for tools (`document.modelContext`), in both directions.

    descriptors   what a tool is called there and here: names, schemas, hints
    answers       what a call's outcome is there and here
    claims        which session a name belongs to
    outbound      a session's tools, registered with the browser
    inbound       the browser's tools, offered to Core

No JavaScript here: the browser's side is `host.ModelContext`. Loaded when a page asks for it.
"""
