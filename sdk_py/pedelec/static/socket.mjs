// The page's WebSocket to Core, for Python: whole text frames, nothing else.
//
// Owns the browser's events, of which text alone crosses to Python: an event object would cost a proxy, and a
// crossing of the border for each thing that is read of it. Text crosses as UTF-8 in memory that both sides see,
// for Pyodide looks at each character of a string by itself.

const MOST_BYTES = 3; // of UTF-8, for each unit of a JavaScript string

/**
 * Connect.
 *
 * @param {string} url
 * @param {PyProxy} inbox a writable buffer of bytes
 * @param {() => void} opened
 * @param {(size: number) => void} received how many bytes of `inbox` are the text of a frame
 * @param {(bytes: Uint8Array) => void} receivedLarge the text of a frame that `inbox` may have no room for
 * @param {(code: number, reason: string) => void} closed the last call of all
 * @returns {WebSocket}
 * @throws where the browser refuses at once
 */
export function openSocket(url, inbox, opened, received, receivedLarge, closed) {
  const socket = new WebSocket(url);
  const shared = new SharedBytes(inbox);
  const encoder = new TextEncoder();
  socket.addEventListener("open", () => opened());
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") socket.close(); // Core sends text alone
    else if (data.length * MOST_BYTES > shared.size) receivedLarge(encoder.encode(data));
    else received(encoder.encodeInto(data, shared.bytes()).written);
  });
  socket.addEventListener("close", ({ code, reason }) => {
    shared.release();
    closed(code, reason);
  });
  return socket;
}

/** A buffer of Python's. The view of it is lost whenever Python's memory grows. */
class SharedBytes {
  #proxy;
  #buffer;

  constructor(proxy) {
    this.#proxy = proxy;
    this.#buffer = proxy.getBuffer("u8");
    this.size = this.#buffer.data.length;
  }

  bytes() {
    if (this.#buffer.data.length === 0) {
      this.#buffer.release();
      this.#buffer = this.#proxy.getBuffer("u8");
    }
    return this.#buffer.data;
  }

  release() {
    this.#buffer.release();
  }
}
