import { withoutUfo } from '#libs/constellation';
import { LIMITS, parseWith, RunRequest, isObject, type Issue } from '#proto';
import { parseText, sentencesOf } from '../../files/index.js';

export type RequestFile =
  | {
      readonly ok: true;
      readonly request: RunRequest;
      /** As it was written, but for UFO's form and the id: who takes it says what is meant by what it leaves out. */
      readonly sent: object;
      /** The text was a constellation alone. */ readonly bare: boolean;
    }
  | { readonly ok: false; readonly message: string; readonly issues: readonly Issue[] };

/**
 * Reads what a person wrote, JSON or YAML, a request or a bare constellation, into a request. A constellation may be one of
 * UFO's. `requestId` is taken when the text has none; given explicitly (`override`), it wins.
 */
export function parseRequestText(text: string, requestId: string, override = false): RequestFile {
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMITS.requestBytesMax) {
    return refused(`the request has ${bytes} bytes; at most ${LIMITS.requestBytesMax} are accepted`);
  }
  const document = parseText(text, 'request');
  if (!document.ok) return refused(document.message);
  const { value } = document;
  if (!isObject(value)) {
    return refused(
      'the request must be an object: a request with "goal" or "constellation", or a constellation with "tasks"',
    );
  }
  const bare = isBareConstellation(value);
  const placed = (issues: readonly Issue[]): readonly Issue[] =>
    bare ? issues.map(({ path, message }) => ({ path: withoutPrefix(path), message })) : issues;
  const named = bare
    ? { requestId, ...planWithLabels(value) }
    : { requestId, ...value, ...(override ? { requestId } : {}) };
  const ours = withoutUfo(named);
  if (!ours.ok) {
    const issues = placed(ours.issues);
    return refused(`read as a constellation of UFO: ${sentencesOf(issues)}`, issues);
  }
  const parsed = parseWith(RunRequest, ours.request);
  if (parsed.ok) return { ok: true, request: parsed.value, sent: Object(ours.request) as object, bare };
  const issues = placed(parsed.issues);
  return refused(sentencesOf(issues), issues);
}

function isBareConstellation(value: object): boolean {
  return 'tasks' in value && !('goal' in value) && !('constellation' in value);
}

/** A plan may have the labels of its run beside its tasks. */
function planWithLabels(value: Readonly<Record<string, unknown>>): object {
  const { labels, ...constellation } = value;
  return labels === undefined ? { constellation } : { constellation, labels };
}

function withoutPrefix(path: string): string {
  return path.replace(/^constellation\.?/u, '');
}

function refused(message: string, issues: readonly Issue[] = []): RequestFile {
  return { ok: false, message, issues };
}
