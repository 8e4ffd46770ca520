import {
  DEFAULTS,
  isObject,
  type Actor,
  type Issue,
  type JudgedCommands,
  LIMITS,
  parseWith,
  type Refusal,
  RequestId,
  type RunEventData,
  type RunId,
  RunRequest,
  sentenceOf,
} from '#proto';
import { editPolicyOf, takeKept, validateConstellation, withoutUfo } from '#libs/constellation';
import { hashCommit, runIdOf } from '#libs/event-log';

/** A request that may become a run, or why not. `requestId` is there whenever it could be read, so that it can be answered. */
export type Submission =
  | {
      readonly ok: true;
      readonly request: RunRequest;
      readonly runId: RunId;
      readonly namespace: string;
      readonly bytes: number;
      /** Content hash by what a line without a type meant once; absent where every line has one. */
      readonly formerHash?: string;
      /** Why no new run comes of it: conditions are looked at more closely than they were when older runs began. */
      readonly refusal?: Refusal;
    }
  | { readonly ok: false; readonly requestId: string | undefined; readonly refusal: Refusal };

/** A request as it arrived, with what is said about its sender apart from it; or why nothing can be read. */
export type Arrived =
  | { readonly ok: true; readonly json: unknown; readonly actor?: unknown; readonly bytes: number }
  | { readonly ok: false; readonly requestId?: string | undefined; readonly refusal: Refusal };

/** Reads what was sent; `bytes` are those of the request without its proof. */
export function readRequest(payload: Uint8Array): Arrived {
  // What is far too large is not even looked at.
  if (payload.length > LIMITS.requestBytesMax + PROOF_BYTES_MAX) return tooLarge(payload.length);
  let sent: unknown;
  try {
    sent = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (error) {
    const message = `the request is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    return { ok: false, refusal: { code: 'INVALID_JSON', message, issues: [{ path: '', message }] } };
  }
  const { actor, ...json } = isObject(sent) ? sent : {};
  const bytes = payload.length - (actor === undefined ? 0 : Buffer.byteLength(JSON.stringify({ actor })));
  if (bytes > LIMITS.requestBytesMax) return tooLarge(bytes, sentRequestId(sent));
  return { ok: true, json: isObject(sent) ? json : sent, actor, bytes };
}

/** What a proof takes in a message. */
const PROOF_BYTES_MAX = 8 * 1024;

function tooLarge(bytes: number, requestId?: string): Arrived {
  const message = `the request has ${bytes} bytes; at most ${LIMITS.requestBytesMax} are taken`;
  return { ok: false, requestId, refusal: { code: 'TOO_LARGE', message, issues: [{ path: '', message }] } };
}

/** Checks a request; everything that can be said without the fleet is said here, with the path of each fault. */
export function checkSubmission(json: unknown, namespace: string, bytes: number): Submission {
  const imported = withoutUfo(json);
  if (!imported.ok) return refused(json, imported.issues);
  const parsed = parseWith(RunRequest, imported.request);
  if (!parsed.ok) return refused(json, parsed.issues);
  const { constellation, requestId } = parsed.value;
  const issues = constellation === null ? [] : validateConstellation(constellation);
  const refusal = refusalOf(issues.map(({ path, message }) => ({ path: `constellation.${path}`, message })));
  if (issues.some(({ path }) => !path.endsWith('.condition'))) return { ok: false, requestId, refusal };
  const runId = runIdOf(namespace, requestId);
  const more = { ...formerHashOf(imported.request), ...(issues.length > 0 && { refusal }) };
  return { ok: true, request: parsed.value, runId, namespace, bytes, ...more };
}

/** A request that was sent before lines without a type were `success-only`, and is sent again, is no other request. */
function formerHashOf(json: unknown): { readonly formerHash?: string } {
  const constellation = fieldOf(json, 'constellation');
  const lines = fieldOf(constellation, 'lines');
  if (!Array.isArray(lines) || lines.every((line) => fieldOf(line, 'type') !== undefined)) return {};
  const typed = lines.map((line: object) =>
    fieldOf(line, 'type') === undefined ? { ...line, type: 'unconditional' } : line,
  );
  const former = RunRequest.safeParse({
    ...(json as object),
    constellation: { ...(constellation as object), lines: typed },
  });
  return former.success ? { formerHash: hashCommit(former.data) } : {};
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** Whether a person approves every plan that is made for a goal, or only those whose request says so. */
export type PlanApproval = 'required' | 'as-requested';

interface AcceptedSubmission {
  readonly request: RunRequest;
  readonly namespace: string;
  /** `required`: every plan that is made for a goal waits for a person, whatever the request says. */
  readonly planApproval?: PlanApproval | undefined;
  /** How many persons have to approve at least; 1 when absent. */
  readonly approvals?: number | undefined;
  /** Which exact commands are judged at least; `models` when absent. */
  readonly judge?: JudgedCommands | undefined;
}

interface Asker {
  readonly actor: Actor;
  /** He is an operator: what he asks for runs as it stands. */
  readonly trusted?: boolean | undefined;
}

/**
 * The first fact of a run. The content hash covers the request as parsed, defaults filled in, and nothing that was set here
 * or kept of UFO's JSON for an export: it decides nothing.
 */
export function requestedOf(
  { request, namespace, planApproval, approvals = 1, judge = 'models' }: AcceptedSubmission,
  { actor, trusted = false }: Asker,
  now: number,
): RunEventData<'RUN_REQUESTED'> {
  const deadlineMs = request.options.deadlineMs ?? DEFAULTS.runDeadlineMs;
  const mustWait = planApproval === 'required' && request.goal !== null;
  const isPlanned = editPolicyOf({ request }) !== 'never';
  const { rounds = DEFAULTS.rounds, deviceAskMs = DEFAULTS.deviceAskMs } = request.options;
  const { deviceWaitMs = DEFAULTS.deviceWaitMs } = request.options;
  const { labels = {}, ...asked } = request;
  const labelled = Object.keys(labels).length > 0 ? { labels } : {};
  return {
    requestId: request.requestId,
    namespace,
    contentHash: hashCommit({ ...asked, ...labelled, metadata: takeKept(request.metadata).metadata }),
    goal: request.goal,
    constellation: request.constellation,
    // The bounds that count stand in the log, and not in the version of its reader.
    options: {
      ...request.options,
      deviceWaitMs,
      approvals: Math.max(approvals, request.options.approvals ?? 1),
      ...(isPlanned && { rounds, deviceAskMs }),
      ...(mustWait && { plan: 'approve' }),
      ...(judge === 'all' && { judge }),
    },
    metadata: request.metadata,
    ...labelled,
    requestedBy: actor,
    requestedAt: new Date(now).toISOString(),
    deadlineAt: new Date(now + deadlineMs).toISOString(),
    ...(!trusted && { judgeCommands: true }),
    ...(request.constellation !== null && { untypedLines: 'success-only' }),
  };
}

function refused(json: unknown, issues: readonly Issue[]): Submission {
  return { ok: false, requestId: sentRequestId(json), refusal: refusalOf(issues) };
}

function refusalOf(issues: readonly Issue[]): Refusal {
  const [first] = issues;
  const message = first === undefined ? 'the request is not valid' : sentenceOf(first);
  return { code: 'INVALID_REQUEST', message, issues: [...issues] };
}

export function sentRequestId(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('requestId' in json)) return undefined;
  const parsed = RequestId.safeParse(json.requestId);
  return parsed.success ? parsed.data : undefined;
}
