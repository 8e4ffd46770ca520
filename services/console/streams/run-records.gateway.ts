import type { ServerResponse } from 'node:http';
import { exportLine, storedRecords, type ExportRecord, type ReadRecords } from '#libs/audit';
import { readStored, type StreamEntry } from '#libs/event-log';
import { parseJson, type RunId } from '#proto';
import { drained, SseResponses } from './sse-responses.adapter.js';

const decoder = new TextDecoder();

/**
 * All records of a run as the command line exports them, at the pace of who reads them. They are read twice: each line says how many there are,
 * so that a file whose end is missing is noticed, and nothing but one line is held.
 */
export class RunRecords extends SseResponses<RunId> {
  protected async follow(runId: RunId, response: ServerResponse, signal: AbortSignal): Promise<void> {
    await this.mustBeKnown(runId);
    const ends = new Map<ExportRecord['stream'], number>();
    let of = 0;
    for await (const { stream, sequence } of storedRecords(runId, this.#reader(signal))) {
      ends.set(stream, Math.max(sequence, ends.get(stream) ?? 0));
      of += 1;
    }
    if (signal.aborted) return;
    response.writeHead(200, {
      'Content-Type': 'application/x-ndjson; charset=utf-8',
      'Content-Disposition': `attachment; filename="${runId}.jsonl"`,
      'X-Content-Type-Options': 'nosniff',
      'X-Accel-Buffering': 'no',
    });
    let line = 0;
    for await (const record of storedRecords(runId, this.#reader(signal))) {
      if (signal.aborted) return;
      // What came since is of a later export.
      if (record.sequence > (ends.get(record.stream) ?? 0)) continue;
      line += 1;
      const goesOn = this.write(response, exportLine(record, { line, of }));
      if (!goesOn && !(await drained(response, signal, this.limits.drainMsMax))) return void response.destroy();
    }
    response.end();
  }

  #reader(signal: AbortSignal): ReadRecords {
    const { nc } = this;
    return async function* read(stream, filter) {
      for await (const entry of readStored(nc, stream, filter, signal)) {
        yield { stream, subject: entry.subject, sequence: entry.sequence, commit: commitOf(entry) };
      }
    };
  }
}

/** What is no JSON is kept as text: the audit will say so. */
function commitOf({ data }: StreamEntry): unknown {
  const text = decoder.decode(data);
  return parseJson(text) ?? text;
}
