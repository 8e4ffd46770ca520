import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ConstellationSnapshot, type Evaluation, type Experience, type PlanEvent, type RunView } from '#proto';
import type { StoryModel, Turn } from './agent-model.js';
import { creates, declines, ends, GATE_SECONDS_MAX, task } from './planner-stories.js';
import { unhurried } from '../../services/cli/testing/fake-terminal.js';
import { sendRequest } from './requests.js';
import { CLI, ROOT, type TestSystem, until } from './system.js';

/* Real processes: an assistant that sees and changes a live run over MCP, runs that a model judges, and work that is learnt from. */

let model: StoryModel;
let system: TestSystem;
let jail: string;
/** The run of each story. */
const runs = new Map<string, string>();

async function submit(requestId: string, request: object): Promise<string> {
  const runId = await sendRequest(system, { requestId, ...request });
  runs.set(requestId, runId);
  return runId;
}

/** A goal; no round of it is given up because the machine is slow. */
const ask = (story: string, goal: string, options: object = {}): Promise<string> =>
  submit(story, { goal, options: { editDeadlineMs: 600_000, ...options } });

function runOf(story: string): string {
  const runId = runs.get(story);
  if (runId === undefined) throw new Error(`${story} was not sent`);
  return runId;
}

const status = ({ tasks }: RunView) => Object.fromEntries(tasks.map((each) => [each.id, each.status]));

async function stepsOf(runId: string): Promise<PlanEvent[]> {
  return (await system.json<{ steps: PlanEvent[] }>('plan', runId)).steps;
}

const sh = (command: string) => ({ tool: 'EXEC_CLI', arguments: { command, timeout: GATE_SECONDS_MAX } });

/** The second task waits for the first one, which waits for a file: what is said over MCP is said to a run that lives. */
const LIVE = {
  name: 'live',
  tasks: [
    {
      id: 'gate',
      name: 'gate',
      target: { device: 'web-1' },
      command: sh('until [ -e go-assisted ]; do sleep 0.05; done'),
    },
    { id: 'last', name: 'last', target: { device: 'web-1' }, command: sh('cat extra') },
  ],
  lines: [{ id: 'gate-last', from: 'gate', to: 'last', type: 'success-only' }],
};

const TALKED = {
  name: 'talked',
  tasks: [{ id: 'only', name: 'only', target: { device: 'web-1' }, command: sh('true') }],
  lines: [],
};

const GOAL = 'Report which file systems are nearly full';
const TIP = 'Look at inodes as well as at blocks.';
const SHOWN_TIP = 'Ask for one line per file system.';
/** Said by a model that is to say something else. */
const GARBAGE = 'I would say that it went rather well.';

const JUDGEMENT = {
  reason: 'The task "only" shows it.',
  sub_scores: [{ name: 'it is done', evaluation: 'yes' }],
  subtasks: [{ task_id: 'only', evaluation: 'yes', reason: 'it printed its name' }],
  feasible: 'yes',
  complete: 'yes',
} satisfies Evaluation;
const MUMBLED = {
  reason: 'Nothing proves it.',
  sub_scores: [{ name: 'it is done', evaluation: 'unsure' }],
  complete: 'unsure',
} satisfies Evaluation;
/** Whether the evaluator of the second run can be understood. */
let speaksClearly = false;

const plan = (id: string) => ({ name: id, tasks: [task(id, `echo ${id}`)], dependencies: [] });
const example = (tip: string) => ({ json: { request: GOAL, tips: [tip], constellation: plan('disks') } }) as Turn;

/** What the model says here. */
export const ASSISTANT_STORIES: Readonly<Record<string, readonly Turn[]>> = {
  'plan-judged': [creates(plan('only')), ends('FINISH', 'It was done.', ['only']), GARBAGE, { json: JUDGEMENT }],
  'plan-mumbled': [declines('FINISH', 'Nothing was to be done.'), () => (speaksClearly ? { json: MUMBLED } : GARBAGE)],
  'plan-learnt': [creates(plan('look')), ends('FINISH', 'None is nearly full.', ['look']), example(TIP)],
  'plan-shown': [example(SHOWN_TIP)],
  'plan-later': [declines('FINISH', 'None is nearly full.')],
  'plan-afterwards': [declines('FINISH', 'None is nearly full.')],
};

