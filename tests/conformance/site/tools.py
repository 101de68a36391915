"""The fixture tools of the MCP conformance suite, as a page's handlers. Runs in the page.

Their names, and what they do, are the suite's: `examples/servers` in its repository.
"""

import asyncio

import js

from pedelec import Pedelec, audio, define_tool, image, mixed, resource

RED_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

NOTHING = {"type": "object", "properties": {}}

JSON_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

client = Pedelec(app_name="Conformance")


def simple_text():
    return "This is a simple text response for testing."


def image_content():
    return image(RED_PIXEL)


def audio_content():
    return audio(SILENCE)


def embedded_resource():
    return resource(
        "test://embedded-resource", text="This is an embedded resource content.", mime_type="text/plain"
    )


def multiple_content_types():
    document = resource(
        "test://mixed-content-resource", text='{"test":"data","value":123}', mime_type="application/json"
    )
    return mixed("Multiple content types test:", image(RED_PIXEL), document)


def error_handling():
    raise RuntimeError("This tool intentionally returns an error for testing")


async def tool_with_progress(args, ctx):
    for done in (0, 50, 100):
        ctx.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "done"


heard = asyncio.Event()


async def progress_until_heard(args, ctx):
    """As `test_tool_with_progress`, but its answer waits until the client has got hold of all of it."""
    heard.clear()
    for done in (0, 50, 100):
        ctx.progress(done, 100, f"Completed step {done} of 100")
    await heard.wait()
    return "done"


async def streaming_elicitation(args, ctx):
    """Streams as the suite's own fixture does; what it asks for it gets from nobody."""
    ctx.progress(1, 2, "half")
    await asyncio.sleep(0.05)
    return "streamed"


def text_field(name, description="Text."):
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description}},
        "required": [name],
    }


async def elicitation(args, ctx):
    fields = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    schema = {"type": "object", "properties": fields, "required": ["username", "email"]}
    return f"User response: {await ctx.ask(args['message'], schema=schema)}"


async def elicitation_defaults(args, ctx):
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    content = await ctx.ask("Who is it?", schema={"type": "object", "properties": fields})
    return f"Elicitation completed: {content}"


async def elicitation_enums(args, ctx):
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    fields = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **legacy},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    content = await ctx.ask("Which ones?", schema={"type": "object", "properties": fields})
    return f"Elicitation completed: {content}"


async def input_required_elicitation(args, ctx):
    answer = await ctx.ask("What is your name?", schema=text_field("name"), name="user_name")
    return f"Hello, {answer['name']}!"


async def input_required_confirmation(args, ctx):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    await ctx.ask("Please confirm", schema=schema, name="confirm")
    return "state-ok"


async def input_required_multi_round(args, ctx):
    name = await ctx.ask("Step 1: What is your name?", schema=text_field("name"), name="step1")
    color = await ctx.ask("Step 2: What is your favorite color?", schema=text_field("color"), name="step2")
    return [name, color]


async def trigger_tool_change():
    """Offer one tool more, for a moment."""
    session = await client.create_session(tools=[offered("test_changed", lambda: None)])
    asyncio.get_running_loop().call_later(0.5, lambda: asyncio.ensure_future(session.end()))
    return "changed"


cancellations = []


async def wait_until_cancelled(args, ctx):
    cancellations.append(await ctx.cancelled)


def offered(name, handler, args_schema=NOTHING):
    return define_tool(
        name=name, description=f"The suite's {name}.", args_schema=args_schema, handler=handler
    )


def asking(name, handler, args_schema=NOTHING):
    return define_tool(
        name=name, description=f"The suite's {name}.", args_schema=args_schema, handler=handler, asks=True
    )


await client.create_session(
    guidance="These tools are fixtures of a test suite.",
    tools=[
        offered("test_simple_text", simple_text),
        offered("test_image_content", image_content),
        offered("test_audio_content", audio_content),
        offered("test_embedded_resource", embedded_resource),
        offered("test_multiple_content_types", multiple_content_types),
        offered("test_error_handling", error_handling),
        offered("test_tool_with_progress", tool_with_progress),
        offered("test_streaming_elicitation", streaming_elicitation),
        offered("test_logging_tool", lambda: "logged nothing"),
        offered("test_trigger_tool_change", trigger_tool_change),
        asking("test_elicitation", elicitation, text_field("message")),
        asking("test_elicitation_sep1034_defaults", elicitation_defaults),
        asking("test_elicitation_sep1330_enums", elicitation_enums),
        asking("test_input_required_result_elicitation", input_required_elicitation),
        asking("test_input_required_result_request_state", input_required_confirmation),
        asking("test_input_required_result_tampered_state", input_required_confirmation),
        asking("test_input_required_result_multi_round", input_required_multi_round),
        # What our own checks of other clients need besides.
        offered("progress_until_heard", progress_until_heard),
        offered("progress_was_heard", heard.set),
        offered("wait_until_cancelled", wait_until_cancelled),
        offered("cancellations", lambda: cancellations),
        offered("json_schema_2020_12_tool", lambda args: args, JSON_SCHEMA_2020_12),
        offered(
            "test_header_parameter",
            lambda args: args,
            {
                "type": "object",
                "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
            },
        ),
    ],
)
js.document.title = "ready"
