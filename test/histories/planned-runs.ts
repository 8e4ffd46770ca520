import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Turn } from '../e2e/agent-model.js';
import { after, creates, declines, edits, ends, PLANS, task } from '../e2e/planner-stories.js';
import { exact, gate, line, type Recording, sh } from './recording.js';

/* Goals: planned by a model or a runbook, edited, refused, given up, answered; runs that are judged and learnt from; edits over MCP. */

const GARBAGE = 'I would say that it went rather well.';
const JUDGEMENT = {
  reason: 'The task shows it.',
  sub_scores: [{ name: 'it is done', evaluation: 'yes' }],
  complete: 'yes',
};
const plan = (id: string, ...more: readonly ReturnType<typeof task>[]) => ({
  name: id,
  tasks: [task(id, `echo ${id}`), ...more],
  dependencies: more.map(({ task_id: to }) => after(id, to)),
});

export const PLAN_STORIES: Readonly<Record<string, readonly Turn[]>> = {
  ...PLANS,
  'plan-every': [
    creates(plan('every', task('next', 'echo next'))),
    edits(),
    edits(),
    ends('FINISH', 'Both were looked at.', ['every', 'next']),
  ],
  'plan-rounds': [creates(plan('rounds', task('broken', 'exit 3'))), ends('FINISH', 'never said', [])],
  'plan-broken': [{ fault: 'status', status: 400, message: 'this model is not served here' }],
  'plan-slow': [creates(plan('slow', task('fails', 'exit 3'))), { fault: 'hang' }],
  'plan-words': [GARBAGE],
  'plan-mixed': [
    creates({
      name: 'mixed',
      tasks: [task('one', 'echo one', { review: true }), task('two', 'echo two'), task('three', 'echo three')],
      dependencies: [after('one', 'two'), after('one', 'three')],
    }),
    edits(
      {
        tool: 'update_task',
        arguments: { task_id: 'two', name: 'the second', timeout_seconds: 60, attempts: 2, priority: 3 },
      },
      { tool: 'remove_dependency', arguments: { dependency_id: 'one-three' } },
      { tool: 'remove_task', arguments: { task_id: 'three' } },
      { tool: 'add_task', arguments: task('four', 'echo four') },
      {
        tool: 'add_dependency',
        arguments: after('two', 'four', {
          type: 'conditional',
          condition: 'result.exit_code == 0',
          condition_description: 'two went well',
        }),
      },
      { tool: 'update_dependency', arguments: { dependency_id: 'one-two', type: 'unconditional' } },
    ),
    ends('FINISH', 'Mixed.', ['two', 'four']),
  ],
  'plan-rated': [creates(plan('rated')), ends('FINISH', 'It was done.', ['rated']), GARBAGE, { json: JUDGEMENT }],
  'plan-learnt': [
    creates(plan('look')),
    ends('FINISH', 'None is nearly full.', ['look']),
    {
      json: {
        request: 'Report which file systems are nearly full',
        tips: ['Look at inodes, too.'],
        constellation: plan('disks'),
      },
    } as Turn,
  ],
  'plan-gives': [creates(plan('gives', task('up', 'exit 3'))), ends('FAIL', 'It cannot be done from here.', ['gives'])],
  'plan-open': [creates(plan('open')), ends('FINISH', 'It was done.', ['open'])],
  'plan-done': [declines('FINISH', 'Nothing was to be done.')],
};

const goal = (story: string, options: object = {}) => ({
  goal: `Please do plan-${story}.`,
  options: { editDeadlineMs: 600_000, ...options },
});

type Stories = Readonly<Record<string, (recording: Recording) => Promise<unknown>>>;