/** Of a system with the device web-1 that learns from its work, and whose model tells ASSISTANT_STORIES. */
export function testsOfAssistant(running: () => { readonly system: TestSystem; readonly model: StoryModel }): void {
  beforeAll(async () => {
    ({ system, model } = running());
    jail = join(system.home, 'devices', 'web-1', 'jail');
    // They do not know of each other: while one is looked at, the others go on.
    await Promise.all([
      submit('assisted', { constellation: LIVE }),
      submit('talked', { constellation: TALKED, options: { planner: 'external', editDeadlineMs: 600_000 } }),
      ask('judged', 'Please do plan-judged.', { evaluate: true }),
      ask('mumbled', 'Please do plan-mumbled.'),
      ask('learnt', `plan-learnt: ${GOAL}`),
    ]);
  });

  describe('an assistant', () => {
    const hosts: Client[] = [];
    afterAll(() => Promise.all(hosts.map((host) => host.close())));

    async function connect(transport: Transport): Promise<Client> {
      const host = new Client({ name: 'assistant', version: '1.0.0' });
      await host.connect(transport);
      hosts.push(host);
      return host;
    }

    const overHttp = (url: string, token: string): Promise<Client> =>
      connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      );

    const tokenFor = (runId: string, ...more: readonly string[]) =>
      system.json<{ url: string; token: string }>('mcp', 'token', runId, ...more);

    async function snapshot(
      host: Client,
      name = 'get_constellation',
      args: object = {},
    ): Promise<ConstellationSnapshot> {
      const { structuredContent, content } = await host.callTool({ name, arguments: { ...args } });
      if (structuredContent === undefined) throw new Error(`${name} was refused: ${JSON.stringify(content)}`);
      return ConstellationSnapshot.parse(structuredContent);
    }

    it('with a token sees a run that lives, and adds a task and what waits for it', async () => {
      const runId = runOf('assisted');
      const { url, token } = await tokenFor(runId);
      const host = await overHttp(url, token);
      const before = await until('the first task to run', async () => {
        const seen = await snapshot(host);
        return seen.tasks[0]?.status === 'RUNNING' ? seen : undefined;
      });
      expect(before).toMatchObject({
        run_id: runId,
        tasks: [
          { task_id: 'gate', modifiable: false },
          { task_id: 'last', status: 'PENDING', modifiable: true },
        ],
      });
      const added = await snapshot(host, 'add_task', task('extra', 'echo from the assistant > extra'));
      expect(added).toMatchObject({ revision: before.revision + 1, tasks: [{}, {}, { task_id: 'extra' }] });
      const line = { dependency_id: 'extra-last', from_task_id: 'extra', to_task_id: 'last' };
      expect((await snapshot(host, 'add_dependency', line)).revision).toBe(before.revision + 2);
      const denied = await snapshot(host, 'add_task', task('wipe', 'rm -rf /'));
      expect(denied.tasks.map(({ task_id: id }) => id)).toEqual(['gate', 'last', 'extra', 'wipe']);
    });

    it('changes nothing with a token that only reads, and sees nothing with one of another run or with none', async () => {
      const [runId, other] = [runOf('assisted'), runOf('mumbled')];
      const [{ url, token }, foreign] = await Promise.all([tokenFor(runId, '--read-only'), tokenFor(other)]);
      const host = await overHttp(url, token);
      expect((await host.listTools()).tools.map(({ name }) => name)).toEqual(['get_constellation', 'get_board']);
      expect((await snapshot(host)).tasks.map(({ task_id: id }) => id)).toContain('extra');
      const late = { name: 'add_task', arguments: task('late', 'echo never') };
      await expect(host.callTool(late)).rejects.toMatchObject({ code: 403 });
      await expect(overHttp(url, foreign.token)).rejects.toMatchObject({ code: 403 });
      await expect(overHttp(url, 'made-up')).rejects.toMatchObject({ code: 401 });
    });

    it('that starts "orrery mcp serve" sees the same run, and changes it', async () => {
      const runId = runOf('assisted');
      const host = await connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [CLI, 'mcp', 'serve', runId],
          env: environmentOf({ ...system.env, ORRERY_ROOT: ROOT }),
          stderr: 'inherit',
        }),
      );
      expect((await host.listTools()).tools).toHaveLength(12);
      const before = await snapshot(host);
      expect(before.tasks.map(({ task_id: id }) => id)).toEqual(['gate', 'last', 'extra', 'wipe']);
      const changed = await snapshot(host, 'update_task', { task_id: 'last', name: 'the last one' });
      expect(changed).toMatchObject({ revision: before.revision + 1, tasks: [{}, { name: 'the last one' }, {}, {}] });
    });

    it('is what the run does, in the name of the person, and judged as what a model wrote', async () => {
      const runId = runOf('assisted');
      await writeFile(join(jail, 'go-assisted'), '');
      const view = await system.untilEnd(runId);
      expect(status(view)).toEqual({ gate: 'COMPLETED', last: 'COMPLETED', extra: 'COMPLETED', wipe: 'FAILED' });
      expect(view.tasks.find(({ id }) => id === 'last')?.result?.value).toMatchObject({
        stdout: 'from the assistant\n',
      });
      expect(view.tasks.find(({ id }) => id === 'wipe')?.error).toMatchObject({ code: 'POLICY_DENIED' });
      const edit = { origin: 'operator', proposedBy: { kind: 'person', id: 'cli' }, judgeCommands: true };
      const [, ...edits] = await system.eventsOf(runId, 'CONSTELLATION_MODIFIED');
      expect(edits).toMatchObject([edit, edit, edit, edit]);
    });
  });

  describe('what an assistant says to a run and writes on its board', () => {
    const WORDS = 'also look at db-2';
    const ASKED = { name: 'say', arguments: { text: WORDS, id: 'w1' } };
    const WRITTEN = { name: 'set_board_value', arguments: { name: 'seen', value: { hosts: 2 }, revision: 0 } };

    it('is said and written once, though who decides it, and who serves the assistant, are killed meanwhile', async () => {
      const runId = runOf('talked');
      await system.untilEnd(runId);
      const { url, token } = await system.json<{ url: string; token: string }>('mcp', 'token', runId);
      const headers = { authorization: `Bearer ${token}` };
      const host = new Client({ name: 'assistant', version: '1.0.0' });
      await host.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

      const [said] = await Promise.all([called(host, ASKED), system.kill9('orchestrator')]);
      expect(said).toMatchObject({ run_id: runId });
      await Promise.all([called(host, WRITTEN), system.kill9('orchestrator')]);
      await Promise.all([called(host, ASKED), system.kill9('planner')]);
      const board = await called(host, { name: 'get_board', arguments: {} });
      expect(board).toMatchObject({
        revision: 1,
        entries: [{ name: 'seen', value: { hosts: 2 }, by: 'cli, through a program', judged: true }],
      });
      await host.close();

      expect(await system.eventsOf(runId, 'WORDS_SAID')).toMatchObject([{ text: WORDS, delegated: true }]);
      const answer = join(system.home, 'talked.json');
      await writeFile(answer, JSON.stringify({ editId: 'e1', state: 'FINISH' }));
      expect(await system.cli('propose', runId, '-f', answer)).toMatchObject({ code: 0 });
      await system.untilEnd(runId);
      expect(await system.cli('verify', runId)).toMatchObject({ code: 0 });
    });

    /** Again and again, as hosts do, until it has an answer; a write that was taken before finds itself there. */
    const called = (host: Client, call: { readonly name: string; readonly arguments: Record<string, unknown> }) =>
      until(`an answer to ${call.name}`, async () => {
        const answer = await host.callTool(call).catch(() => undefined);
        if (answer === undefined) return undefined;
        const text = JSON.stringify(answer.content);
        if (answer.isError === true && text.includes('There is: {\\"hosts\\":2}')) return { isThere: true };
        return answer.isError === true ? undefined : (answer.structuredContent as object);
      });
  });

  /** Without what is not set: a child gets no `undefined`. */
  function environmentOf(env: NodeJS.ProcessEnv): Record<string, string> {
    return Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
  }

  describe('a run that has ended', () => {
    it('is judged when it asked for it, although the model first says something else', async () => {
      const runId = runOf('judged');
      const view = await until('the judgement', async () => {
        const seen = await system.show(runId);
        return seen.evaluation === null || seen.evaluation === undefined ? undefined : seen;
      });
      expect([view.outcome, view.evaluation]).toEqual(['succeeded', JUDGEMENT]);
      expect(await system.eventsOf(runId, 'RUN_ANNOTATED')).toMatchObject([
        { kind: 'evaluation', evaluation: JUDGEMENT },
      ]);
      const judged = (await stepsOf(runId)).flatMap((step) => (step.type === 'RUN_EVALUATED' ? [step.data] : []));
      expect(judged.map(({ calls }) => calls.map(({ problems }) => problems.length > 0))).toEqual([[true, false]]);
      const [shown, report] = await Promise.all([system.cli('show', runId), system.report(runId, JUDGEMENT.reason)]);
      expect(shown.stdout).toContain(`Evaluation: complete: yes\n${JUDGEMENT.reason}`);
      expect(report).toContain('Complete: yes');
      expect(model.asked('plan-judged')).toHaveLength(4);
    });

    it('is judged for who asks, once; of an evaluator that nobody understands nothing is kept but the reason', async () => {
      const runId = runOf('mumbled');
      await system.untilEnd(runId);
      const refused = await system.cli('evaluate', runId);
      expect(refused).toMatchObject({ stdout: '', stderr: expect.stringContaining('could not be judged') });
      expect(refused.code).toBeGreaterThan(0);
      // Where it takes long to be judged, that is said before.
      const said = unhurried(refused.stderr.trimEnd()).filter((line) => !line.includes(' Trying again for '));
      expect(said).toEqual([expect.stringMatching(/^orrery: /u)]);
      expect((await system.show(runId)).evaluation ?? null).toBeNull();
      speaksClearly = true;
      expect(await system.json('evaluate', runId)).toEqual({ runId, evaluation: MUMBLED });
      const { length } = model.asked('plan-mumbled');
      expect(await system.json('evaluate', runId)).toEqual({ runId, evaluation: MUMBLED });
      expect(model.asked('plan-mumbled')).toHaveLength(length);
    });
  });

  it('what was learnt is shown to plans for something alike, until it is forgotten', async () => {
    const runId = runOf('learnt');
    expect(await system.untilEnd(runId)).toMatchObject({ outcome: 'succeeded' });
    const byHand = {
      name: 'by hand',
      request: 'plan-shown',
      steps: [{ device: 'web-1', description: 'look', command: 'df -P' }],
    };
    const file = join(system.home, 'by-hand.json');
    await writeFile(file, JSON.stringify(byHand));
    const [learnt, shown] = await Promise.all([
      system.json<{ experience: Experience }>('experience', 'learn', runId),
      system.json<{ experience: Experience }>('experience', 'demonstrate', '-f', file),
    ]);
    expect(learnt.experience).toMatchObject({ id: runId, kind: 'experience', source: runId, tips: [TIP] });
    expect(shown.experience).toMatchObject({ kind: 'demonstration', source: 'by hand', tips: [SHOWN_TIP] });

    const [later, listed] = await Promise.all([
      examplesFor('plan-later'),
      system.json<{ experiences: Experience[] }>('experience', 'ls', '--text', 'file systems'),
    ]);
    expect(listed.experiences.map(({ id }) => id).toSorted()).toEqual([runId, shown.experience.id].toSorted());
    expect(later.toSorted()).toEqual([runId, shown.experience.id].toSorted());
    const planning = model.asked('plan-later').at(-1);
    expect(planning?.prompt).toContain(TIP);
    expect(planning?.prompt).toContain(SHOWN_TIP);

    expect(await system.cli('experience', 'forget', runId)).toMatchObject({ code: 0 });
    expect(await examplesFor('plan-afterwards')).toEqual([shown.experience.id]);
    const again = model.asked('plan-afterwards').at(-1);
    expect(again?.prompt).toContain(SHOWN_TIP);
    expect(again?.prompt).not.toContain(TIP);
  });

  /** Those of the first plan that has any: on a slow machine one may be made without, because it waits two seconds for them and no longer. */
  function examplesFor(story: string): Promise<string[]> {
    let asked = 0;
    return until(`examples for ${story}`, async () => {
      const { runId } = await system.untilEnd(await ask(`${story}-${++asked}`, `${story}: ${GOAL}`));
      const examples = (await stepsOf(runId)).flatMap((step) =>
        step.type === 'ROUND_PLANNED' ? (step.data.examples ?? []) : [],
      );
      return examples.length > 0 ? examples : undefined;
    });
  }
}
