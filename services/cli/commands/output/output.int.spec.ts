import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { runIdOf } from '#libs/event-log';
import { putArtifact } from '#libs/messaging';
import { startTestBus, type TestBus } from '#libs/testing';
import { commandIdOf, subjects, type OutputChunk, type RunId, type TaskResult } from '#proto';
import type { ExportRecord } from '#libs/audit';
import { followOutput } from '../../live/output.client.js';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings, type FakeTerminal } from '../../testing/fake-terminal.js';
import { sampleEvents, sealRun } from '../../testing/sample-run.js';

const hashes = { a: '0'.repeat(64), b: '1'.repeat(64) };

let bus: TestBus;
let orchestrator: NatsConnection;
let gateway: NatsConnection;
let runs = 0;
let runId: RunId;
let commits: ExportRecord[];
let stopped: AbortController;

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

interface Followed {
  readonly terminal: FakeTerminal;
  readonly exitCode: Promise<number>;
}

/** As a person with the key of the user `cli`, and no more rights than that; listening when this resolves. */
async function follow(line: string, terminal = fakeTerminal()): Promise<Followed> {
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli') };
  const words = line.split(' ').map((word) => word.replace('RUN', runId));
  const exitCode = runProgram(words, { ...surroundings(terminal, env), signal: stopped.signal });
  const probe = subjects.output(commandIdOf({ runId, taskId: line.endsWith(' b') ? 'b' : 'a', attempt: 9 }));
  await Promise.race([exitCode, untilHeard(probe)]);
  return { terminal, exitCode };
}

/** What is no piece is left out, but the server tells whether anybody listens: at once, before it answers a ping. */
async function untilHeard(subject: string): Promise<void> {
  const admin = await bus.as('admin');
  let nobody = false;
  const reply = createInbox('_INBOX_admin');
  const subscription = admin.subscribe(reply, { callback: () => void (nobody = true) });
  admin.publish(subject, '', { reply });
  await admin.flush();
  subscription.unsubscribe();
  if (nobody) return untilHeard(subject);
}

function write(taskId: string, text: string, change: Partial<OutputChunk> = {}): void {
  const commandId = commandIdOf({ runId, taskId, attempt: 1 });
  const chunk: OutputChunk = { commandId, deviceId: 'web-1', stream: 'stdout', offset: 0, text, ...change };
  gateway.publish(subjects.output(commandId), JSON.stringify(chunk));
}

/** All that was written reaches the bus before the commits that end the tasks, as it does in a system. */
async function finish(): Promise<void> {
  await gateway.flush();
  await append();
  await append();
}

async function untilPrinted(lines: readonly string[], part: string): Promise<void> {
  while (!lines.some((line) => line.includes(part))) await new Promise((turn) => void setImmediate(turn));
}

