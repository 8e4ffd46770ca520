import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AttemptFiles,
  type CommandOutcome,
  type RunCommandRequest,
  WORKSPACE_IN,
  WORKSPACE_OUT,
  type WorkspaceFile,
  workspaceCommandIdOf,
} from '#proto';
import type { ModelRequest } from '#libs/llm';
import { finishedCommands } from '#libs/output';
import { dying } from '#libs/testing';
import { keyOf, messageOf } from '../testing/agent.js';
import { AgentWorld, commandAt } from '../testing/agent-world.js';
import { outcomeOf } from '../testing/device.js';
import { execCli, STARTED_AT, type TaskLike } from '../testing/run.js';
import { finish, reply } from '../testing/shell-agent.js';

const BROUGHT = workspaceCommandIdOf(keyOf('a'), WORKSPACE_IN);
const FETCHED = workspaceCommandIdOf(keyOf('a'), WORKSPACE_OUT);
const TAKEN: AttemptFiles['in'] = [{ taskId: 'before', attempt: 1, to: 'logs/' }];

const fileOf = (path: string, content = path): WorkspaceFile => ({
  path,
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: content.length,
  mode: '640',
});
const doneWith = (files: readonly WorkspaceFile[]): CommandOutcome =>
  outcomeOf('COMPLETED', { files: [...files], skipped: 0 });
const failed = (code: string, message: string): CommandOutcome => ({
  ...outcomeOf('FAILED'),
  error: { code, message, outcome: 'failed' },
});

/** What the task before it, and the task itself, leave in their workspace. */
const LEFT: Record<string, readonly WorkspaceFile[]> = {
  before: [fileOf('a.log'), fileOf('deep/b.log')],
  a: [fileOf('table.csv')],
};

/** A world in which a task has left files, and task `a` is about to begin. */
async function worldWith(task: Partial<TaskLike>, left = LEFT, respond = answering(left)): Promise<AgentWorld> {
  const turns = [reply('sort logs/a.log'), finish('sorted')];
  const script = ({ turn }: ModelRequest) => turns[Number(turn.split('.').at(-1)) - 1];
  const files: AttemptFiles = { in: TAKEN, out: ['table.csv'] };
  const { start, ...rest } = task;
  const like = { agent: false, ...rest, start: { files, workspace: true as const, ...start } };
  const world = new AgentWorld(script, like, [{ id: 'before' }]);
  for (const { path } of Object.values(left).flat())
    world.world.stored.set(fileOf(path).sha256, new TextEncoder().encode(path));
  world.device.respond = respond;
  const out = { id: 'before', start: { files: { out: ['**/*.log'] }, workspace: true as const } };
  const before = world.run.start(out);
  await world.world.record(world.run);
  expect(await world.agent({ instance: 'earlier' }).starts.handle(messageOf(before))).toEqual({ kind: 'done' });
  world.device.executed.length = 0;
  world.device.forgotten.length = 0;
  world.device.requests.length = 0;
  return world;
}

const answering =
  (left: Record<string, readonly WorkspaceFile[]>) =>
  ({ command, attempt }: RunCommandRequest): CommandOutcome => {
    if (command.tool === WORKSPACE_OUT) return doneWith(left[attempt.taskId] ?? []);
    if (command.tool === WORKSPACE_IN) return outcomeOf('COMPLETED', { fetched: 2 });
    return outcomeOf('COMPLETED', execCli('done'));
  };

