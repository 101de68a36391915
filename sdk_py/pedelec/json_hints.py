"""What a page author can do about a Python value that JSON cannot carry, in one sentence per kind of value.

Owns the sentences and how a kind is recognised: by the names along the type's MRO and by what the type
offers, so that no library is imported for it. Decides nothing: `json_safe` has refused the value already.
"""

NAN = "JSON has no NaN or infinity: return None or leave the member out."
BIG_INT = "Integers beyond ±(2^53-1) lose digits in other languages: return str(value)."
SURROGATE = "The text holds a lone surrogate: replace it, as text.encode('utf-8', 'replace') does."
KEY = "Keys must be str: convert them with {str(key): value}."
SURROGATE_KEY = "A key holds a lone surrogate: replace it."
CYCLE = "The value contains itself: return ids in place of the inner reference."
OVERRIDES = "The type overrides how it is read: return a plain dict(value) or list(value)."
DUPLICATE_KEY = "Two keys are the same text: make them different."

_GENERAL = "Return plain dict, list, str, int, float, bool or None."
_ITERATOR = "Return list(value)."
_CALL_IT = "Call it and return what it gives, or return a name."

_BY_NAME = {
    "enum.Enum": "Return value.value or value.name.",
    "datetime.timedelta": "Return value.total_seconds().",
    "datetime.datetime": "Return value.isoformat().",
    "datetime.date": "Return value.isoformat().",
    "datetime.time": "Return value.isoformat().",
    "decimal.Decimal": "Return str(value) to keep every digit, or float(value).",
    "fractions.Fraction": "Return str(value) or float(value).",
    "uuid.UUID": "Return str(value).",
    "pathlib.PurePath": "Return str(value).",
    "pathlib._local.PurePath": "Return str(value).",
    "re.Pattern": "Return value.pattern.",
    "builtins.bytes": "Return value.decode() for text, or base64.b64encode(value).decode().",
    "builtins.bytearray": "Return value.decode() for text, or base64.b64encode(value).decode().",
    "builtins.memoryview": "Return value.tolist(), or base64.b64encode(value).decode().",
    "builtins.set": "Return sorted(value) or list(value).",
    "builtins.frozenset": "Return sorted(value) or list(value).",
    "builtins.complex": "Return [value.real, value.imag].",
    "builtins.range": _ITERATOR,
    "builtins.generator": _ITERATOR,
    "builtins.map": _ITERATOR,
    "builtins.filter": _ITERATOR,
    "builtins.zip": _ITERATOR,
    "builtins.enumerate": _ITERATOR,
    "builtins.dict_keys": _ITERATOR,
    "builtins.dict_values": _ITERATOR,
    "builtins.dict_items": "Return dict(value).",
    "builtins.mappingproxy": "Return dict(value).",
    "collections.deque": _ITERATOR,
    "collections.UserDict": "Return dict(value).",
    "collections.UserList": _ITERATOR,
    "collections.ChainMap": "Return dict(value).",
    "array.array": "Return value.tolist().",
    "builtins.coroutine": "It was never awaited: await it and return its result.",
    "concurrent.futures._base.Future": "Return asyncio.wrap_future(value).",
    "builtins.async_generator": "Return [item async for item in value].",
    "builtins.function": _CALL_IT,
    "builtins.method": _CALL_IT,
    "builtins.builtin_function_or_method": _CALL_IT,
    "functools.partial": _CALL_IT,
    "builtins.type": "Return value.__name__.",
    "builtins.BaseException": "Raise it, or return str(value).",
}


_BY_METHOD = {
    "model_dump": 'Return value.model_dump(mode="json"), or declare the model as the tool\'s return type.',
    "__dataclass_fields__": "Return dataclasses.asdict(value), or declare it as the tool's return type.",
    "to_dict": 'Return value.to_dict(orient="records") for a data frame, else value.to_dict().',
    "tolist": "Return value.tolist().",
    "item": "Return value.item().",
    "_asdict": "Return value._asdict().",
}


def hint_for(kind: type) -> str:
    """How a value of this type can be turned into JSON. Never raises, whatever the type does."""
    try:
        return _known(kind) or _offered(kind) or _GENERAL
    except Exception:  # noqa: BLE001 - metaclasses may do anything when asked for a name
        return _GENERAL


def is_foreign_scalar(kind: type) -> bool:
    """Whether a subclass of str, int or float stands for more than its base value (an Enum, numpy's own)."""
    try:
        names = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__]
    except Exception:  # noqa: BLE001 - as in hint_for
        return True
    return any(name == "enum.Enum" or name.startswith("numpy.") for name in names)


def _known(kind: type) -> str | None:
    for base in kind.__mro__:
        hint = _BY_NAME.get(f"{base.__module__}.{base.__qualname__}")
        if hint:
            return hint
    return None


def _offered(kind: type) -> str | None:
    if str(kind.__module__).partition(".")[0] == "numpy":
        return "Return value.tolist()." if hasattr(kind, "__len__") else "Return value.item()."
    for method, hint in _BY_METHOD.items():
        if hasattr(kind, method):
            return hint
    return None
