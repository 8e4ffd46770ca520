import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { runIdOf } from '#libs/event-log';
import { resultFileOf } from '#libs/attempt';
import { putArtifact } from '#libs/messaging';
import { attemptOutputs, moment, startTestBus, type TestBus } from '#libs/testing';
import {
  commandIdOf,
  liveSubjectOf,
  subjects,
  type AttemptEvent,
  type OutputChunk,
  type RunId,
  type TaskResult,
} from '#proto';
import type { ExportRecord } from '#libs/audit';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings, type FakeTerminal } from '../../testing/fake-terminal.js';
import { sampleEvents, sealRun } from '../../testing/sample-run.js';

const { attemptCommit, finishedCommand, printed } = attemptOutputs;

const hashless = { sha256: '9'.repeat(64) };
const hashes = { a: '0'.repeat(64), b: '1'.repeat(64) };

let bus: TestBus;
let orchestrator: NatsConnection;
let gateway: NatsConnection;
let runs = 0;
let runId: RunId;
let commits: ExportRecord[];
let stopped: AbortController;
/** What was written and is on its way. */
const writing: Promise<unknown>[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  [orchestrator, gateway] = [await bus.as('orchestrator'), await bus.as('aip-gateway')];
});
afterAll(() => bus.stop());
beforeEach(async () => {
  stopped = new AbortController();
  runId = runIdOf('default', `output-${runs++}`);
  commits = sealRun(sampleEvents(hashes), runId);
  await append();
});
afterEach(() => stopped.abort());

/** The next commit: a is running, then b, then the run is over. */
async function append(): Promise<void> {
  await jetstream(orchestrator).publish(subjects.run(runId), JSON.stringify(commits.shift()?.commit));
}

type Attempt = readonly [Parameters<typeof attemptCommit>[0], readonly AttemptEvent[]];

interface Followed {
  readonly terminal: FakeTerminal;
  readonly exitCode: Promise<number>;
}

/** As a person with the key of the user `cli`, and no more rights than that; following when this resolves, or over. */
async function follow(line: string, terminal = fakeTerminal()): Promise<Followed> {
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli') };
  const words = line.split(' ').map((word) => word.replace('RUN', runId));
  const exitCode = runProgram(words, { ...surroundings(terminal, env), signal: stopped.signal });
  await Promise.race([exitCode, untilFollowed(line.endsWith(' b') ? 'b' : 'a')]);
  return { terminal, exitCode };
}

/** The server tells whether anybody is told of what a task writes: at once, before it answers a ping. */
async function untilFollowed(taskId: string): Promise<void> {
  const admin = await bus.as('admin');
  let nobody = false;
  const reply = createInbox('_INBOX_admin');
  const subscription = admin.subscribe(reply, { callback: () => void (nobody = true) });
  admin.publish(liveSubjectOf(subjects.output(commandIdOf({ runId, taskId, attempt: 9 }))), '', { reply });
  await admin.flush();
  subscription.unsubscribe();
  if (!nobody) return;
  await moment();
  return untilFollowed(taskId);
}

function write(taskId: string, text: string, change: Partial<OutputChunk> = {}): void {
  const commandId = commandIdOf({ runId, taskId, attempt: 1 });
  const chunk: OutputChunk = { commandId, deviceId: 'web-1', stream: 'stdout', offset: 0, text, ...change };
  writing.push(jetstream(gateway, { checkAPI: false }).publish(subjects.output(commandId), JSON.stringify(chunk)));
}

/** All that was written is stored: outputs and runs are streams of their own, and neither waits for the other. */
async function stored(): Promise<void> {
  await Promise.all(writing.splice(0));
}

/** All that was written is stored before the commits that end the tasks, as it is in a system. */
async function finish(): Promise<void> {
  await stored();
  await append();
  await append();
}

async function untilPrinted(lines: readonly string[], part: string): Promise<void> {
  while (!lines.some((line) => line.includes(part))) await moment();
}