describe('orrery output', () => {
  it('shows lines as they are written, with task and stream, and ends with the run', async () => {
    const { terminal, exitCode } = await follow('output RUN');
    write('a', 'one\nha');
    await untilPrinted(terminal.outLines, 'one'); // long before the run ends
    write('a', 'lf\u001B[2J\n', { offset: 6 });
    write('a', 'broken\n', { stream: 'stderr', offset: 12 });
    write('a', 'no end', { offset: 13 });
    await gateway.flush();
    await append();
    await untilPrinted(terminal.outLines, 'no end');
    write('b', 'bee\n');
    await gateway.flush();
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
    expect(terminal.errLines).toEqual([]);
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
    expect(await exitCode).toBe(1);
    expect(terminal.outLines).toEqual(['a stdout | one', 'a stdout | half']);
  });

  it('says so when the task is over and may only be tried again', async () => {
    await append();
    const { terminal } = await follow('output RUN a');
    expect(terminal.errLines).toEqual(['task a is over (completed); waiting in case it is tried again']);
  });

  it.each<[string, string, number, string]>([
    ['a run that nobody knows', 'output unknown', 3, 'There is no run unknown.'],
    ['a task that the run does not have', 'output RUN c', 3, 'has no task c; see: orrery show '],
    ['something that is no task', 'output RUN a.b', 3, 'task: a task id must be 1 to 64 characters'],
  ])('explains %s in one sentence', async (_, line, code, why) => {
    const { terminal, exitCode } = await follow(line);
    expect(await exitCode).toBe(code);
    expect(terminal.errLines).toEqual([expect.stringContaining(why)]);
  });

  it('says where the results are when the run is over', async () => {
    await append();
    await append();
    const { terminal, exitCode } = await follow('output RUN');
    expect(await exitCode).toBe(3);
    expect(terminal.errLines).toEqual([
      `orrery: Run ${runId} is over (succeeded), and what all its tasks write is shown only while they run. ` +
        `The whole output of one: orrery output ${runId} <task>; what became of it: orrery show ${runId}, orrery report ${runId}`,
    ]);
  });

  /** Of a run that is over, in which task a had this result. */
  async function recorded(result: TaskResult, terminal = fakeTerminal()): Promise<FakeTerminal> {
    runId = runIdOf('default', `output-${runs++}`);
    const events = sampleEvents(hashes).map((of) =>
      of.map((event) =>
        event.type === 'TASK_COMPLETED' && event.data.taskId === 'a'
          ? { ...event, data: { ...event.data, result } }
          : event,
      ),
    );
    commits = sealRun(events, runId);
    for (let count = 0; count < 3; count++) await append();
    expect(await (await follow('output RUN a', terminal)).exitCode).toBe(0);
    return terminal;
  }
  const exec = (stdout: string, more: object = {}) => ({ stdout, stderr: 'careful\n', exit_code: 0, ...more });
  const printed = ({ outBytes }: FakeTerminal): string => Buffer.concat(outBytes).toString();

  it('gives the whole output of a task of a run that is over, wherever it lies', async () => {
    const text = `${'0123456789'.repeat(200_000)}\u001B[2J no line feed`;
    const own = await putArtifact(gateway, Buffer.from(text));
    const short = await recorded({ value: exec('short\u001B[2J') });
    expect([printed(short), short.errLines]).toEqual(['short\u001B[2J', ['careful']]);
    const kept = exec('head\n[... 1 characters cut ...]\ntail', { stdout_artifact: own, stdout_bytes: own.bytes });
    const answer = await putArtifact(gateway, Buffer.from(JSON.stringify(kept)));
    expect(printed(await recorded({ value: kept, cut: ['stdout'], artifact: answer })) === text).toBe(true);
    const whole = await putArtifact(gateway, Buffer.from(JSON.stringify(exec(text))));
    expect(printed(await recorded({ value: exec('cut'), cut: ['stdout'], artifact: whole })) === text).toBe(true);
    const words = await putArtifact(gateway, Buffer.from(JSON.stringify(text)));
    expect(printed(await recorded({ value: 'cut', cut: [''], artifact: words })) === text).toBe(true);
    expect(printed(await recorded({ value: { rows: [1] } }))).toBe('{\n  "rows": [\n    1\n  ]\n}');
  });

  it('says so where the whole of it is not kept, and cleans it for a terminal', async () => {
    const lost = exec('head\n\u001B[2Jtail', { stdout_bytes: 9_000, artifact_error: 'stdout: the disk is full' });
    const terminal = await recorded({ value: lost }, fakeTerminal({ isTerminal: true }));
    expect(terminal.outLines).toEqual(['head', 'tail']);
    expect(terminal.errLines).toEqual(['this is cut: it had 9000 bytes, and the whole is not kept', 'careful']);
  });

  it('says so when its key may not listen', async () => {
    const heard = followOutput(await bus.as('auditor'), { runId }, () => undefined);
    await expect(heard).rejects.toThrow('Your key of the bus may not listen to the output of runs.');
  });
});

describe('with --output', () => {
  it('watch shows the lines between the events, each before the end of its task', async () => {
    const { terminal, exitCode } = await follow('watch RUN --output');
    await untilPrinted(terminal.outLines, 'TASK_STARTED a');
    write('a', 'one\nno end');
    await finish();
    expect(await exitCode).toBe(0);
    const from = terminal.outLines.findIndex((line) => line.includes('TASK_STARTED a'));
    expect(terminal.outLines.slice(from).map((line) => line.replace(/^\d\d:\d\d:\d\d /u, ''))).toEqual([
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
