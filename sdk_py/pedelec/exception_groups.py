"""What really went wrong where several tasks were waited for at once (`asyncio.TaskGroup`).

Owns how an exception group is opened: its own text says only that there is one. No I/O, stdlib only.
"""

_MAX_LEAVES = 20


def leaves_of(error: BaseException) -> list[BaseException]:
    """The exceptions in a group, the groups in it opened too; of any other exception itself."""
    waiting, found = [error], list[BaseException]()
    while waiting and len(found) < _MAX_LEAVES:
        one = waiting.pop(0)
        if isinstance(one, BaseExceptionGroup):
            waiting[:0] = one.exceptions
        else:
            found.append(one)
    return found