const VERIFY = { verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test -f table.csv' } } } };

describe('an attempt with files', () => {
  let world: AgentWorld;
  beforeEach(async () => {
    world = await worldWith({ start: VERIFY });
  });
  const runs = (): RunCommandRequest[] =>
    world.device.requests.flatMap((request) => (request.kind === 'run' ? [request] : []));

  it('has them brought first, and stores what it leaves when its post-condition holds', async () => {
    expect(await world.carryOut()).toEqual({ kind: 'done' });
    expect(world.device.executed).toEqual([BROUGHT, commandAt(0), commandAt(1), FETCHED]);
    const [bring, ...others] = runs();
    expect(bring?.command.arguments).toEqual({
      files: [
        { ...fileOf('a.log'), path: 'logs/a.log' },
        { ...fileOf('deep/b.log'), path: 'logs/deep/b.log' },
      ],
    });
    expect(others.at(-1)?.command).toEqual({ tool: WORKSPACE_OUT, arguments: { patterns: ['table.csv'] } });
    expect(runs().every(({ workspace, judged }) => workspace === true && judged === undefined)).toBe(true);
    expect(runs().every(({ startedAt }) => startedAt === STARTED_AT)).toBe(true);
    const { sha256, bytes } = fileOf('table.csv');
    expect(await world.end()).toMatchObject({
      status: 'completed',
      result: {
        value: { stdout: 'done' },
        files: [{ name: 'table.csv', path: 'table.csv', mode: '640', artifact: { sha256, bytes } }],
      },
      // What moves files is no command of the budget.
      used: { commands: 2 },
    });
  });

  it('does not begin when they cannot be brought, and says why', async () => {
    const full = failed('DISK_FULL', 'logs/a.log needs 5 bytes; 0 are free');
    world = await worldWith({}, LEFT, (request) =>
      request.command.tool === WORKSPACE_IN ? full : answering(LEFT)(request),
    );
    await world.carryOut();
    expect(world.device.executed).toEqual([BROUGHT]);
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: { code: 'DISK_FULL', message: 'logs/a.log needs 5 bytes; 0 are free', outcome: 'failed' },
    });
  });

  it('is not done when what it has to leave is not there, and its result is kept', async () => {
    const missing = failed('FILE_MISSING', 'there is no file "table.csv"');
    world = await worldWith({}, LEFT, (request) =>
      request.command.tool === WORKSPACE_OUT && request.attempt.taskId === 'a' ? missing : answering(LEFT)(request),
    );
    await world.carryOut();
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: { code: 'FILE_MISSING', output: { value: { stdout: 'done' } } },
    });
  });

  it('stores nothing when its work has failed', async () => {
    world = await worldWith({}, LEFT, (request) =>
      request.command.tool === 'EXEC_CLI' && request.attempt.taskId === 'a'
        ? outcomeOf('COMPLETED', execCli('half', 1))
        : answering(LEFT)(request),
    );
    await world.carryOut();
    expect(world.device.executed).toEqual([BROUGHT, commandAt(0)]);
    expect(await world.end()).toMatchObject({ status: 'failed', error: { code: 'EXIT_CODE' } });
  });

  it.each([
    ['names a file that nobody asked for', { ...LEFT, a: [fileOf('id_rsa')] }, '"id_rsa", which was not asked for'],
    ['names a content that is not stored', { ...LEFT, a: [fileOf('table.csv', 'other')] }, '"table.csv" is not stored'],
  ])('is not done when its device %s', async (_, left, why) => {
    world = await worldWith({}, left, answering(left));
    for (const file of left.a) if (file.sha256 !== fileOf(file.path).sha256) world.world.stored.delete(file.sha256);
    await world.carryOut();
    const end = await world.end();
    expect(end).toMatchObject({ status: 'failed', error: { code: 'INVALID_ANSWER' } });
    expect(JSON.stringify(end)).toContain(JSON.stringify(why).slice(1, -1));
  });

  it.each([
    [
      'takes a file that was not left',
      [{ taskId: 'before', attempt: 1, file: 'c.log' }],
      'FILE_MISSING',
      'a.log, deep/b.log',
    ],
    [
      'takes two that land at one place',
      [
        { taskId: 'before', attempt: 1, file: 'a.log', to: 'x.log' },
        { taskId: 'before', attempt: 1, file: '**/b.log', to: 'x.log' },
      ],
      'FILE_CLASH',
      'x.log',
    ],
    [
      'takes one that lands where another one needs a directory',
      [
        { taskId: 'before', attempt: 1, file: 'a.log', to: 'deep' },
        { taskId: 'before', attempt: 1, file: 'deep/*' },
      ],
      'FILE_CLASH',
      'deep/b.log',
    ],
  ])('does not begin when it %s', async (_, taken, code, name) => {
    world = await worldWith({ start: { files: { in: taken } } });
    await world.carryOut();
    expect(world.device.executed).toEqual([]);
    expect(await world.end()).toMatchObject({
      status: 'failed',
      error: { code, message: expect.stringContaining(name) },
    });
  });

  it('begins without what may be missing, and asks for nothing', async () => {
    world = await worldWith({ start: { files: { in: [{ taskId: 'before', attempt: 1, file: 'c.log?' }] } } });
    await world.carryOut();
    expect(world.device.executed).toEqual([commandAt(0)]);
    expect(await world.end()).toMatchObject({ status: 'completed' });
  });

  it('that leaves more than a result can name has the list of all stored, and who takes them reads it', async () => {
    const many = Array.from({ length: 100 }, (_, index) => fileOf(`logs/${'long-'.repeat(20)}${index}.log`));
    world = await worldWith({ start: { files: { in: [{ taskId: 'before', attempt: 1 }] } } }, { before: many });
    await world.carryOut();
    expect(runs()[0]?.command.arguments['files']).toEqual(many);
    const [before] = (await world.world.attempt('before')).flatMap(({ commit }) =>
      commit.events.flatMap((event) => (event.type === 'ATTEMPT_FINISHED' ? [event.data] : [])),
    );
    if (before?.status !== 'completed') throw new Error('it failed');
    expect(before.result.files).toHaveLength(50);
    expect(before.result.fileList).toMatchObject({
      files: 100,
      bytes: many.reduce((sum, { bytes }) => sum + bytes, 0),
    });
  });

  it('of an agent is told what lies there and what it has to leave', async () => {
    world = await worldWith({ agent: true });
    await world.carryOut();
    expect(world.device.executed).toEqual([BROUGHT, commandAt(1), FETCHED]);
    const [request] = world.model.requests;
    expect(JSON.stringify(request)).toContain('logs/deep/b.log');
    expect(await world.end()).toMatchObject({ result: { value: 'sorted', files: [{ path: 'table.csv' }] } });
  });
});

