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
    expect(journal.undelivered()).toEqual(['c1']);
    expect(journal.outcomeOf('c1')).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
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

  it('drops a last line that was torn at any of its bytes, and nothing else', async () => {
    const file = await JournalFile.open(dir);
    await Promise.all([file.append(started('c1')), file.append(started('c2'))]);
    const good = (await stat(path)).size;
    await file.append(finished('c1'));
    const whole = await readFile(path);
    for (let cut = good; cut <= whole.length; cut++) {
      await writeFile(path, whole.subarray(0, cut));
      const torn = await reopen();
      const { journal, tornBytes } = torn;
      expect(tornBytes).toBe(cut === whole.length ? 0 : cut - good);
      // Without its record nobody knows how the command ended; that it was begun is never forgotten.
      expect(journal.outcomeOf('c1')).toMatchObject({ state: cut === whole.length ? 'COMPLETED' : 'OUTCOME_UNKNOWN' });
      expect(journal.outcomeOf('c2')).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
      await torn.close();
    }
  });

  it('stays small under ten thousand commands that are acknowledged, and knows every one of them', async () => {
    const file = await JournalFile.open(dir);
    const text = 'x'.repeat(4_000);
    let largest = 0;
    for (let batch = 0; batch < 50; batch++) {
      const ids = Array.from({ length: 200 }, (_, n) => `c${batch}-${n}`);
      await Promise.all(ids.map((id) => file.append(started(id))));
      await Promise.all(ids.map((id) => file.append(finished(id, text))));
      for (const id of ids) {
        const record = file.journal.storedRecord(id, 0);
        if (record !== undefined) file.noteLazily(record);
      }
      largest = Math.max(largest, (await stat(path)).size);
    }
    // 42 MB were written; a rewrite keeps 100 bytes of each command.
    expect(largest).toBeLessThan(12_000_000);
    expect(file.journal.undelivered()).toEqual([]);
    await file.close();
    const second = await reopen();
    expect((await stat(path)).size).toBeLessThan(2_000_000);
    for (const id of ['c0-0', 'c25-100', 'c49-199']) {
      expect(second.journal.receive(arrives(id))).toMatchObject({ outcome: { error: { code: 'RESULT_FORGOTTEN' } } });
    }
    await second.close();
  });

  it('is rewritten while commands run, and forgets none of them', async () => {
    const file = await JournalFile.open(dir);
    const large = 'x'.repeat(900_000);
    const rewrites: number[] = [];
    let size = 0;
    for (let n = 0; n < 30; n++) {
      // Each round one command begins that is still running at the end, and one ends whose result is acknowledged.
      await Promise.all([file.append(started(`running-${n}`)), file.append(started(`over-${n}`))]);
      await Promise.all([file.append(finished(`over-${n}`, large)), file.append(started(`more-${n}`))]);
      const record = file.journal.storedRecord(`over-${n}`, 0);
      if (record !== undefined) file.noteLazily(record);
      const now = (await stat(path)).size;
      if (now < size) rewrites.push(n);
      size = now;
    }
    expect(rewrites.length).toBeGreaterThan(1);
    await file.append(finished('running-0', 'the end'));
    const { journal } = await reopen();
    expect(journal.outcomeOf('running-0')).toEqual(outcome('the end'));
    for (let n = 1; n < 30; n++) {
      expect(journal.outcomeOf(`running-${n}`)).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
      expect(journal.outcomeOf(`more-${n}`)).toMatchObject({ state: 'OUTCOME_UNKNOWN' });
      expect(journal.receive(arrives(`over-${n}`)).kind).not.toBe('start');
    }
    await file.close();
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
