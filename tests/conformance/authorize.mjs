// Loaded before the suite (node --import): adds Core's bearer token to every request that it sends, since it has no
// option for that. Works below fetch, undici and node:http alike.
import diagnostics from "node:diagnostics_channel";

const header = `Bearer ${process.env.MCP_TOKEN}`;
diagnostics.subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", header));
diagnostics.subscribe("http.client.request.created", ({ request }) => request.setHeader("authorization", header));
