import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { isAlive } from '#libs/embedded';
import { openPlanLog, openRunLog, type Stored } from '#libs/event-log';
import { DURABLES, type ApprovalView, type PlanCommit, type PlanEvent, type RunCommit, type RunView } from '#proto';
import type { StoryModel, Turn } from './agent-model.js';
import { caseStories, layOut, LOGS_GOAL, LOOK_GOAL, SHORTEST, TABLE, typed } from './case-studies.js';
import { after, creates, edits, ends, gate, PLANS, task } from './planner-stories.js';
import { sendRequest } from './requests.js';
import { CLI, exec, ROOT, type TestSystem, until } from './system.js';

/* Real processes, real commands on devices, a scripted model. */

/** A system with four devices, and what its model plays. */
interface Given {
  readonly system: TestSystem;
  readonly model: StoryModel;
}

let model: StoryModel;
let system: TestSystem;
const closers: (() => Promise<void>)[] = [];
let jail: string;
/** Where the files of the requests of docs/data.md lie. */
let place: string;
/** Pipes that gates read from, held open: a byte waits for its gate. */
const pipes = new Map<string, FileHandle>();
let nc: NatsConnection;

/** No round is given up because the machine is slow. */
const editDeadlineMs = 600_000;
const AT_ONCE: Readonly<Record<string, object>> = {
  collect: {},
  recover: {},
  batch: { editPolicy: 'when-needed' },
  every: { editPolicy: 'every-result' },
  conflict: {},
  garbage: {},
  hostile: {},
  nowhere: {},
  impossible: {},
  nothing: {},
  judged: {},
};
/** The run of each story. */
const runs = new Map<string, string>();

const goal = (story: string): string => `Please do plan-${story}.`;

async function send(story: string, options: object = {}): Promise<string> {
  const request = {
    requestId: `plan-${story}`,
    goal: goal(story),
    options: { editDeadlineMs, ...options },
  };
  const runId = await sendRequest(system, request);
  runs.set(story, runId);
  return runId;
}

function runOf(story: string): string {
  const runId = runs.get(story);
  if (runId === undefined) throw new Error(`${story} was not sent`);
  return runId;
}

const planned = (story: string): Promise<RunView> => system.untilEnd(runOf(story));

async function stepsOf(runId: string): Promise<PlanEvent[]> {
  return (await system.json<{ steps: PlanEvent[] }>('plan', runId)).steps;
}

const typesIn = (stored: readonly Stored<RunCommit | PlanCommit>[]): string[] =>
  stored.flatMap(({ commit }) => commit.events.map(({ type }) => type));
/** What the streams have of a run, whoever runs or stands still. */
const happened = async (runId: string): Promise<string[]> => typesIn(await openRunLog(nc).load(runId));
const proposals = async (runId: string): Promise<string[]> => typesIn(await openPlanLog(nc).load(runId));

/** Commits that the planner has not taken, or has taken and not settled. */
async function ordersLeft(): Promise<number> {
  const { stream, durable } = DURABLES.plannerRounds;
  const streams = await jetstreamManager(nc);
  const { num_pending: waiting, num_ack_pending: taken } = await streams.consumers.info(stream, durable);
  return waiting + taken;
}

const status = ({ tasks }: RunView) => Object.fromEntries(tasks.map((each) => [each.id, each.status]));

/** Stories whose model waits for the world before it speaks. */
function gated(): Record<string, readonly Turn[]> {
  const untilTask = async (story: string, wanted: Readonly<Record<string, string>>): Promise<void> => {
    const runId = await until(`the run of ${story}`, async () => runs.get(story));
    await until(`${story} to be as far as ${JSON.stringify(wanted)}`, async () => {
      const now = status(await system.show(runId));
      return Object.entries(wanted).every(([id, state]) => now[id] === state) ? true : undefined;
    });
  };
  return {
    'plan-batch': [
      creates({
        name: 'batch',
        // The other three end only when the model has been asked about the first: else two could end before anybody looks.
        tasks: [
          task('zero', 'echo zero', { review: true }),
          ...['one', 'two', 'three'].map((id) => gate(id, 'go-batch', { review: true })),
        ],
        dependencies: [],
      }),
      async () => {
        await pipes.get('go-batch')?.write('...');
        await untilTask('batch', { zero: 'COMPLETED', one: 'COMPLETED', two: 'COMPLETED', three: 'COMPLETED' });
        return edits();
      },
      edits({ tool: 'add_task', arguments: task('sum', 'echo all of them') }),
      ends('FINISH', 'All four were looked at.', ['zero', 'one', 'two', 'three', 'sum']),
    ],
    'plan-conflict': [
      creates({
        name: 'conflict',
        tasks: [task('broken', 'exit 3'), gate('gate', 'go-conflict'), gate('late', 'end-conflict')],
        dependencies: [after('gate', 'late')],
      }),
      async () => {
        await pipes.get('go-conflict')?.write('.');
        await untilTask('conflict', { late: 'RUNNING' });
        return edits({ tool: 'update_task', arguments: { task_id: 'late', description: 'changed too late' } });
      },
      async () => {
        await pipes.get('end-conflict')?.write('.');
        return edits({ tool: 'add_task', arguments: task('instead', 'echo instead') });
      },
      ends('FINISH', 'Done in another way.', ['instead', 'late']),
    ],
    'plan-crash': [
      async () => {
        await system.kill9('planner');
        return creates({ name: 'lost', tasks: [task('never', 'echo never')], dependencies: [] });
      },
      creates({ name: 'crash', tasks: [task('once', 'echo once')], dependencies: [] }),
      ends('FINISH', 'It was done once.', ['once']),
    ],
    'plan-planner': [deafened('planner'), ends('FINISH', 'It was done once.', ['once'])],
    'plan-orchestrator': [deafened('orchestrator'), ends('FINISH', 'It was done once.', ['once'])],
  };
}

