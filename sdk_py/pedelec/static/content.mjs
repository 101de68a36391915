// Rich results for JavaScript authors: `image`, `audio`, `resource` and `mixed` of pedelec/content.py.
//
// Owns what only JavaScript can do: reading bytes out of its buffers and canvases. What the results look like and
// what is refused is Python's, the same for both languages; it is asked at once, with text.

const CHUNK = 0x8000; // as many arguments as every engine takes in one call

/** The helpers, for a page whose Python is running. */
export function contentOf(bridge) {
  const ask = (kind, given) => {
    const { value, refused } = bridge.call("make_content", { kind, given });
    if (refused !== undefined) throw new TypeError(refused);
    return value;
  };
  return {
    image: (data, { mimeType } = {}) => ask("image", { data: textOf(data), mime_type: mimeType ?? null }),
    audio: (data, { mimeType } = {}) => ask("audio", { data: textOf(data), mime_type: mimeType ?? null }),
    resource: (uri, { text, data, mimeType } = {}) => {
      const encoded = data === undefined ? null : textOf(data);
      return ask("resource", { uri, text: text ?? null, data: encoded, mime_type: mimeType ?? null });
    },
    mixed: (parts, { structured } = {}) => ask("mixed", { parts: [...parts], structured: structured ?? null }),
  };
}

/** Bytes as base64, a canvas as its `data:` URL, text as it is. */
function textOf(data) {
  if (typeof data === "string") return data;
  if (typeof data?.toDataURL === "function") return data.toDataURL();
  if (data instanceof ArrayBuffer) return base64Of(new Uint8Array(data));
  if (ArrayBuffer.isView(data)) return base64Of(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const hint = typeof data?.arrayBuffer === "function" ? ": pass `await it.arrayBuffer()`" : "";
  throw new TypeError(`A buffer, a canvas, base64 text or a data: URL is wanted${hint}.`);
}

function base64Of(bytes) {
  let binary = "";
  for (let start = 0; start < bytes.length; start += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(binary);
}
