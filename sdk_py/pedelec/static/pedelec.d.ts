// Types of the JavaScript face. The names are those of the TypeScript SDK of kaoruisaac/pedelec; what differs
// is listed in docs/compatibility.md.

export type JsonPrimitive = string | number | boolean | null;
export type JsonValue = JsonPrimitive | JsonValue[] | { [key: string]: JsonValue };

export type PedelecOptions = {
  /** How long a request waits for Core's answer, in milliseconds; 30 000 if not given. */
  bridgeTimeoutMs?: number;
  /** Core's address, `http://host:port`; where the loader came from if not given. */
  coreUrl?: string;
  /** Refuse results over this size, in UTF-8 bytes, where Core's own limit is higher. */
  maxResultBytes?: number;
  /** What to call this page where sessions are listed. */
  appName?: string;
};

/** JSON Schema of a tool's arguments, an object at its root. Any keyword of draft 2020-12 may stand in it. */
export type ToolArgsSchema = { type: "object"; [keyword: string]: unknown };

/**
 * What a tool gives back: JSON, where `undefined` is `null` (as an object's member it is left out). Anything else is
 * refused with its path; see docs/compatibility.md.
 */
export type ToolSpecificHandler<TArgs = unknown, TResult = unknown> = (
  args: TArgs,
  ctx: ToolCallContext,
) => TResult | PromiseLike<TResult>;

export type GenericToolHandler<TToolName extends string = string> = (
  tool: TToolName,
  args: unknown,
  ctx: ToolCallContext,
) => unknown;

export type ToolDefinition<TArgs = any, TResult = unknown, TName extends string = string> = {
  /** Letters, digits, `_`, `.` and `-`, a letter first, at most 128. */
  name: TName;
  description: string;
  argsSchema: ToolArgsSchema;
  /** What to call the tool where people read it, at most 200 characters. */
  title?: string;
  /** JSON Schema of what the tool returns. Shown to agents, never enforced here; MCP clients check results against it. */
  resultSchema?: { [keyword: string]: unknown };
  /** How long Core waits for a result, in milliseconds; 60 000 if not given, 300 000 where a person is asked. */
  timeoutMs?: number;
  handler?: ToolSpecificHandler<TArgs, TResult>;
  /** The tool changes nothing, so that a failed call may simply be repeated. */
  readOnly?: boolean;
  /** A repeated call with the same arguments changes nothing more. */
  idempotent?: boolean;
  /** Core never runs two calls of it at once. */
  exclusive?: boolean;
  /** Results hold what others wrote (mails, comments), which an agent must not obey. */
  untrustedContent?: boolean;
  /** What a call does matters outside the page or cannot be taken back. A function says it of the single call. */
  consequential?: boolean | ((args: TArgs, ctx: ToolCallContext) => boolean | PromiseLike<boolean>);
  /**
   * Which calls the person at the page has to approve: all, or those of which `consequential` does not say false.
   * See docs/designing-errors.md.
   */
  approval?: "always" | "consequential";
  /** The handler asks the person itself (`ctx.ask`): its calls have 300 000 ms unless `timeoutMs` says otherwise. */
  asks?: boolean;
};

export type SkillsInput<TTools extends readonly ToolDefinition[] = readonly ToolDefinition[]> = {
  guidance: string;
  tools: TTools;
};

export type ToolNameOf<TTools extends readonly ToolDefinition[]> = Extract<TTools[number]["name"], string>;

export type CreateSessionInput<TTools extends readonly ToolDefinition[] = readonly ToolDefinition[]> = {
  /** Kept on the session and otherwise without effect: the agent is chosen outside of the page. */
  provider?: string;
  /** As `provider`; refused without one. */
  model?: string;
  skills?: SkillsInput<TTools>;
  /** End the session some seconds after its last page went away; true if not given. */
  autoEndOnDisconnect?: boolean;
  /** Register the tools with the browser too (`document.modelContext`), where it has that API; `"polyfill"` gives the
   * page that API where the browser lacks it. See docs/webmcp.md. */
  webmcp?: boolean | "polyfill";
};

export type ApprovalStatus = {
  installed: boolean;
  approved: boolean;
  origin: string | null;
  appConnected: boolean;
};

export type PedelecAvailability = {
  available: boolean;
  extension: { available: boolean };
  approval: { approved: boolean; origin: string | null };
  desktop: { available: boolean; launchAttempted: boolean };
  error?: PedelecError;
};

