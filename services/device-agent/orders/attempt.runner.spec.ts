import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  ACK_WAIT_MS,
  commandIdOf,
  LIMITS,
  StdinParts,
  type AttemptFinished,
  type Json,
  type RunCommandRequest,
} from '#proto';
import { verifyChain } from '#libs/event-log';
import { dying } from '#libs/testing';
import { keyOf, messageOf, TestAgent, World } from '../testing/agent.js';
import { outcomeOf, ScriptedDevice } from '../testing/device.js';
import { execCli, SESSION_ID, DEVICE_ID, RUN_ID, TestRun } from '../testing/run.js';

let world: World;
let device: ScriptedDevice;
let run: TestRun;
const A = { id: 'a' };
const B = { id: 'b' };
const COMMAND_A = commandIdOf(keyOf('a'));
const HAPPY = [['COMMAND_FINISHED', 'ATTEMPT_FINISHED']];

beforeEach(() => {
  device = new ScriptedDevice();
  world = new World(device);
  run = new TestRun([A, B]);
});

async function endOf(taskId: string): Promise<AttemptFinished> {
  const events = (await world.attempt(taskId)).flatMap(({ commit }) => commit.events);
  const ends = events.flatMap((event) => (event.type === 'ATTEMPT_FINISHED' ? [event.data] : []));
  const [end] = ends;
  if (end === undefined || ends.length > 1) throw new Error(`${ends.length} ends`);
  return end;
}

describe('a first delivery', () => {
  it('costs one request and one append, and reads nothing', async () => {
    const calls: string[] = [];
    const agent = new TestAgent(world, { before: async (call) => void calls.push(call) });
    expect(await agent.starts.handle(messageOf(run.start(A)))).toEqual({ kind: 'done' });
    expect(calls).toEqual(['ask run', 'attempts.append', 'tell stored']);
    expect(await world.types('a')).toEqual(HAPPY);
    expect(await endOf('a')).toEqual({ status: 'completed', result: { value: execCli('echo a') } });
    expect(device.forgotten).toEqual([COMMAND_A]);
  });

  it('names device, session, journal and the instant after which nobody may start it, the same in every repeat', async () => {
    device.intercept = () => (device.requests.length < 3 ? { state: 'queued' } : undefined);
    await new TestAgent(world).starts.handle(messageOf(run.start(A)));
    const [first, second] = device.requests;
    expect(first).toMatchObject({ deviceId: DEVICE_ID, sessionId: SESSION_ID, journalId: 'journal-1' });
    expect(first).toMatchObject({ commandId: COMMAND_A, notAfter: '2026-11-20T10:10:00.000Z' });
    expect(second).toEqual(first);
  });

  it('carries out all attempts of a commit at once and is done when the last has ended', async () => {
    device.holds = true;
    const handled = new TestAgent(world).starts.handle(messageOf(run.start(A, B)));
    await device.until(() => device.executed.length === 2);
    device.finish(commandIdOf(keyOf('b')), outcomeOf('COMPLETED', 1));
    expect(await world.types('a')).toEqual([]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 2));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.types('b')).toEqual(HAPPY);
  });

  it('carries out no more attempts at once than there are slots', async () => {
    device.holds = true;
    const handled = new TestAgent(world, { attemptsMax: 1 }).starts.handle(messageOf(run.start(A, B)));
    await device.until(() => device.requests.length > 3);
    expect(device.executed).toEqual([COMMAND_A]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    await device.until(() => device.executed.length === 2);
    device.finish(commandIdOf(keyOf('b')), outcomeOf('COMPLETED', 2));
    expect(await handled).toEqual({ kind: 'done' });
  });

  it('that comes again with many others reads their run twice at most: it may be long', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ id: `t${index}` }));
    const calls: string[] = [];
    const agent = new TestAgent(world, { before: async (call) => void calls.push(call) });
    const large = new TestRun(many);
    const started = large.start(...many);
    await world.record(large);
    expect(await agent.starts.handle(messageOf(started, 2))).toEqual({ kind: 'done' });
    expect(calls.filter((call) => call === 'runs.load').length).toBeLessThanOrEqual(2);
    expect(device.executed).toHaveLength(20);
  });

  it('passes over commits that start nothing, and buries what is no commit', async () => {
    const agent = new TestAgent(world);
    expect(await agent.starts.handle(messageOf(run.stop('a')))).toEqual({ kind: 'done' });
    const broken = { ...messageOf(run.start(A)), data: new TextEncoder().encode('{}') };
    expect(await agent.starts.handle(broken)).toMatchObject({ kind: 'poison' });
    expect(device.requests).toEqual([]);
  });

  it('waits for a device that is away, with the same command id', async () => {
    device.away = true;
    const handled = new TestAgent(world, {
      after: async (call) => {
        if (call === 'ask run' && device.requests.length === 0) device.away = false;
      },
    }).starts.handle(messageOf(run.start(A)));
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual(HAPPY);
  });
});

