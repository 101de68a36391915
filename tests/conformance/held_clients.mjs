// Official TypeScript clients, one for each way, that stay connected and take steps as lines of stdin name them:
// `open`, `changed`, `begin` or `finish`. Each step is answered by a line of JSON: what every client saw, in order.
// The one argument: a list of what `connect` takes, each with a `name`.
import { createInterface } from "node:readline";
import { connect } from "./connect.mjs";

class HeldClient {
  #way;
  #client;
  #change = Promise.withResolvers();
  #call;
  #outcome;

  constructor(way) {
    this.#way = way;
    this.#call = () => this.#client.callTool({ name: "probe", arguments: { way: way.name } });
  }

  /** The revision of the protocol. */
  async open() {
    this.#client = await connect(this.#way, () => this.#change.resolve());
    return this.#client.getNegotiatedProtocolVersion();
  }

  /** The tools after a change that this step was not told of before. */
  async changed() {
    await this.#change.promise;
    this.#change = Promise.withResolvers();
    return (await this.#client.listTools()).tools.map(({ name }) => name);
  }

  /** Make a call. */
  begin() {
    this.#outcome = this.#call();
  }

  /** What it came to. One that failed because Core stops is made again, as the error says. */
  async finish() {
    const first = (await this.#outcome).structuredContent;
    if (first.error?.code !== "CORE_RUNTIME_UNAVAILABLE") return [first, false];
    if (this.#way.url && this.#way.era === "legacy") await this.open(); // the next Core knows no session of the last
    return [(await this.#call()).structuredContent, true];
  }
}

const clients = JSON.parse(process.argv[2]).map((way) => new HeldClient(way));
for await (const step of createInterface({ input: process.stdin })) {
  const seen = await Promise.all(clients.map((client) => client[step]()));
  console.log(JSON.stringify(seen));
}
process.exit();
