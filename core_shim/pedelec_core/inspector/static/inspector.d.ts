// Types of `<pedelec-inspector>`, the element of `inspector.mjs`. What it is for is told in docs/inspector.md.

/** What a page heard of its session: an error, or a status. */
export type Told = { code: string; message: string } | { status: string };

/** A call's life; docs/protocol.md has every field. Times are milliseconds since the epoch. */
export type CallLife = {
  state: "accepted" | "delivered" | "settled" | "acknowledged";
  invocationId: string;
  threadId: string;
  tool: string;
  timeoutMs: number;
  replays: number;
  acknowledged: boolean;
  /** The page may still say how it ends, whatever the agent was told. */
  onPage: boolean;
  acceptedAt: number;
  deliveredAt?: number;
  settledAt?: number;
  acknowledgedAt?: number;
  /** When a result came that was too late for the agent. */
  lateAt?: number;
  /** Of the error that it came to, made by Core or by the page. */
  code?: string;
  cancelReason?: string;
  /** The arguments as JSON text, where the person has ticked that they are shown. */
  args?: string;
  argsChars?: number;
};

/** A live session of the page's origin, and what its tabs do. */
export type LiveSession = {
  threadId: string;
  appName: string | null;
  createdAt: number;
  /** How many it offers. */
  tools: number;
  pages: { page: string; state: "runs" | "watches" | "silent" | "away" }[];
};

/** A session of the JavaScript SDK, as far as the inspector listens to it. */
export type ObservedSession = {
  readonly sessionId: string;
  onError(listener: (error: { code: string; message: string }) => void): unknown;
  onStatus(listener: (status: string) => void): unknown;
};

export class PedelecInspector extends HTMLElement {
  /** The session meant: the one that was set, where it lives, else the latest; null where there is none. */
  get thread(): string | null;
  set thread(id: string | null);
  /** The SDK's id of this page, so that it can be told which tab runs the calls. */
  set instanceId(id: string);
  /** Show what a session tells its page, and mean that session. */
  attach(session: ObservedSession): void;
  /** Show one thing that the page heard. */
  heard(kind: string, told: Told): void;
  /** Make a call in the console. Resolves with the answer's line, the one that `pedelec-cli` prints. */
  call(tool: string, args?: Record<string, unknown>, options?: { timeoutMs?: number }): Promise<string>;
  /** What an earlier call came to; the answer's line. */
  result(invocationId: string): Promise<string>;
  /** The command that makes a call from a terminal, once `ready`. */
  command(tool: string, args?: Record<string, unknown>): string;
  /** An element that tells the error in an answer's line, and the steps that the agent reads; null for a result. */
  explain(line: string): HTMLElement | null;
  /** Show, opened, what to paste into an agent's configuration. */
  showConnect(): void;
  /** Resolves once Core is there and has told of a session. */
  ready(): Promise<void>;

  addEventListener<K extends keyof PedelecInspectorEvents>(
    type: K,
    listener: (this: PedelecInspector, event: PedelecInspectorEvents[K]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

export interface PedelecInspectorEvents extends HTMLElementEventMap {
  /** Calls that are new or have changed. */
  calls: CustomEvent<CallLife[]>;
  /** The live sessions, whenever they may have changed. */
  sessions: CustomEvent<LiveSession[]>;
  /** What `heard` was given. */
  heard: CustomEvent<{ kind: string; told: Told }>;
}

declare global {
  interface HTMLElementTagNameMap {
    "pedelec-inspector": PedelecInspector;
  }
}