describe('answers', () => {
  it('keep the output of a failed command', async () => {
    device.respond = () => ({ ...outcomeOf('FAILED', execCli('half', 3)), error: null });
    await new TestAgent(world).starts.handle(messageOf(run.start(A)));
    expect(await endOf('a')).toMatchObject({
      status: 'failed',
      error: { outcome: 'failed', output: { value: { exit_code: 3 } } },
    });
  });

  it('that refuse end the attempt without a command', async () => {
    device.intercept = () => ({ state: 'refused', code: 'UNKNOWN_TOOL', message: 'no such tool' });
    await new TestAgent(world).starts.handle(messageOf(run.start(A)));
    expect(await world.types('a')).toEqual([['ATTEMPT_FINISHED']]);
    expect(await endOf('a')).toMatchObject({ error: { code: 'UNKNOWN_TOOL', outcome: 'failed' } });
  });

  it('that do not know either leave the outcome unknown', async () => {
    device.finish(COMMAND_A, outcomeOf('OUTCOME_UNKNOWN'));
    await new TestAgent(world).starts.handle(messageOf(run.start(A)));
    expect(await endOf('a')).toMatchObject({ error: { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' } });
  });

  it('that nobody can read leave the outcome unknown', async () => {
    device.intercept = () => ({ state: 'unreadable' });
    await new TestAgent(world).starts.handle(messageOf(run.start(A)));
    expect(await endOf('a')).toMatchObject({ error: { code: 'INVALID_ANSWER', outcome: 'unknown' } });
  });

  it('too long for an event are stored whole before the event names them', async () => {
    const stdout = 'x'.repeat(100_000);
    device.respond = () => outcomeOf('COMPLETED', execCli(stdout));
    const calls: string[] = [];
    await new TestAgent(world, { before: async (call) => void calls.push(call) }).starts.handle(
      messageOf(run.start(A)),
    );
    expect(calls).toEqual(['ask run', 'artifacts.put', 'attempts.append', 'tell stored']);
    const end = await endOf('a');
    if (end.status !== 'completed') throw new Error('it failed');
    const { value, cut, artifact } = end.result;
    expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(LIMITS.resultBytesMax);
    expect(cut).toEqual(['stdout']);
    const whole = Buffer.from(world.stored.get(artifact?.sha256 ?? '') ?? []).toString();
    expect(JSON.parse(whole)).toEqual(execCli(stdout));
  });
});

describe('inputs', () => {
  const CAT = { id: 'b', arguments: { command: 'cat', stdin: { from: ['a'] } }, inputs: [{ taskId: 'a', attempt: 1 }] };

  it('are what the named attempts answered, whole, even when the log holds them cut', async () => {
    const stdout = `begin${'x'.repeat(100_000)}end`;
    device.respond = () => outcomeOf('COMPLETED', execCli(stdout));
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    await agent.starts.handle(messageOf(run.start(CAT)));
    const last = device.requests.findLast(({ kind }) => kind === 'run');
    expect(last).toMatchObject({ command: { arguments: { command: 'cat', stdin: stdout } } });
  });

  it('of a failed predecessor are its output', async () => {
    device.respond = () => outcomeOf('FAILED', execCli('half', 1));
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    await agent.starts.handle(messageOf(run.start(CAT)));
    expect(device.requests.findLast(({ kind }) => kind === 'run')).toMatchObject({
      command: { arguments: { stdin: 'half' } },
    });
  });

  it('that a fork took over are read in the run that made them', async () => {
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    const fork = new TestRun([{ id: 'b' }], 'fork1');
    const inputs = [{ taskId: 'a', attempt: 1, runId: RUN_ID }];
    await agent.starts.handle(messageOf(fork.start({ ...CAT, inputs })));
    expect(device.requests.findLast(({ kind }) => kind === 'run')).toMatchObject({
      attempt: { runId: 'fork1' },
      command: { arguments: { stdin: 'echo a' } },
    });
  });

  /** What the command reads of a task that answered this. */
  async function stdinAfter(result: Json, from: Json[] = ['a']): Promise<Json | undefined> {
    device.respond = () => outcomeOf('COMPLETED', result);
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    await agent.starts.handle(messageOf(run.start({ ...CAT, arguments: { command: 'cat', stdin: { from } } })));
    const sent = device.requests.findLast(({ kind }) => kind === 'run') as RunCommandRequest;
    return sent.attempt.taskId === 'b' ? sent.command.arguments['stdin'] : undefined;
  }
  const output = (more: Record<string, Json>): Json => ({ ...(execCli('head ... tail') as object), ...more });

  it('are the text of any answer, and a field where one is named', async () => {
    const ufo = { success: true, exit_code: 0, stdout: 'Linux\n', stderr: 'warned' };
    expect(await stdinAfter(ufo, ['a', { task: 'a', field: 'stderr' }, { task: 'a' }])).toBe('Linux\nwarnedLinux\n');
  });

  it('that a device has stored are named by their checksum, with what comes before and after', async () => {
    const bytes = 3_000_000;
    const { sha256 } = await new TestAgent(world).artifacts.put(new Uint8Array(bytes));
    const stored = output({ stdout_bytes: bytes, stdout_artifact: { sha256, bytes }, stderr: 'E' });
    expect(await stdinAfter(stored, [{ task: 'a', field: 'stderr' }, 'a', { task: 'a', field: 'exit_code' }])).toEqual({
      parts: [{ text: 'E' }, { artifact: { sha256, bytes } }, { text: '0\n' }],
    });
  });

  it('that are short texts travel in the command, also when they are stored: every device takes those', async () => {
    const { sha256, bytes } = await new TestAgent(world).artifacts.put(new TextEncoder().encode('zwölf'));
    expect(await stdinAfter(output({ stdout_bytes: 6, stdout_artifact: { sha256, bytes } }))).toBe('zwölf');
  });

  it('that are no text are never made one', async () => {
    const { sha256, bytes } = await new TestAgent(world).artifacts.put(Uint8Array.of(0xff, 0x00, 0xc3));
    const stored = output({ stdout_bytes: 3, stdout_artifact: { sha256, bytes } });
    expect(await stdinAfter(stored)).toEqual({ parts: [{ artifact: { sha256, bytes } }] });
  });

  it.each<[string, Record<string, Json>, RegExp]>([
    [
      'was not kept whole',
      { stdout_bytes: 900_000, artifact_error: 'stdout: the disk is full' },
      /900000 bytes.*disk is full/,
    ],
    [
      'was kept in part',
      { stdout_bytes: 9, stdout_artifact: { sha256: 'e'.repeat(64), bytes: 5 } },
      /9 bytes.*kept 5 bytes/,
    ],
    ['is gone', { stdout_bytes: 9, stdout_artifact: { sha256: 'e'.repeat(64), bytes: 9 } }, /9 bytes.*is not stored/],
  ])('fail the task before it is sent when the output %s', async (_, more, message) => {
    expect(await stdinAfter(output(more))).toBeUndefined();
    expect(await endOf('b')).toMatchObject({
      error: { code: 'INPUT_UNAVAILABLE', message: expect.stringMatching(message) },
    });
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('that are gone from the store fail the attempt instead of delivering something else', async () => {
    device.respond = () => outcomeOf('COMPLETED', execCli('x'.repeat(100_000)));
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    world.stored.clear();
    await agent.starts.handle(messageOf(run.start(CAT)));
    expect(await endOf('b')).toMatchObject({ error: { code: 'INPUT_UNAVAILABLE', outcome: 'failed' } });
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('too large for a frame lie in ARTIFACTS, and the command names them', async () => {
    const text = 'x'.repeat(LIMITS.aipFrameBytesMax);
    device.respond = () => outcomeOf('COMPLETED', execCli(text));
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(run.start(A)));
    await agent.starts.handle(messageOf(run.start(CAT)));
    const sent = device.requests.findLast(({ kind }) => kind === 'run') as RunCommandRequest;
    const { parts } = StdinParts.parse(sent.command.arguments['stdin']);
    const [part] = parts;
    const artifact = part !== undefined && 'artifact' in part ? part.artifact : undefined;
    expect([parts.length, artifact?.bytes]).toEqual([1, text.length]);
    expect(new TextDecoder().decode(world.stored.get(artifact?.sha256 ?? ''))).toBe(text);
    expect(await endOf('b')).toMatchObject({ status: 'completed' });
  });
});

describe('a second delivery', () => {
  it('finds the end and does nothing but tell the device again that its result is stored', async () => {
    const commit = run.start(A);
    await world.record(run);
    await new TestAgent(world).starts.handle(messageOf(commit));
    expect(await new TestAgent(world, { instance: 'i2' }).starts.handle(messageOf(commit, 2))).toEqual({
      kind: 'done',
    });
    expect(device.executed).toEqual([COMMAND_A]);
    expect(await world.types('a')).toEqual(HAPPY);
    expect(device.forgotten).toEqual([COMMAND_A, COMMAND_A]);
  });

  it('to the process that is at it joins the attempt', async () => {
    device.holds = true;
    const commit = run.start(A);
    await world.record(run);
    const agent = new TestAgent(world);
    const both = [agent.starts.handle(messageOf(commit)), agent.starts.handle(messageOf(commit, 2))];
    await device.until(() => device.executed.length === 1);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    expect(await Promise.all(both)).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(await world.types('a')).toEqual(HAPPY);
  });

  it('of an open attempt is written down, and goes on with the same command', async () => {
    const commit = run.start(A);
    await world.record(run);
    await new TestAgent(world, { instance: 'i2' }).starts.handle(messageOf(commit, 2));
    expect(await world.types('a')).toEqual([['ATTEMPT_RESUMED'], ...HAPPY]);
  });

  it('begins nothing when the run has gone on', async () => {
    const commit = run.start(A);
    run.failWithoutEnd('a');
    await world.record(run);
    expect(await new TestAgent(world).starts.handle(messageOf(commit, 2))).toEqual({ kind: 'done' });
    expect(device.requests).toEqual([]);
    expect(await world.types('a')).toEqual([]);
  });

  it('begins nothing when another attempt of the task is running', async () => {
    const commit = run.start(A);
    run.failWithoutEnd('a');
    run.append({
      type: 'TASK_REOPENED',
      data: { taskId: 'a', attempt: 1, reason: 'retry_policy', notBefore: '2026-11-20T10:00:00.000Z' },
    });
    run.start({ ...A, attempt: 2 });
    await world.record(run);
    await new TestAgent(world).starts.handle(messageOf(commit, 2));
    expect(device.requests).toEqual([]);
  });

  it('of a damaged run is buried, others go on', async () => {
    const commit = run.start(A);
    const damaged = run.commits.map((one) => (one.number === 1 ? { ...one, at: '2026-11-20T11:00:00.000Z' } : one));
    let end = 0;
    for (const one of damaged) {
      const appended = await world.runs.append(run.runId, one, end);
      if (appended.kind === 'appended') end = appended.sequence;
    }
    expect(await new TestAgent(world).starts.handle(messageOf(commit, 2))).toMatchObject({ kind: 'poison' });
  });
});

describe('an old start', () => {
  it('is checked like a second delivery, because the durable may be new', async () => {
    const commit = run.start({ ...A, startedAt: '2026-11-20T09:00:00.000Z' });
    await world.record(run);
    const agent = new TestAgent(world);
    await agent.starts.handle(messageOf(commit));
    await new TestAgent(world).starts.handle(messageOf(commit));
    expect(device.executed).toEqual([COMMAND_A]);
    expect(await world.types('a')).toEqual(HAPPY);
  });
});

describe('a takeover', () => {
  it('makes the frozen owner stop, and give the message back without hurry', async () => {
    device.holds = true;
    const commit = run.start(A);
    await world.record(run);
    const frozen = new TestAgent(world, { instance: 'i1' }).starts.handle(messageOf(commit));
    await device.until(() => device.executed.length === 1);
    const second = new TestAgent(world, { instance: 'i2' }).starts.handle(messageOf(commit, 2));
    expect(await frozen).toMatchObject({ kind: 'retry', delayMs: ACK_WAIT_MS });
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    expect(await second).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([['ATTEMPT_RESUMED'], ...HAPPY]);
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('meets the end of the first owner when that was faster', async () => {
    const commit = run.start(A);
    await world.record(run);
    let first: Promise<unknown> = Promise.resolve();
    const second = new TestAgent(world, {
      instance: 'i2',
      before: async (call) => {
        if (call !== 'attempts.append') return;
        first = new TestAgent(world, { instance: 'i1' }).starts.handle(messageOf(commit));
        await first;
      },
    });
    expect(await second.starts.handle(messageOf(commit, 2))).toEqual({ kind: 'done' });
    expect(await first).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual(HAPPY);
  });
});

describe('trouble with the log', () => {
  it.each(['lost-unknown', 'stored-unknown'] as const)(
    '%s: the message comes again and the attempt ends once',
    async (fault) => {
      const commit = run.start(A);
      await world.record(run);
      world.attempts.faults.push(fault);
      const agent = new TestAgent(world);
      await expect(agent.starts.handle(messageOf(commit))).rejects.toThrow('did not answer');
      expect(await agent.starts.handle(messageOf(commit, 2))).toEqual({ kind: 'done' });
      await endOf('a');
      expect(device.executed).toEqual([COMMAND_A]);
    },
  );

  it('of one attempt does not keep the others of its commit from their end', async () => {
    const commit = run.start(A, B);
    await world.record(run);
    world.attempts.faults.push('lost-unknown');
    const agent = new TestAgent(world);
    await expect(agent.starts.handle(messageOf(commit))).rejects.toThrow();
    expect((await world.types('a')).length + (await world.types('b')).length).toBe(1);
    await agent.starts.handle(messageOf(commit, 2));
    await endOf('a');
    await endOf('b');
  });
});

describe('a process that dies', () => {
  it.each(['before', 'after'] as const)(
    '%s any of its effects: the next one ends the attempt, the command runs once',
    async (when) => {
      for (let n = 1; ; n++) {
        device = new ScriptedDevice();
        device.respond = () => outcomeOf('COMPLETED', execCli('x'.repeat(50_000)));
        world = new World(device);
        run = new TestRun([A]);
        const commit = run.start(A);
        await world.record(run);
        const { options, died } = dying(n, when);
        const first = new TestAgent(world, options).starts.handle(messageOf(commit));
        const survived = await Promise.race([first.then(() => true), died.then(() => false)]);
        expect(await new TestAgent(world, { instance: 'next' }).starts.handle(messageOf(commit, 2))).toEqual({
          kind: 'done',
        });
        expect(await endOf('a')).toMatchObject({ status: 'completed' });
        expect(device.executed).toEqual([COMMAND_A]);
        expect(device.forgotten).toContain(COMMAND_A);
        expect(verifyChain((await world.attempt('a')).map((stored) => stored.commit))).toEqual([]);
        if (survived) {
          expect(n).toBe(5);
          return;
        }
      }
    },
  );
});

describe('the end of the process', () => {
  it('gives the message back at once and leaves the command to the next one', async () => {
    device.holds = true;
    const commit = run.start(A);
    await world.record(run);
    const agent = new TestAgent(world);
    const handled = agent.starts.handle(messageOf(commit));
    await device.until(() => device.executed.length === 1);
    agent.live.leave();
    expect(await handled).toMatchObject({ kind: 'retry', delayMs: 0 });
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    await new TestAgent(world, { instance: 'i2' }).starts.handle(messageOf(commit, 2));
    expect(device.executed).toEqual([COMMAND_A]);
    await endOf('a');
  });
});

describe('a lost device', () => {
  it('ends the attempt, also while it is being waited for', async () => {
    device.away = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const agent = new TestAgent(world, { after: async (call) => (call === 'ask run' ? resolve() : undefined) });
    const handled = agent.starts.handle(messageOf(run.start(A)));
    await promise;
    agent.state = {
      deviceId: DEVICE_ID,
      lost: true,
      connected: false,
      sessionId: SESSION_ID,
      connectedAt: '2026-11-20T09:00:00.000Z',
    };
    expect(await handled).toEqual({ kind: 'done' });
    expect(await world.types('a')).toEqual([['ATTEMPT_FINISHED']]);
    expect(await endOf('a')).toMatchObject({ error: { code: 'DEVICE_LOST', outcome: 'device_lost' } });
  });

  it('leaves a command that was sent without an outcome', async () => {
    device.holds = true;
    const agent = new TestAgent(world);
    const handled = agent.starts.handle(messageOf(run.start(A)));
    await device.until(() => device.executed.length === 1);
    device.away = true;
    agent.live.find(keyOf('a'))?.interrupt('lost');
    await handled;
    expect(await world.types('a')).toEqual(HAPPY);
    expect(await endOf('a')).toMatchObject({ error: { code: 'DEVICE_LOST' } });
    expect(device.forgotten).toEqual([]);
  });
});
