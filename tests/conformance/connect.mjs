// The official TypeScript client, connected to a running Core.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/**
 * @param way {"era", "url", "token"} or {"era", "command", "args"}
 * @param onChanged hears of changes of the tools
 */
export async function connect(way, onChanged) {
  const transport = way.url
    ? new StreamableHTTPClientTransport(new URL(way.url), {
        requestInit: { headers: { Authorization: `Bearer ${way.token}` } },
      })
    : new StdioClientTransport({ command: way.command, args: way.args });
  const client = new Client(
    { name: "conformance", version: "1.0.0" },
    {
      versionNegotiation: { mode: way.era },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
    },
  );
  await client.connect(transport);
  return client;
}