const PLAIN: Readonly<Record<string, readonly [request: object, end: string]>> = {
  'goal-collected': [goal('collect'), 'succeeded'],
  'goal-recovered': [goal('recover'), 'partially_failed'],
  'goal-garbage-first': [goal('garbage'), 'succeeded'],
  'goal-hostile-result': [goal('hostile'), 'succeeded'],
  'goal-nowhere': [goal('nowhere'), 'FAILED'],
  'goal-impossible': [goal('impossible'), 'FAILED'],
  'goal-nothing': [goal('nothing'), 'succeeded'],
  'goal-every-result': [goal('every', { editPolicy: 'every-result', lockPolicy: 'strict' }), 'succeeded'],
  'goal-too-many-rounds': [goal('rounds', { rounds: 1 }), 'partially_failed'],
  'goal-without-model': [goal('broken'), 'FAILED'],
  'goal-slow-model': [goal('slow', { editDeadlineMs: 2_500 }), 'partially_failed'],
  'goal-words-only': [goal('words'), 'FAILED'],
  'goal-mixed-edits': [goal('mixed', { lockPolicy: 'scoped' }), 'succeeded'],
  'goal-given-up': [goal('gives'), 'FAILED'],
  'goal-budget': [goal('collect', { budget: { llmCalls: 1 } }), 'FAILED'],
  'runbook-fleet-health': [{ goal: 'fleet-health' }, 'succeeded'],
  'runbook-script': [{ goal: 'run-script script="echo from a runbook"' }, 'succeeded'],
  'runbook-disks': [{ goal: 'which disks are above 100 %?' }, 'succeeded'],
};

export const PLANNED_RUNS: Stories = {
  ...Object.fromEntries(
    Object.entries(PLAIN).map(([name, [request, wanted]]) => [
      name,
      (recording: Recording) => recording.tell(name, request, wanted),
    ]),
  ),

  async 'goal-judged-commands'(recording) {
    const runId = await recording.send('goal-judged-commands', goal('judged'));
    const { approvalId } = await recording.untilAsked(runId);
    await mkdir(join(recording.system.home, 'devices/web-1/jail/old'), { recursive: true });
    await recording.cli('approve', approvalId);
    await recording.ends(runId, 'partially_failed');
  },
  async 'goal-approved-plan'(recording) {
    const runId = await recording.send('goal-approved-plan', goal('held', { plan: 'approve' }));
    await recording.untilView(runId, 'its plan waits', ({ status }) => status === 'PAUSED');
    const file = join(recording.system.home, 'approved-plan.json');
    await writeFile(
      file,
      JSON.stringify([{ tool: 'add_task', task: { ...sh('second', 'echo second'), description: '', tips: [] } }]),
    );
    await recording.cli('propose', runId, '-f', file);
    await recording.cli('resume', runId);
    await recording.ends(runId, 'succeeded');
    await recording.fork('fork-of-goal', runId, 4);
  },
  async 'goal-evaluated'(recording) {
    const runId = await recording.tell('goal-evaluated', goal('rated', { evaluate: true }), 'succeeded');
    await recording.untilEvent(
      runId,
      'its evaluation',
      ({ type, data }) => type === 'RUN_ANNOTATED' && data.kind === 'evaluation',
    );
  },
  async 'goal-learnt-from'(recording) {
    const runId = await recording.tell('goal-learnt-from', goal('learnt'), 'succeeded');
    await recording.cli('experience', 'learn', runId);
  },
  async 'edited-over-mcp'(recording) {
    const request = exact(
      'over-mcp',
      [gate('gate', 'go-mcp'), sh('last', 'cat extra')],
      [line('gate', 'last', 'success-only')],
    );
    const runId = await recording.send('edited-over-mcp', request);
    const { url, token } = await recording.system.json<{ url: string; token: string }>('mcp', 'token', runId);
    const host = new Client({ name: 'assistant', version: '1.0.0' });
    const authorization = `Bearer ${token}`;
    await host.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }),
    );
    const say = (name: string, args: object) => host.callTool({ name, arguments: { ...args } });
    await say('add_task', task('extra', 'echo from the assistant > extra'));
    await say('add_dependency', { dependency_id: 'extra-last', from_task_id: 'extra', to_task_id: 'last' });
    await say('update_task', { task_id: 'last', name: 'the last one' });
    await say('add_task', task('wipe', 'rm -rf /'));
    await host.close();
    const jail = join(recording.system.home, 'devices/web-1/jail');
    await mkdir(jail, { recursive: true });
    await writeFile(join(jail, 'go-mcp'), '');
    await recording.ends(runId, 'partially_failed');
  },
};

/** A plan that waits for a person when the system stops. */
export async function openPlan(recording: Recording): Promise<void> {
  const runId = await recording.send('open-plan', goal('open', { plan: 'approve', deadlineMs: 604_800_000 }));
  await recording.untilView(runId, 'its plan waits', ({ status }) => status === 'PAUSED');
}
