"""The in-memory twin's hooks: cutting, doubling and holding frames."""

from pedelec.transport import MemoryHost, MemoryTransport
from tests.contract.test_transport_contract import Listener, connected


async def test_a_cut_loses_what_is_on_its_way() -> None:
    transports: list[MemoryTransport] = []

    def accept(transport: MemoryTransport) -> None:
        transports.append(transport)
        transport.core_open()

    host = MemoryHost(accept)
    _, listener = await connected(host)
    transports[0].core_send("lost")
    transports[0].core_close("cut")
    await listener.until("closed")
    assert listener.heard == ["opened", "closed"]


async def test_frames_can_be_doubled_and_held() -> None:
    listener = Listener()
    transport = MemoryTransport(listener)
    transport.core_open()
    transport.copies = 2
    transport.core_send("twice")
    transport.copies = 1
    transport.hold()
    transport.core_send("held")
    await listener.until("twice")
    transport.core_send("held too")
    assert listener.heard == ["opened", "twice", "twice"]
    transport.release()
    await listener.until("held too")
    assert listener.heard == ["opened", "twice", "twice", "held", "held too"]


async def test_core_hears_of_the_end_once() -> None:
    transport = MemoryTransport(Listener())
    ends: list[int] = []
    transport.on_closed = lambda: ends.append(1)
    transport.close()
    transport.core_close("again")
    listener = Listener()
    MemoryTransport(listener).close()
    await listener.until("closed")
    assert ends == [1]