describe('what people are told of an attempt with files', () => {
  it('is that its exact command came with them, and no output of what moves them', async () => {
    const world = await worldWith({});
    await world.carryOut();
    const commits = (await world.world.attempt('a')).map(({ commit }) => commit);
    expect(finishedCommands(commits)).toMatchObject([
      { commandId: commandAt(0), result: { files: [{ path: 'table.csv' }] } },
    ]);
  });
});

describe.each<[string, Partial<TaskLike>, readonly string[]]>([
  ['an exact command', {}, [BROUGHT, commandAt(0), FETCHED]],
  [
    'a judged command that is checked',
    { start: { judge: true, ...VERIFY } },
    [BROUGHT, commandAt(0), commandAt(1), FETCHED],
  ],
  ['an agent', { agent: true }, [BROUGHT, commandAt(1), FETCHED]],
])('%s with files', (_, task, executed) => {
  it.each(['before', 'after'] as const)('ends the same when the process dies %s any of its calls', async (when) => {
    for (let n = 1; ; n++) {
      const world = await worldWith(task);
      const { options, died } = dying(n, when);
      const started = world.agent(options).starts.handle(messageOf(world.commit));
      const at = await Promise.race([started.then(() => 'nothing'), died]);
      const next = world.agent({ instance: 'next' });
      expect(await next.starts.handle(messageOf(world.commit, 2))).toEqual({ kind: 'done' });
      const seen = `${when} ${at} (${n})`;
      expect([seen, await world.end()]).toMatchObject([
        seen,
        { status: 'completed', result: { files: [{ path: 'table.csv' }] } },
      ]);
      expect([seen, world.device.executed]).toEqual([seen, executed]);
      expect([seen, new Set(world.device.forgotten)]).toEqual([seen, new Set(executed)]);
      expect([seen, await world.violations()]).toEqual([seen, []]);
      if (at === 'nothing') break;
    }
  });
});
