import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { FileFailure, FileSource } from '#libs/aip';
import type { ToolAnswer } from '#libs/mcp';
import type { ArtifactRef } from '#proto';
import type { FileErrand } from './file-link.client.js';
import { OUTPUT_FILES_META } from '../output/output-files.js';
import { WholeOutputs } from './whole-outputs.client.js';

const NAME = 'a'.repeat(32);
const REF = { sha256: 'b'.repeat(64), bytes: 5 };
const VALUE = { stdout: 'head', stderr: '', exit_code: 0 };
const call = { signal: new AbortController().signal, commandId: 'r.t.1.0.0' };

let dir: string;
let stored: { file: ArtifactRef; content: string; errand: FileErrand }[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-outputs-'));
  stored = [];
  await writeFile(join(dir, NAME), 'whole');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function settle(answer: ToolAnswer, failure: FileFailure | null = null, commandId: string | null = call.commandId) {
  const store = async (file: ArtifactRef, source: () => FileSource, errand: FileErrand) => {
    stored.push({ file, content: Buffer.from(await source().read(0, 100)).toString(), errand });
    return failure;
  };
  const outputs = new WholeOutputs({ dir, link: { store }, logger: pino({ level: 'silent' }) });
  return outputs.settle(answer, { ...call, commandId });
}
const answering = (files: unknown): ToolAnswer => ({
  kind: 'answered',
  isError: false,
  value: VALUE,
  meta: { [OUTPUT_FILES_META]: files },
});
const answered = (added: object) => ({ kind: 'answered', isError: false, value: { ...VALUE, ...added } });
const file = { name: NAME, ...REF };

describe('a whole output', () => {
  it('is stored before the result is told, named in it, and gone from the disk', async () => {
    expect(await settle(answering({ stdout: { file, error: null } }))).toEqual(answered({ stdout_artifact: REF }));
    expect(stored).toEqual([
      { file: REF, content: 'whole', errand: { commandId: 'r.t.1.0.0', signal: call.signal, patienceMs: 10_000 } },
    ]);
    expect(await readdir(dir)).toEqual([]);
  });

  it.each<[string, object, FileFailure | null, object]>([
    [
      'that is only stored in part',
      { stderr: { file, error: 'only its first 5 bytes' } },
      null,
      { stderr_artifact: REF, artifact_error: 'stderr: only its first 5 bytes' },
    ],
    [
      'that cannot be stored',
      { stdout: { file, error: null } },
      { code: 'STORAGE_FAILED', message: 'the store cannot be reached' },
      { artifact_error: 'stdout: the store cannot be reached' },
    ],
    [
      'that was not kept',
      { stdout: { file: null, error: 'no space is left' } },
      null,
      { artifact_error: 'stdout: no space is left' },
    ],
    [
      'whose file is gone, beside one that is there',
      { stdout: { file: { ...file, name: 'c'.repeat(32) }, error: null }, stderr: { file, error: null } },
      null,
      { stderr_artifact: REF, artifact_error: 'stdout: the disk of the device: ENOENT' },
    ],
  ])('%s is so in the result', async (_, files, failure, added) => {
    expect(await settle(answering(files), failure)).toEqual(answered(added));
    // A file that is named is gone in every case.
    const isNamed = JSON.stringify(files).includes(NAME);
    expect(await readdir(dir)).toEqual(isNamed ? [] : [NAME]);
  });

  it('is not stored for a server that takes no files', async () => {
    const added = { artifact_error: 'stdout: this server takes no files' };
    expect(await settle(answering({ stdout: { file, error: null } }), null, null)).toEqual(answered(added));
    expect(await readdir(dir)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['a path', { stdout: { file: { ...file, name: '../token' }, error: null } }],
    ['another stream', { stdin: { file, error: null } }],
    ['nothing', undefined],
  ])('is believed to be there only as our own tools say it: %s is not', async (_, files) => {
    expect(await settle(answering(files))).toEqual(answered({}));
    expect(stored).toEqual([]);
  });

  it('is nothing for an answer that is none', async () => {
    expect(await settle({ kind: 'timed_out' })).toEqual({ kind: 'timed_out' });
  });
});