describe('orrery output', () => {
  it('shows lines as they are written, with task and stream, and ends with the run', async () => {
    const { terminal, exitCode } = await follow('output RUN');
    write('a', 'one\nha');
    await untilPrinted(terminal.outLines, 'one'); // long before the run ends
    write('a', 'lf\u001B[2J\n', { offset: 6 });
    write('a', 'broken\n', { stream: 'stderr', offset: 12 });
    write('a', 'no end', { offset: 13 });
    await stored();
    await append();
    await untilPrinted(terminal.outLines, 'no end');
    write('b', 'bee\n');
    await stored();
    await append();
    expect(await exitCode).toBe(0);
    expect(terminal.outLines).toEqual([
      'a stdout | one',
      'a stdout | half',
      'a stderr | [... 12 bytes not shown ...]',
      'a stderr | broken',
      'a stdout | no end',
      'b stdout | bee',
    ]);
    expect(terminal.errLines).toEqual([
      'a stderr: some of it did not come live; what follows is shown when the command has ended',
    ]);
  });

  it('gives the output of one task to a pipe as it is', async () => {
    const { terminal, exitCode } = await follow('output RUN a');
    write('b', 'not asked for');
    write('a', 'one\u001B[2J\t');
    write('a', 'half', { offset: 8 });
    write('a', 'careful\n', { stream: 'stderr' });
    await finish();
    expect(await exitCode).toBe(0);
    expect(Buffer.concat(terminal.outBytes).toString()).toBe('one\u001B[2J\thalf');
    expect([terminal.outLines, terminal.errLines]).toEqual([[], ['careful']]);
  });

  it('gives it to a terminal in clean lines', async () => {
    const { terminal, exitCode } = await follow('output RUN a', fakeTerminal({ isTerminal: true }));
    write('a', 'one\u001B[2J\n');
    await finish();
    expect(await exitCode).toBe(0);
    expect([terminal.outLines, terminal.outBytes]).toEqual([['one'], []]);
  });

  it('prints one JSON object per piece', async () => {
    const { terminal, exitCode } = await follow('output RUN --json');
    write('a', 'one\nhalf');
    write('a', 'late', { offset: 20 });
    await finish();
    expect(await exitCode).toBe(0);
    const commandId = commandIdOf({ runId, taskId: 'a', attempt: 1 });
    const rest = { type: 'output', taskId: 'a', attempt: 1, commandId, deviceId: 'web-1', stream: 'stdout' };
    expect(terminal.outLines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { ...rest, offset: 0, text: 'one\nhalf' },
      { ...rest, offset: 20, text: 'late' },
    ]);
  });

  it('ends when it is interrupted, and the run goes on', async () => {
    const { terminal, exitCode } = await follow('output RUN');
    write('a', 'one\nhalf');
    await untilPrinted(terminal.outLines, 'one');
    stopped.abort();
    expect(await exitCode).toBe(130);
    expect(terminal.outLines).toEqual(['a stdout | one', 'a stdout | half']);
    expect(terminal.errLines).toEqual([`orrery: Stopped. The run goes on; follow it: orrery watch ${runId}`]);
  });

  it('says so when the task is over and may only be tried again', async () => {
    await append();
    const { terminal } = await follow('output RUN a');
    await untilPrinted(terminal.errLines, 'task a is over (completed); waiting in case it is tried again');
  });

  it.each<[string, string, number, string]>([
    ['a run that nobody knows', `output ${'0'.repeat(26)}`, 3, 'There is no run 0'],
    ['a task that the run does not have', 'output RUN c', 3, 'has no task c; see: orrery show '],
    ['something that is no task', 'output RUN a.b', 3, 'task: a task id must be 1 to 64 characters'],
  ])('explains %s in one sentence', async (_, line, code, why) => {
    const { terminal, exitCode } = await follow(line);
    expect(await exitCode).toBe(code);
    expect(terminal.errLines).toEqual([expect.stringContaining(why)]);
  });

  /** Of a run that is over: what its tasks have written, as the log and the store of artifacts have it. */
  async function over(...attempts: readonly Attempt[]) {
    runId = runIdOf('default', `output-${runs++}`);
    commits = sealRun(sampleEvents(hashes), runId);
    for (let count = 0; count < 3; count++) await append();
    const deviceAgent = jetstream(await bus.as('device-agent'));
    for (const [of, events] of attempts) {
      const { subject, commit } = attemptCommit({ ...of, runId }, events);
      await deviceAgent.publish(subject, JSON.stringify(commit));
    }
  }
  /** The exact command of an attempt. */
  const exact = (taskId: string, result: TaskResult | null, attempt = 1): Attempt => {
    const of = { runId: 'any', taskId, attempt };
    return [of, [finishedCommand(of, result)]];
  };
  async function read(line: string, overrides: Partial<FakeTerminal> = {}) {
    const { terminal, exitCode } = await follow(line, fakeTerminal(overrides));
    const { outLines: out, errLines: err, outBytes } = terminal;
    return { out, err, bytes: Buffer.concat(outBytes).toString(), exitCode: await exitCode };
  }

  it('shows all that a run wrote that is over, each line with its place, and says who wrote nothing', async () => {
    await over(
      exact('a', printed('first\u001B[2J\n', 'no\n', 1)),
      exact('a', printed('second'), 2),
      exact('b', printed('')),
    );
    expect(await read('output RUN')).toEqual({
      out: ['a/1/0.0 stdout | first', 'a/1/0.0 stderr | no', 'a/2/0.0 stdout | second'],
      err: ['b/1/0.0 wrote nothing'],
      bytes: '',
      exitCode: 0,
    });
    expect(await read('output RUN --failed', { isTerminal: true })).toMatchObject({ out: ['first'], err: ['no'] });
    expect(await read('output RUN a')).toMatchObject({ bytes: 'second', err: [] });
    expect(await read('output RUN --task a --attempt 1')).toMatchObject({ bytes: 'first\u001B[2J\n', err: ['no'] });
    expect(await read('output RUN --raw --stream stderr')).toMatchObject({ bytes: 'no\n' });
    expect(await read('output RUN --task a --attempt 7')).toMatchObject({
      exitCode: 3,
      err: ['orrery: No output of attempt 7 is recorded; there is a/1/0.0, a/2/0.0.'],
    });
  });

  it('gives all of an output, wherever it lies', async () => {
    const text = `${'0123456789'.repeat(200_000)}\u001B[2J no line feed`;
    const own = await putArtifact(gateway, Buffer.from(text));
    const kept = exec('head\n[... 1 characters cut ...]\ntail', { stdout_artifact: own, stdout_bytes: own.bytes });
    const answer = await putArtifact(gateway, Buffer.from(JSON.stringify(kept)));
    const whole = await putArtifact(gateway, Buffer.from(JSON.stringify(exec(text))));
    const words = await putArtifact(gateway, Buffer.from(JSON.stringify(text)));
    for (const result of [
      { value: kept, cut: ['stdout'], artifact: answer },
      { value: exec('cut'), cut: ['stdout'], artifact: whole },
      { value: 'cut', cut: [''], artifact: words },
    ]) {
      await over(exact('a', result));
      expect((await read('output RUN a')).bytes === text).toBe(true);
    }
    const pieces = (await read('output RUN --task a --json')).out.map((line) => JSON.parse(line) as { text?: string });
    expect(pieces.flatMap(({ text: part }) => part ?? []).join('') === text).toBe(true);
    await over(exact('a', { value: { rows: [1] } }));
    expect((await read('output RUN a')).bytes).toBe('{\n  "rows": [\n    1\n  ]\n}');
  });

  it('finds lines in it, with those around them', async () => {
    const lines = Array.from({ length: 300_000 }, (_, n) => (n === 250_000 ? 'disk full' : `line ${n}`)).join('\n');
    const ref = await putArtifact(gateway, Buffer.from(lines));
    const value = exec('line 0\n...', { stdout_artifact: ref, stdout_bytes: ref.bytes, stderr: '' });
    await over(exact('a', { value }), exact('b', printed('a full disk\n')));
    expect((await read('output RUN --grep disk.full -C 1')).out).toEqual([
      'a/1/0.0 stdout 250000- line 249999',
      'a/1/0.0 stdout 250001: disk full',
      'a/1/0.0 stdout 250002- line 250001',
    ]);
    expect((await read('output RUN --grep FULL -F -i')).out).toEqual([
      'a/1/0.0 stdout 250001: disk full',
      'b/1/0.0 stdout 1: a full disk',
    ]);
    const refused = ['output RUN --grep (', 'output RUN -C 2', 'output RUN --raw --grep x'].map((line) => read(line));
    expect((await Promise.all(refused)).map(({ exitCode }) => exitCode)).toEqual([3, 3, 3]);
  });

  it('says what is not kept, and never takes it for nothing', async () => {
    const lost = exec('head\n\u001B[2Jtail', { stdout_bytes: 9_000, artifact_error: 'stdout: the disk is full' });
    await over(exact('a', { value: lost }));
    expect(await read('output RUN --task a', { isTerminal: true })).toMatchObject({
      out: ['head', 'tail'],
      err: ['a/1/0.0 stdout: not all 9000 bytes of it are kept: stdout: the disk is full', 'careful'],
    });
    const gone = exec('head', { stdout_artifact: { sha256: '9'.repeat(64), bytes: 5_000 }, stdout_bytes: 5_000 });
    await over(exact('a', { value: gone }), exact('b', null));
    const { out, err } = await read('output RUN');
    expect(out).toEqual(['a/1/0.0 stdout | head', 'a/1/0.0 stderr | careful']);
    expect(err).toEqual([
      expect.stringMatching(/^a\/1\/0\.0 stdout: not all 5000 bytes of it are kept: .*is not stored/u),
      'b/1/0.0: what it wrote is not known; it ended COMPLETED',
    ]);
  });

  it('gives each file that a task left by its path, also where only a list names it', async () => {
    const all = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const path = `logs/web-${n}/errors.log`;
        return { path, mode: '640', ...(await putArtifact(gateway, Buffer.from(`errors of ${n}\n`))) };
      }),
    );
    const files = all.slice(0, 50).map(resultFileOf);
    const artifact = await putArtifact(gateway, Buffer.from(JSON.stringify(all)));
    const fileList = { files: all.length, bytes: 800, artifact };
    await over(exact('a', { ...printed('done'), files, fileList }));
    const { out, err } = await read('output RUN');
    expect([out[0], err.length]).toEqual(['a/1/0.0 stdout | done', 60]);
    expect(err).toContain(
      `a/1/0.0 file logs/web-59/errors.log: mode 640, 13 bytes, SHA-256 ${all.at(-1)?.sha256 ?? ''}`,
    );
    expect((await read('output RUN --artifact logs/web-59/errors.log -o -')).bytes).toBe('errors of 59\n');
    expect(await read('output RUN a --artifact errors.log -o -')).toMatchObject({
      exitCode: 3,
      err: [expect.stringContaining('"logs/web-0/errors.log" of a/1/0.0')],
    });

    await over(
      exact('a', { ...printed('done'), files, fileList: { ...fileList, artifact: { ...hashless, bytes: 9 } } }),
    );
    const gone = await read('output RUN');
    expect(gone.err).toHaveLength(51);
    expect(gone.err).toContain(
      `a/1/0.0: of 60 files that it left 50 are named: the list of all, SHA-256 ${hashless.sha256}, cannot be read`,
    );
    expect((await read('output RUN --artifact logs/web-9/errors.log -o -')).bytes).toBe('errors of 9\n');
  });

  it('shows of a run that goes on what is recorded, and says what is not yet', async () => {
    expect(await read('output RUN --recorded')).toMatchObject({
      err: ['a is RUNNING: what runs there now is recorded when it has ended', 'b is PENDING: nothing ran yet'],
      exitCode: 0,
    });
  });

  const exec = (stdout: string, more: object = {}) => ({ stdout, stderr: 'careful\n', exit_code: 0, ...more });
});