/** Every error of the SDK. Its fields are enumerable: they survive `{...error}` and `JSON.stringify(error)`. */
export class PedelecError extends Error {
  constructor(envelope: { code: string; message: string; [field: string]: unknown });
  code: string;
  message: string;
  class?: "retryable" | "permanent" | "userInput" | "authRequired";
  errorType?: string;
  reason?: string;
  retryable?: boolean;
  retryAfterSeconds?: number;
  recoverySteps?: string[];
  options?: unknown[];
  suggestions?: unknown[];
  effects?: "none" | "unknown" | "applied";
  details?: unknown;
}

/** The fields of an error that its author may set; see docs/errors.md. */
export type ToolErrorFields = {
  errorType?: string;
  reason?: string;
  recoverySteps?: string[];
  options?: unknown[];
  suggestions?: unknown[];
  effects?: "none" | "unknown" | "applied";
  details?: Record<string, unknown>;
};

/**
 * An error of a handler's own, thrown or returned: the call's result under its own code. The constructors ask for
 * what the reader of that class needs; they work once `ready` has resolved. See docs/designing-errors.md.
 */
export class ToolError extends PedelecError {
  /** The same call may work in `after` seconds. */
  static retryable(code: string, message: string, fields: ToolErrorFields & { after: number }): ToolError;
  /** The same call will never work. */
  static permanent(code: string, message: string, fields?: ToolErrorFields): ToolError;
  /** Only the user can say how to go on: a `question`, or `options` such as `{label, value}`. */
  static userInput(
    code: string,
    message: string,
    fields: ToolErrorFields & ({ question: string } | { options: unknown[] }),
  ): ToolError;
  /** The user has to renew access; `reconnect` says how. */
  static authRequired(
    code: string,
    message: string,
    fields: ToolErrorFields & { reconnect: string },
  ): ToolError;
  /** Something that only the user can set up is missing. */
  static notConfigured(what: string, how: string, fields?: ToolErrorFields): ToolError;
}

/** One way of doing something, for `recovery.firstThatWorks`. */
export type Alternative<TResult = unknown> = {
  name: string;
  run: () => TResult | PromiseLike<TResult>;
  /** What it does to the world, in a few words, or "none". */
  effects: string;
};

type ErrorReport = Record<string, Record<string, JsonValue>>;

/** Errors that heal; they work once `ready` has resolved. See docs/designing-errors.md. */
export const recovery: {
  /** The one candidate that is clearly meant; else throws `AMBIGUOUS_CHOICE` or `NO_MATCH`. */
  chooseOne<T>(
    query: string | number | null | undefined,
    candidates: Iterable<T>,
    options?: {
      key?: string | ((candidate: T) => unknown);
      value?: string | ((candidate: T) => unknown);
      accept?: number;
      reject?: number;
      limit?: number;
      consequential?: boolean;
      argument?: string;
    },
  ): T;
  /** Run several sources at once; what failed is null. Throws `NO_PART_WORKED` where all did. */
  gatherParts<TParts extends Record<string, unknown>>(
    sources: { [Name in keyof TParts]: (() => TParts[Name] | PromiseLike<TParts[Name]>) | PromiseLike<TParts[Name]> },
    options?: { argument?: string; context?: ToolCallContext },
  ): Promise<{
    completeness: "complete" | "partial";
    parts: { [Name in keyof TParts]: TParts[Name] | null };
    errors?: ErrorReport;
    recoverySteps?: string[];
  }>;
  /** Try several ways in order; another with other effects only if `allow` names it. */
  firstThatWorks<TResult>(
    alternatives: Iterable<Alternative<TResult>>,
    options?: { allow?: Iterable<unknown>; argument?: string },
  ): Promise<{ result: TResult; channelUsed: string; wasFallback: boolean; errors?: ErrorReport }>;
  /** The failure of a service: an Error, a Response or a text. Nothing of its own words is passed on. */
  upstreamError(failure: unknown, options?: { service?: string }): ToolError;
  /** Throws `VERSION_CONFLICT` unless both are the same. */
  requireVersion(
    expected: string | number | null | undefined,
    actual: string | number,
    options?: { what?: string; read?: string; argument?: string },
  ): void;
  /** The error for a call that was made for what the page showed before. */
  staleCall(what?: string, options?: { read?: string }): ToolError;
};

/** A rich result, in MCP's form: what `image` and its like make, for a handler to return. */
export type RichContent = { content: JsonValue[]; structuredContent?: { [key: string]: JsonValue } };

