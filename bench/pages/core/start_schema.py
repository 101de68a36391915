"""The smallest page with a tool whose schema is given. Runs in the page."""

# ruff: noqa: F704, PLE1142

from pedelec import Pedelec, define_tool

session = await Pedelec().create_session(
    tools=[
        define_tool(
            name="echo",
            description="Give the arguments back.",
            args_schema={
                "type": "object",
                "properties": {"n": {"type": "integer"}, "text": {"type": "string"}},
                "required": ["n", "text"],
            },
            handler=lambda args: args,
        )
    ]
)
print("thread", session.session_id)