describe('with --output', () => {
  it('watch shows the lines between the events, each before the end of its task', async () => {
    const { terminal, exitCode } = await follow('watch RUN --output');
    await untilPrinted(terminal.outLines, 'TASK_STARTED a');
    write('a', 'one\nno end');
    await finish();
    expect(await exitCode).toBe(0);
    const from = terminal.outLines.findIndex((line) => line.includes('TASK_STARTED a'));
    expect(terminal.outLines.slice(from).map((line) => line.replace(/^\d\d:\d\d:\d\dZ /u, ''))).toEqual([
      'TASK_STARTED a on web-1',
      'a stdout | one',
      'a stdout | no end',
      'TASK_COMPLETED a',
      'TASK_STARTED b on web-1',
      'TASK_COMPLETED b',
      'RUN_COMPLETED succeeded (2 completed)',
    ]);
  });

  it('watch --json tells pieces from events by their type', async () => {
    const { terminal, exitCode } = await follow('watch RUN --output --json');
    write('a', 'one');
    await finish();
    expect(await exitCode).toBe(0);
    const types = terminal.outLines.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types.filter((type) => type === 'output' || type === 'RUN_COMPLETED')).toEqual(['output', 'RUN_COMPLETED']);
  });

  /** Follows a run that was submitted just now, until it has ended. */
  async function submitted(line: string): Promise<string[]> {
    const subscription = orchestrator.subscribe(subjects.submit, {
      callback: (_, message) => void message.respond(JSON.stringify({ runId, requestId: 'mine' })),
    });
    await orchestrator.flush();
    const { terminal, exitCode } = await follow(line);
    subscription.unsubscribe();
    write('a', 'one\n');
    await finish();
    expect(await exitCode).toBe(0);
    return terminal.outLines;
  }

  it('submit --wait shows them while it waits', async () => {
    expect(await submitted('submit goal --wait --output')).toContain('a stdout | one');
  });

  it('submit --wait --json prints the pieces, and the state comes last', async () => {
    const lines = await submitted('submit goal --wait --output --json');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { type: 'output', text: 'one\n' },
      { runId, status: 'COMPLETED' },
    ]);
  });
});