/** Bytes, a canvas, base64 text or a `data:` URL. */
export type MediaData = ArrayBuffer | ArrayBufferView | string | { toDataURL(): string };

/** A picture. The type is found out for PNG, JPEG, GIF and WebP. Like its siblings it works once `ready` has resolved. */
export function image(data: MediaData, options?: { mimeType?: string }): RichContent;
/** A sound. The type is found out for WAV, MP3, Ogg and FLAC. */
export function audio(data: MediaData, options?: { mimeType?: string }): RichContent;
/** A document under an address of its own: either `text` or `data`. */
export function resource(
  uri: string,
  options: { mimeType?: string } & ({ text: string } | { data: MediaData }),
): RichContent;
/** Several parts, in order; `structured` is the same as data. */
export function mixed(
  parts: Iterable<string | RichContent>,
  options?: { structured?: { [key: string]: JsonValue } },
): RichContent;

export type PedelecSessionStatus = "idle" | "running" | "waiting_tool_result" | "waiting_user" | "ended" | "error";

/** Times are in milliseconds since the epoch. */
export type PedelecEventContext = {
  sessionId: string;
  provider: string;
  model?: string;
  sessionCreatedAt: number;
  eventReceivedAt?: number;
  eventEmittedAt: number;
  turnId?: string;
  turnStartedAt?: number;
  turnKind?: "user";
  source: "core" | "sdk";
};

export type ToolCallContext = PedelecEventContext & {
  type: "tool_call";
  toolRequestId: string;
  tool: string;
  turnId: string;
  turnStartedAt: number;
  eventReceivedAt: number;
  /** When Core stops waiting. */
  readonly deadline: number;
  /** Milliseconds until the deadline, at the moment of asking; 0 once it has passed or nobody waits any more. */
  readonly remainingMs: number;
  /** Aborts when nobody waits any more: time-out, cancellation, end of the session. */
  readonly signal: AbortSignal;
  /** Resolves when `signal` aborts. */
  readonly cancelled: Promise<void>;
  /**
   * Ask the person at the page: for a text, one of several options (an option's value is returned), or several
   * fields. Rejects with `TOOL_DENIED` where the person does not want to answer, `TOOL_UNANSWERED` where nobody did
   * in time, `TOOL_CANCELLED` where the call is over.
   */
  ask(question: string): Promise<string>;
  ask<TValue>(
    question: string,
    how: { options: readonly (TValue | { label: string; value: TValue })[]; name?: string },
  ): Promise<TValue>;
  ask<TFields = Record<string, JsonValue>>(question: string, how: { schema: ToolArgsSchema; name?: string }): Promise<TFields>;
  ask(question: string, how: { name: string }): Promise<string>;
  /** Tell whoever waits how far the call is. Throws a TypeError for what is no number or string. */
  progress(done: number, total?: number | null, message?: string | null): void;
};

/** What a person is asked. Its texts are to be shown as text, never as markup. */
export type Question = {
  id: string;
  kind: "approval" | "question";
  tool: string;
  message: string;
  /** Of an approval: the arguments of the call. */
  arguments?: string;
  /** What the answer holds to: a flat object, without properties for an approval. */
  schema: ToolArgsSchema;
  name?: string;
};

/**
 * Gives true or false for an approval; for a question the answer, or null where the person gives none. `ctx.signal`
 * aborts when the question is over, whoever answered it.
 */
export type QuestionHandler = (question: Question, ctx: ToolCallContext) => unknown;

export type StatusEventContext = PedelecEventContext & {
  type: "status_changed" | "sdk_status_changed";
  status: PedelecSessionStatus;
  previousStatus: PedelecSessionStatus;
};

export type ErrorEventContext = PedelecEventContext & { type: "error" | "sdk_error" };
export type EndedEventContext = PedelecEventContext & { type: "ended" | "sdk_ended" };

export type ErrorHandler = (error: PedelecError, ctx: ErrorEventContext) => unknown;
export type StatusHandler = (status: PedelecSessionStatus, ctx: StatusEventContext) => unknown;
export type EndedHandler = (ctx: EndedEventContext) => unknown;

