// The page's WebSocket to Core, for Python: whole text frames, nothing else.
//
// Owns the browser's events, of which text alone crosses to Python: an event object would cost a proxy, and a
// crossing of the border for each thing that is read of it.

/**
 * Connect.
 *
 * @param {string} url
 * @param {() => void} opened
 * @param {(text: string) => void} received
 * @param {(code: number, reason: string) => void} closed the last call of all
 * @returns {WebSocket}
 * @throws where the browser refuses at once
 */
export function openSocket(url, opened, received, closed) {
  const socket = new WebSocket(url);
  socket.addEventListener("open", () => opened());
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") received(data);
    else socket.close(); // Core sends text alone
  });
  socket.addEventListener("close", ({ code, reason }) => closed(code, reason));
  return socket;
}
