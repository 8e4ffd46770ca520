import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { SubmitAnswer, subjects, type Experience, type RunView, type SearchAnswer } from '#proto';
import { writeRequest } from '../e2e/requests.js';
import { type TestSystem, until } from '../e2e/system.js';
import { parseExport } from '#libs/audit';
import { readSecret } from '#libs/keys';
import { requestRun } from '#libs/testing';
import { HISTORIES, runHistories } from './history-folder.js';
import { recordsOf } from './history-file.js';
import { unpackHome } from './home-archive.js';

/* A system of this version is started on the home of an earlier one, and goes on where that one stood. */

interface RecordedEnd {
  readonly type: string;
  readonly data: { readonly commandId: string };
}

/** What lies in the home of a system before it is started. */
export const layHome = (version: string, home: string): Promise<void> =>
  unpackHome(join(HISTORIES, version, 'home.tar.zst'), home);

/**
 * A system whose home is of that version, with two devices and a model that knows no story: nothing here asks it for anything. In the end nothing
 * of then is open any more. All its runs are counted: nobody else has any yet.
 */
export function testsOfHome(version: string, given: () => TestSystem): void {
  const histories = new Map(runHistories(version).map((history) => [history.name, history]));
  const history = (name: string) => {
    const found = histories.get(name);
    if (found === undefined) throw new Error(`there is no history ${name}`);
    return found;
  };
  let system: TestSystem;
  beforeAll(() => {
    system = given();
  });

  it('serves every run as it was stored', async () => {
    // The lists follow the log.
    await until('every run in the list', async () => {
      const { runs } = await system.json<{ runs: { runId: string }[] }>('runs', '--limit', '1000');
      const listed = new Set(runs.map(({ runId }) => runId));
      return [...histories.values()].every(({ runId }) => listed.has(runId)) || undefined;
    });
    for (const name of ['untyped-lines', 'goal-recovered', 'fork-of-results']) {
      const { runId, lines } = history(name);
      const { stdout } = await system.cli('export', runId);
      const { records, problems } = parseExport(`${stdout.trimEnd()}\n`);
      // The actors of then are facts since it was upgraded.
      expect([records.filter(({ stream }) => stream !== 'ACTORS'), problems]).toEqual([recordsOf(lines), []]);
    }
  });

  it('shows them, and tells what happened in them', async () => {
    const { runId } = history('untyped-lines');
    const shown = await system.json<RunView>('show', runId);
    expect(shown).toMatchObject({
      status: 'COMPLETED',
      outcome: 'partially_failed',
      requestId: 'history-untyped-lines',
    });
    const parts = ['## Answer', 'The settings come from db-1; web-1 has none.'];
    expect(await system.report(history('goal-recovered').runId, ...parts)).toContain('fallback');
  });

  it('finds the commands of then by what they were and printed, although nobody looked for words then', async () => {
    const search = async (...words: string[]) => system.json<SearchAnswer>('search', ...words, '--limit', '200');
    await until('all of them to be read', async () => ((await search()).upTo.behind === 0 ? true : undefined));
    const { runId, lines } = history('goal-recovered');
    const ended = lines
      .filter(({ stream }) => stream === 'ATTEMPTS')
      .flatMap(({ text }) => (JSON.parse(text) as { events: RecordedEnd[] }).events)
      .flatMap(({ type, data }) => (type === 'COMMAND_FINISHED' ? [data.commandId] : []));
    expect(ended.length).toBeGreaterThan(0);
    const { commands } = await search('--run', runId);
    expect(commands.map(({ commandId }) => commandId)).toEqual(expect.arrayContaining(ended));
    const [word = ''] = /\w+/u.exec(commands[0]?.line ?? '') ?? [];
    const again = await search(word, '--run', runId);
    expect(again.commands.map(({ commandId }) => commandId)).toContain(commands[0]?.commandId);
  });

  it('knows a request that was sent to it, although it says less than it would have to say today', async () => {
    const requests = JSON.parse(await readFile(join(HISTORIES, version, 'requests.json'), 'utf8')) as Record<
      string,
      string
    >;
    const nc = await system.bus();
    for (const name of ['untyped-lines', 'conditions', 'goal-collected']) {
      const [text = '', { runId }] = [requests[name], history(name)];
      // Published as it was then, and signed as the command line does it today: the namespace is the same.
      const answers = nc.subscribe(subjects.answer(`history-${name}`), { max: 1, timeout: 120_000 });
      nc.publish(subjects.requests, text);
      for await (const message of answers) {
        expect([name, SubmitAnswer.parse(message.json())]).toMatchObject([name, { runId }]);
      }
      expect(await requestRun(nc, text, await readSecret(join(system.home, 'keys/cli.seed')))).toBe(runId);
    }
  });

  it('goes on with what was not over, and takes back an end when it is told to', async () => {
    const open = ['open-paused', 'open-device', 'open-round', 'open-approval', 'open-plan'];
    // 3: it has ended by itself in the meantime, because somebody has waited long enough.
    for (const name of open) expect([0, 3]).toContain((await system.cli('cancel', history(name).runId)).code);
    for (const name of open) expect((await system.untilEnd(history(name).runId)).endedAt).not.toBeNull();
    const { runId } = history('failed');
    expect(await system.cli('retry', runId, 'a')).toMatchObject({ code: 0 });
    const again = await until('another try of a task of then', async () => {
      const view = await system.show(runId);
      return view.tasks[0]?.attempts === 2 && view.endedAt !== null ? view : undefined;
    });
    expect(again).toMatchObject({ status: 'FAILED', tasks: [{ error: { code: 'EXIT_CODE' } }] });
  });

  it('takes a new run, which the devices of then do', async () => {
    const tasks = ['web-1', 'db-1'].map((device) => ({
      id: device,
      name: device,
      target: { device },
      command: { tool: 'EXEC_CLI', arguments: { command: 'cat tries marker 2>/dev/null; echo new' } },
    }));
    const file = await writeRequest(system.home, {
      requestId: 'of-today',
      constellation: { name: 'of today', tasks, lines: [] },
    });
    const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
    const view = await system.untilEnd(runId);
    expect(view).toMatchObject({ outcome: 'succeeded' });
    expect(view.tasks[0]?.result?.value).toMatchObject({ stdout: expect.stringContaining('marked') });
  });

  it('forgets what was learnt then when it is told to', async () => {
    const learnt = async () => (await system.json<{ experiences: Experience[] }>('experience', 'ls')).experiences;
    const { runId } = history('goal-learnt-from');
    const known = await until('what was learnt', async () => {
      const all = await learnt();
      return all.some(({ source }) => source === runId) ? all : undefined;
    });
    for (const { id } of known) expect(await system.cli('experience', 'forget', id)).toMatchObject({ code: 0 });
    await until('nothing to be known', async () => (await learnt()).length === 0 || undefined);
  });

  it('is verified from end to end, what was added included', async () => {
    const { ok, runs } = await system.json<{ ok: boolean; runs: unknown[] }>('verify', '--all');
    expect([ok, runs.length]).toEqual([true, histories.size + 1]);
  });
}