/** Of the orchestrator, for who makes it stand still. */
let orchestrator: number | undefined;

/** A first plan that nobody takes: when it is made, the orchestrator stands still already, and only the test ends that. */
function deafened(story: string): Turn {
  return async () => {
    await until(`the run of ${story}`, async () => runs.get(story));
    if (orchestrator !== undefined) process.kill(orchestrator, 'SIGSTOP');
    return creates({ name: story, tasks: [task('once', `echo once >> ${story}.effects`)], dependencies: [] });
  };
}

/** From a sentence to a constellation, and back to the plan. */
export function testsOfGoals(given: () => Given): void {
  beforeAll(async () => {
    ({ system, model } = given());
    place = await layOut();
    closers.push(() => rm(place, { recursive: true }));
    model.add({ ...PLANS, ...gated(), ...caseStories(place) });
    jail = join(system.home, 'devices', 'web-1', 'jail');
    await mkdir(join(jail, 'old'), { recursive: true });
    for (const name of ['go-batch', 'go-conflict', 'end-conflict']) {
      const path = join(jail, name);
      await promisify(execFile)('mkfifo', [path]);
      const pipe = await open(path, 'r+');
      pipes.set(name, pipe);
      closers.push(() => pipe.close());
    }
    nc = await system.bus();
    // They do not know of each other: while one is looked at, the others go on.
    await Promise.all(Object.entries(AT_ONCE).map(([story, options]) => send(story, options)));
  });
  afterAll(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
    // One that stood still when a test failed goes on for who comes next.
    if (orchestrator !== undefined && isAlive(orchestrator)) process.kill(orchestrator, 'SIGCONT');
  });

  describe('a goal', () => {
    it('becomes three branches and a report, and one answer that names what it rests on', async () => {
      const view = await planned('collect');
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded', goal: goal('collect') });
      expect(view.tasks.find(({ id }) => id === 'report')?.result?.value).toMatchObject({ stdout: '3\n' });
      expect(view.answer).toMatchObject({
        by: 'model',
        text: 'Three machines were asked; the report has their lines.',
        evidence: [{ taskId: 'report', attempt: 1 }],
        failures: [],
      });
      // Creation and the end: nothing in between needed judgement.
      expect(model.asked('plan-collect')).toHaveLength(2);
      const parts = ['## Answer', '## Planning', 'story-model', 'Three machines were asked'];
      expect(await system.report(view.runId, ...parts)).toContain('## Answer');
    });

    it('that meets a failure is helped by a diagnosis and a fallback on a spare device', async () => {
      const view = await planned('recover');
      expect(status(view)).toEqual({ primary: 'FAILED', diagnose: 'COMPLETED', fallback: 'COMPLETED' });
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'partially_failed' });
      expect(view.answer?.failures).toMatchObject([{ taskId: 'primary', status: 'FAILED' }]);
      expect(model.asked('plan-recover')[1]?.prompt).toContain('No such file');
    });

    it('is looked at once for three results that came while the planner thought', async () => {
      const view = await planned('batch');
      expect(view.outcome).toBe('succeeded');
      const { stdout } = await system.cli('plan', view.runId);
      const opened = stdout.split('\n').filter((line) => line.includes('opened: editing'));
      expect(opened.map((line) => ['zero', 'one', 'two', 'three', 'sum'].filter((id) => line.includes(id)))).toEqual([
        ['zero'],
        ['one', 'two', 'three'],
        expect.anything(),
      ]);
      expect(model.asked('plan-batch')).toHaveLength(4);
    });

    it('is looked at after every completion where that was asked for, also of exact commands', async () => {
      const view = await planned('every');
      expect([view.outcome, view.answer?.text]).toEqual(['succeeded', 'All four were looked at.']);
      expect(view.tasks.find(({ id }) => id === 'fourth')?.result?.value).toMatchObject({ stdout: 'changed\n' });
      const { rounds } = await system.json<{ rounds: { mode: string; triggers: object[] }[] }>('plan', view.runId);
      expect(rounds.map(({ mode }) => mode)).toEqual(['creation', 'editing', 'editing', 'editing', 'editing']);
      expect(rounds.slice(1).map(({ triggers }) => triggers)).toMatchObject(
        ['first', 'second', 'third', 'fourth'].map((taskId) => [{ taskId }]),
      );
      expect(model.asked('plan-every')).toHaveLength(5);
    });

    it('whose edit meets a task that has started is repaired', async () => {
      const view = await planned('conflict');
      expect(status(view)).toEqual({ broken: 'FAILED', gate: 'COMPLETED', late: 'COMPLETED', instead: 'COMPLETED' });
      expect(model.asked('plan-conflict')[2]?.prompt).toContain('only PENDING tasks may change');
    });

    it('gets its plan although the model first says something else', async () => {
      const view = await planned('garbage');
      expect([view.outcome, status(view)]).toEqual(['succeeded', { only: 'COMPLETED' }]);
      const [step] = await stepsOf(view.runId);
      expect(step?.type === 'ROUND_PLANNED' && step.data.calls.map(({ problems }) => problems.length > 0)).toEqual([
        true,
        false,
      ]);
    });

    it('stays on the devices of its plan, whatever a result says', async () => {
      const view = await planned('hostile');
      expect(status(view)).toEqual({ read: 'COMPLETED' });
      const { stdout } = await system.cli('plan', view.runId);
      expect(stdout).toContain('"owned" would run on device "db-1", for which the plan was not made');
      expect(await system.report(view.runId, 'for which the plan was not made')).toContain('"owned"');
    });

    it('that no device can meet ends before anything runs, and says why', async () => {
      const view = await planned('nowhere');
      expect(view).toMatchObject({ status: 'FAILED', tasks: [] });
      expect(view.reason).toContain('plan9');
      const refused = await planned('impossible');
      expect(refused).toMatchObject({
        status: 'FAILED',
        tasks: [],
        answer: { text: 'No device here can print on paper.' },
      });
    });

    it('that needs nothing is answered at once', async () => {
      const view = await planned('nothing');
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded', tasks: [] });
      expect(view.answer?.text).toBe('Everything is as it should be.');
    });

    it('does not get a command of a model past the policy', async () => {
      const runId = runOf('judged');
      await until('a question', async () => (await system.show(runId)).approvals[0]);
      const approval = await until('an approval', async () => {
        const { approvals } = await system.json<{ approvals: ApprovalView[] }>('approvals');
        return approvals.find((each) => each.runId === runId);
      });
      expect(approval.ask).toMatchObject({ kind: 'approval', command: { arguments: { command: 'rm -r old' } } });
      // The orchestrator follows who may: while it knows of other approvers, nobody approves what he has asked for himself.
      await until('the word to count', async () => {
        const { code } = await system.cli('approve', approval.approvalId);
        return code === 0 || undefined;
      });
      const view = await system.untilEnd(runId);
      expect(status(view)).toEqual({ wipe: 'FAILED', tidy: 'COMPLETED' });
    });

    it('survives the death of its planner, and is planned once', async () => {
      const view = await system.untilEnd(await send('crash'));
      expect([view.outcome, status(view)]).toEqual(['succeeded', { once: 'COMPLETED' }]);
      const planned1 = (await stepsOf(view.runId)).filter(({ type }) => type === 'ROUND_PLANNED');
      expect(planned1).toHaveLength(2);
    });

    it.each(['planner', 'orchestrator'])(
      'whose plan is stored and taken by nobody yet survives the death of the %s, and no reply is asked for twice',
      async (part) => {
        const [planner, deaf] = await Promise.all([system.pidOf('planner'), system.pidOf('orchestrator')]);
        orchestrator = deaf;
        const runId = await send(part);
        const proposed = ['ROUND_PLANNED', 'PLAN_PROPOSED'];
        await until('the plan in PLANS', async () =>
          (await proposals(runId)).length >= proposed.length ? true : undefined,
        );
        if (part === 'planner') process.kill(planner, 'SIGKILL');
        // The orchestrator stands still until the test lets it go on, or another one come.
        expect([(await happened(runId)).at(-1), await proposals(runId)]).toEqual(['EDIT_OPENED', proposed]);
        if (part === 'planner') {
          // Another one has been given the same order, and has found the reply.
          await until('an answer to the order', async () => ((await ordersLeft()) === 0 ? true : undefined));
          expect(await proposals(runId)).toEqual(proposed);
        }
        process.kill(deaf, part === 'planner' ? 'SIGCONT' : 'SIGKILL');
        const view = await system.untilEnd(runId);
        expect([view.outcome, status(view)]).toEqual(['succeeded', { once: 'COMPLETED' }]);
        expect(await readFile(join(jail, `${part}.effects`), 'utf8')).toBe('once\n');
        expect(await proposals(runId)).toEqual([...proposed, ...proposed]);
        expect(model.asked(`plan-${part}`)).toHaveLength(2);
      },
    );
  });

  describe('a plan', () => {
    it('can be looked at, changed and approved before anything starts', async () => {
      const shown = await system.cli('submit', goal('held'), '--plan');
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('echo first')]);
      const runId = /resume (\S+)/u.exec(shown.stdout)?.[1] ?? '';
      expect(await system.show(runId)).toMatchObject({ status: 'PAUSED', waitingFor: { reason: 'approval' } });
      const more = join(system.home, 'more.json');
      const second = {
        id: 'second',
        name: 'second',
        target: { device: 'db-1' },
        command: { tool: 'EXEC_CLI', arguments: { command: 'echo second' } },
      };
      await writeFile(more, JSON.stringify([{ tool: 'add_task', task: second }]));
      expect((await system.cli('propose', runId, '-f', more)).code).toBe(0);
      expect((await system.cli('diff', runId)).stdout).toContain('+ task second on db-1');
      expect((await system.show(runId)).tasks.every(({ attempts }) => attempts === 0)).toBe(true);
      expect((await system.cli('resume', runId)).code).toBe(0);
      expect(status(await system.untilEnd(runId))).toEqual({ first: 'COMPLETED', second: 'COMPLETED' });
    });

    it('of a runbook needs no model', async () => {
      const before = model.prompts.length;
      const { code, stdout } = await system.cli('submit', 'fleet-health', '--wait');
      expect([code, stdout]).toEqual([0, expect.stringContaining('Answer')]);
      expect(model.prompts).toHaveLength(before);
    });
  });

  describe('the requests of docs/data.md, typed as they stand there', () => {
    let directory: string;
    const type = async (script: string) => {
      directory = await mkdtemp(join(system.home, 'typed-'));
      await writeFile(join(directory, 'orrery'), `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`, {
        mode: 0o755,
      });
      const env = { ...system.env, ORRERY_ROOT: ROOT, NO_COLOR: '1' };
      return exec('/bin/sh', ['-c', `set -eu\ncd "${directory}"\n${script}\nprintf '%s' "$run" > run`], env);
    };
    const made = (name: string): Promise<string> => readFile(join(directory, name), 'utf8');
    const filesOf = (view: RunView, id: string) => view.tasks.find((each) => each.id === id)?.result?.files;

    it('collect logs of three devices, and a fourth makes one table and a note of them', async () => {
      const done = await type(typed(place).logs);
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('table: table.csv: mode ') });
      expect([await made('table.csv'), await made('note.txt')]).toEqual([TABLE, '5\n']);
      const view = await system.show(await made('run'));
      const ids = view.tasks.map(({ id, device }) => [id, device]);
      expect(ids).toEqual([
        ['web', 'web-1'],
        ['shop', 'dev-3'],
        ['mail', 'dev-4'],
        ['table', 'db-1'],
      ]);
      expect(filesOf(view, 'table')).toMatchObject([{ path: 'note.txt' }, { path: 'table.csv' }]);
      expect(model.asked(LOGS_GOAL)).toHaveLength(2);

      const { console: url } = await system.endpoints();
      const headers = { authorization: `Bearer ${system.token}` };
      const answer = await fetch(`${url}/v1/runs/${view.runId}/output?artifact=table.csv`, { headers });
      expect([answer.status, await answer.text()]).toEqual([200, TABLE]);
    });

    it('look at three devices, choose one of them, and run there what the others have prepared', async () => {
      const done = await type(typed(place).look);
      expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining(`+ task count on ${SHORTEST}`) });
      const assignment = await made('assignment.txt');
      expect(assignment).toMatch(new RegExp(`^${SHORTEST} counts the words\\n +1 one\\n +2 two\\n`, 'u'));
      expect(assignment.match(/^Mem:/gmu)).toHaveLength(3);
      const view = await system.show(await made('run'));
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
      expect(view.tasks.find(({ id }) => id === 'count')?.device).toBe(SHORTEST);
      expect(model.asked(LOOK_GOAL)).toHaveLength(3);
      expect(await made('report.md')).toContain('assignment.txt');
    });
  });

  it('everything that was planned is as it was written', async () => {
    const { code, stdout } = await system.cli('verify', '--all');
    expect([code, stdout]).toEqual([0, expect.stringContaining('verified')]);
  });
}
