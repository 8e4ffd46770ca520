import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandOutcome } from '#proto';
import { JournalError, type JournalRecord } from './command-journal.js';
import { JournalFile, JournalFileError } from './journal-file.adapter.js';

const attempt = { runId: 'r1', taskId: 't1', attempt: 1 };
const outcome = (result: string): CommandOutcome => ({
  state: 'COMPLETED',
  result,
  error: null,
  startedAt: null,
  durationMs: 1,
});
const started = (id: string): JournalRecord => ({ type: 'started', id, digest: 'd', attempt, at: 0, until: 60_000 });
const finished = (id: string, result = 'x'): JournalRecord => ({ type: 'finished', id, outcome: outcome(result) });
const arrives = (id: string) => ({ id, digest: 'd', attempt });

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-journal-'));
  path = join(dir, 'commands.journal');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** As after `kill -9`: what was appended is read again without anything having been closed. */
const reopen = (): Promise<JournalFile> => JournalFile.open(dir);

describe('the journal file', () => {
  it('belongs to its user alone and keeps its id', async () => {
    const first = await JournalFile.open(dir);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await reopen()).journal.journalId).toBe(first.journal.journalId);
  });

  it('has a record on the disk when its append resolves', async () => {
    const file = await JournalFile.open(dir);
    await file.append(started('c1'));
    await file.append(finished('c1'));
    expect((await reopen()).journal.receive(arrives('c1'))).toEqual({ kind: 'finished', outcome: outcome('x') });
  });

  it('does not count a record before it is on the disk', async () => {
    const file = await JournalFile.open(dir);
    const writing = file.append(started('c1'));
    expect(file.journal.receive(arrives('c1'))).toEqual({ kind: 'start' });
    await writing;
    expect(file.journal.receive(arrives('c1'))).toEqual({ kind: 'running' });
  });

  it('writes records that wait at the same time as one line', async () => {
    const file = await JournalFile.open(dir);
    await Promise.all(Array.from({ length: 50 }, (_, n) => file.append(started(`c${n}`))));
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect((await reopen()).journal.undelivered()).toHaveLength(50);
  });

  it('calls a started command unknown after a restart, durably', async () => {
    await (await JournalFile.open(dir)).append(started('c1'));
    await reopen();
    const { journal } = await reopen();
    expect(journal.undelivered()).toMatchObject([{ id: 'c1', outcome: { state: 'OUTCOME_UNKNOWN' } }]);
  });

  it('drops a torn last line and goes on', async () => {
    const file = await JournalFile.open(dir);
    await file.append(started('c1'));
    await file.append(finished('c1'));
    await truncate(path, (await stat(path)).size - 3);
    const second = await reopen();
    expect(second.tornBytes).toBeGreaterThan(0);
    expect(second.journal.receive(arrives('c1'))).toMatchObject({
      kind: 'finished',
      outcome: { state: 'OUTCOME_UNKNOWN' },
    });
    await second.append(started('c2'));
    expect((await reopen()).tornBytes).toBe(0);
  });

  it('refuses damage in the middle and leaves the file as it is', async () => {
    const file = await JournalFile.open(dir);
    await file.append(started('c1'));
    const bytes = await readFile(path);
    bytes[30] = (bytes[30] ?? 0) ^ 1;
    await writeFile(path, bytes);
    await expect(reopen()).rejects.toThrow(JournalError);
    expect(await readFile(path)).toEqual(bytes);
  });

  it('ignores what a crash left of a rewrite', async () => {
    const file = await JournalFile.open(dir);
    await file.append(started('c1'));
    await appendFile(`${path}.new`, 'half a journ');
    expect((await reopen()).journal.undelivered()).toHaveLength(1);
    expect(await readdir(dir)).toEqual(['commands.journal']);
  });

  it('shrinks when its results are acknowledged, and forgets none of its ids', async () => {
    const file = await JournalFile.open(dir);
    const large = 'x'.repeat(900_000);
    for (let n = 0; n < 30; n++) {
      await file.append(started(`c${n}`));
      await file.append(finished(`c${n}`, large));
      const record = file.journal.storedRecord(`c${n}`, 0);
      if (record !== undefined) file.noteLazily(record);
    }
    expect((await stat(path)).size).toBeLessThan(20_000_000);
    await file.close();
    const { journal } = await reopen();
    for (let n = 0; n < 30; n++) {
      expect(journal.receive(arrives(`c${n}`))).toMatchObject({ outcome: { error: { code: 'RESULT_FORGOTTEN' } } });
    }
  });

  it('believes a stop at once and has it on the disk soon', async () => {
    const file = await JournalFile.open(dir);
    file.note({ type: 'stopped', attempt, at: 0 });
    expect(file.journal.isStopped(attempt)).toBe(true);
    await file.close();
    expect((await reopen()).journal.isStopped(attempt)).toBe(true);
  });

  it('takes nothing more after the disk has failed', async () => {
    const file = await JournalFile.open(dir);
    await file.close();
    await expect(file.append(started('c1'))).rejects.toThrow(JournalFileError);
    await expect(file.append(started('c2'))).rejects.toThrow(JournalFileError);
    expect(file.journal.receive(arrives('c1'))).toEqual({ kind: 'start' });
  });
});