/** The methods wait until Python is ready, and reject with what kept it from getting so. */
export class Pedelec {
  constructor(options?: PedelecOptions);
  createSession(): Promise<PedelecSession<string>>;
  createSession<const TTools extends readonly ToolDefinition[]>(
    input: CreateSessionInput<TTools>,
  ): Promise<PedelecSession<ToolNameOf<TTools>>>;
  resumeSession(sessionId: string): Promise<PedelecSession<string>>;
  getApprovalStatus(): Promise<ApprovalStatus>;
  /** Ask the person in a way of the page's own, in place of the dialog. Returns a disposer. */
  onQuestion(handler: QuestionHandler): () => void;
  checkAvailability(): Promise<PedelecAvailability>;
  /** Rejects with `NOT_SUPPORTED`. */
  getSettings(): Promise<never>;
  /** Rejects with `NOT_SUPPORTED`. */
  listProviders(): Promise<never>;
}

/** Made by `Pedelec`. What registers something returns a disposer, which may be called twice. */
export interface PedelecSession<TToolName extends string = string> {
  readonly sessionId: string;
  readonly provider: string;
  readonly model?: string;
  readonly sessionCreatedAt: number;
  onTool(handler: GenericToolHandler<TToolName>): () => void;
  onTool<TArgs = any, TResult = unknown>(
    toolName: TToolName,
    handler: ToolSpecificHandler<TArgs, TResult>,
  ): () => void;
  onError(handler: ErrorHandler): () => void;
  onStatus(handler: StatusHandler): () => void;
  onEnded(handler: EndedHandler): () => void;
  /** Offer the tools to Core that this page registers with the browser; resolves to what ends that. */
  importWebmcp(): Promise<() => void>;
  getStatus(): PedelecSessionStatus;
  end(): Promise<void>;
  /** Rejects with `NOT_SUPPORTED`. */
  prepare(): Promise<never>;
  /** Rejects with `NOT_SUPPORTED`. */
  sendText(text: string): Promise<never>;
  /** Throws `NOT_SUPPORTED`. */
  onChat(handler: (text: string, ctx: unknown) => void): never;
  /** Rejects with `NOT_SUPPORTED`. */
  uploadAsset(file: File, targetPath?: string): Promise<never>;
  /** Rejects with `NOT_SUPPORTED`. */
  listAssets(): Promise<never>;
  /** Rejects with `NOT_SUPPORTED`. */
  readAsset(path: string, type: "text" | "json" | "file"): Promise<never>;
}

/** Gives back the tool, with its types. */
export function defineTool<TArgs = any, TResult = unknown, const TName extends string = string>(
  tool: ToolDefinition<TArgs, TResult, TName>,
): ToolDefinition<TArgs, TResult, TName>;

/** Resolves when the SDK can be used, before the page's Python scripts run; rejects with a `PedelecError`. */
export const ready: Promise<void>;

export const version: string;

/** Install the SDK into a Pyodide that the page runs already; new clients are served from it. */
export function attach(pyodide: object): Promise<void>;

/**
 * How far the start is. `loaded` and `total` are bytes in the stage `runtime`, else counts. In `permission` the page
 * waits for a click or a key, to have the browser ask for access to this device; in `approval` for a person's word at
 * Core on the page's origin. `path` is how Python starts: woken up from a memory snapshot, plainly, or not at all
 * where the page attached its own; `reason` says why plainly. `snapshot` is which memory, once that is chosen: `full`
 * has pydantic in it, for a page whose scripts look as if they needed that. Stages that are not Python's have none of
 * these.
 */
export type ProgressDetail = {
  stage: "permission" | "approval" | "runtime" | "python" | "sdk" | "scripts";
  loaded: number;
  total: number;
  path?: "snapshot" | "plain" | "attach";
  reason?: string | null;
  snapshot?: "full" | "light" | null;
};

/** What failed: the start (`script` is null), or one of the page's Python scripts. */
export type FailedDetail = { error: Error; script: string | null; line: number | null };

declare global {
  interface WindowEventMap {
    "pedelec:progress": CustomEvent<ProgressDetail>;
    "pedelec:ready": CustomEvent<null>;
    "pedelec:failed": CustomEvent<FailedDetail>;
  }

  var pedelec: {
    readonly ready: typeof ready;
    readonly version: typeof version;
    readonly Pedelec: typeof Pedelec;
    readonly PedelecError: typeof PedelecError;
    readonly ToolError: typeof ToolError;
    readonly recovery: typeof recovery;
    readonly image: typeof image;
    readonly audio: typeof audio;
    readonly resource: typeof resource;
    readonly mixed: typeof mixed;
    readonly defineTool: typeof defineTool;
    readonly attach: typeof attach;
  };
}
