import type { ServerResponse } from 'node:http';
import { viewOf } from '#libs/constellation';
import {
  loadRecordedOutput,
  NoSuchOutputError,
  RecordedLines,
  recordedFileNamed,
  recordedItems,
  type KeptFile,
  type OutputWish,
  type RecordedItem,
  type RecordedOutput,
} from '#libs/output';
import { visibleText, withoutTerminalSequences } from '#libs/visible';
import type { RunId } from '#proto';
import { RefusedError } from '../http/index.js';
import { sendArtifact } from './artifact-responses.adapter.js';
import { storedRun } from './stored-run.adapter.js';
import { drained, SseResponses } from './sse-responses.adapter.js';

interface Wished {
  readonly runId: RunId;
  readonly wish: OutputWish;
}

/** `name`: of one file that a tool answered with. */
export type RecordedOf = Wished &
  ({ readonly format: 'text' | 'json' } | { readonly format: 'file'; readonly name: string });

const MEDIA_TYPES = {
  text: 'text/plain; charset=utf-8',
  json: 'application/x-ndjson; charset=utf-8',
} as const;

/** Types that no browser runs anything of; what a tool calls anything else is bytes. */
const PLAIN_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/plain',
]);

/** What is recorded of the outputs of a run, whole, at the pace of who reads it: one line or one object after the other. */
export class RecordedOutputs extends SseResponses<RecordedOf> {
  protected async follow(of: RecordedOf, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { runId, wish, format } = of;
    const view = viewOf(await storedRun(this.nc, runId));
    const found = await loadRecordedOutput(this.nc, view, wish).catch(notFound);
    if (format === 'file') return this.#file(fileIn(found, of.name), response, signal);
    response.writeHead(200, { 'Content-Type': MEDIA_TYPES[format], 'X-Accel-Buffering': 'no' });
    const printed = format === 'json' ? jsonOf : textOf(wish);
    for await (const item of recordedItems(this.nc, found, wish)) {
      if (signal.aborted) return;
      if (!(await this.#sent(printed(item), response, signal))) return void response.destroy();
    }
    response.end(printed(null));
  }

  async #file({ name, mediaType, artifact }: KeptFile, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { drainMsMax } = this.limits;
    const type = PLAIN_TYPES.has(mediaType) ? mediaType : 'application/octet-stream';
    const sent = { sha256: artifact.sha256, name, mediaType: type };
    await sendArtifact(this.nc, sent, { response, signal, drainMsMax });
  }

  async #sent(text: string, response: ServerResponse, signal: AbortSignal): Promise<boolean> {
    return text === '' || this.write(response, text) || drained(response, signal, this.limits.drainMsMax);
  }
}

function notFound(error: unknown): never {
  throw error instanceof NoSuchOutputError ? new RefusedError({ code: 'NOT_FOUND', message: error.message }) : error;
}

function fileIn({ commands }: RecordedOutput, name: string): KeptFile {
  try {
    return recordedFileNamed(commands, name);
  } catch (error) {
    return notFound(error);
  }
}

/** An item as it is printed; null is the end, which may leave half a line. */
type Printed = (item: RecordedItem | null) => string;

const jsonOf: Printed = (item) => (item === null ? '' : `${JSON.stringify(item)}\n`);

/** Every line begins with its place, so that nothing in it can look like the output of another command, or like what is said about one. */
function textOf({ search }: OutputWish): Printed {
  const hasContext = (search?.before ?? 0) + (search?.after ?? 0) > 0;
  const lines = new RecordedLines({ isAlone: false, hasContext });
  return (item) =>
    (item === null ? lines.end() : lines.push(item))
      .map(({ stream, label, text }) => `${stream === null ? '!' : label} ${clean(text)}`.trimEnd())
      .map((line) => `${line}\n`)
      .join('');
}

const clean = (text: string): string => visibleText(withoutTerminalSequences(text));
