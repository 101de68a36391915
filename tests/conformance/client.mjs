// The official TypeScript client on a running Core: does what a host does, and prints what it saw as JSON.
// Its one argument is what `connect` takes.
import { connect } from "./connect.mjs";

const { promise: changed, resolve: onChange } = Promise.withResolvers();
const client = await connect(JSON.parse(process.argv[2]), onChange);
const call = (name, options, args = {}) => client.callTool({ name, arguments: args }, options);

const seen = { version: client.getNegotiatedProtocolVersion(), instructions: client.getInstructions() };
seen.tools = (await client.listTools()).tools.map(({ name }) => name);
seen.text = await call("test_simple_text");
seen.image = await call("test_image_content");
seen.error = await call("test_error_handling");
seen.refused = await call("json_schema_2020_12_tool", {}, { unknown: true });
seen.unknown = await call("no_such_tool").catch(({ code }) => code);
seen.progress = [];
// This client forgets who wants to hear of progress once it has read the answer. Over stdio it reads all lines of a
// chunk before it tells of any, so that progress which comes together with the answer is lost.
const onprogress = ({ progress }) => {
  seen.progress.push(progress);
  if (progress === 100) call("progress_was_heard");
};
await call("progress_until_heard", { onprogress });

const cancellations = async () => (await call("cancellations")).structuredContent.result;
const before = (await cancellations()).length;
const aborting = new AbortController();
const cancelled = call("wait_until_cancelled", { signal: aborting.signal }).catch(() => "aborted");
// Over HTTP the two travel on connections of their own: by the last of these answers the call has reached the page.
for (let round = 0; round < 20; round++) await call("test_simple_text");
aborting.abort();
seen.cancelled = await cancelled;
do {
  seen.cancellations = await cancellations();
} while (seen.cancellations.length === before);

await call("test_trigger_tool_change");
await changed;
seen.changed = true;
// The next client is to see the tools as this one saw them, not the one that was offered for a moment.
const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
while ((await listed()).includes("test_changed"));
await client.close();
console.log(JSON.stringify(seen));
