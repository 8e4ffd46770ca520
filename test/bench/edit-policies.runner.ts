import { setTimeout as sleep } from 'node:timers/promises';
import type { EditPolicy, Json } from '#proto';
import { metricsOf, type RunMetrics } from '#libs/constellation';
import { openRunLog } from '#libs/event-log';
import { connectDevice, instantDevice, type ModelServerReply, startModelServer } from '#libs/testing';
import { Bus } from './bus.adapter.js';
import { loadAverage } from './processes.adapter.js';
import { ServiceProcess } from './service-process.runner.js';

/** What the model takes for each answer. */
const MODEL_MS = 10_000;
/** What each task takes. */
const TASK_MS = 5_000;
const DEVICES = ['bench-0', 'bench-1', 'bench-2'];
const ROW = ['merge', 'write', 'send'];
const POLICIES = ['when-needed', 'every-result'] as const satisfies readonly EditPolicy[];

/** One run under one policy, as its events tell it. */
export interface PolicyFigure {
  readonly policy: EditPolicy;
  readonly metrics: RunMetrics;
  /** Chat completions that the endpoint was asked for. */
  readonly modelCalls: number;
}

export interface PolicyFigures {
  readonly figures: readonly PolicyFigure[];
  readonly loadBefore: number;
  readonly loadAfter: number;
}

/**
 * The same goal under both edit policies, with a model that takes ten seconds for every answer and never changes the plan: what
 * asking costs. Orchestrator and planner are processes of their own, and the endpoint is asked over HTTP; devices only wait.
 */
export async function editPolicyFigures({ parent }: { readonly parent: string }): Promise<PolicyFigures> {
  const closers: (() => Promise<unknown> | void)[] = [];
  try {
    const bus = await Bus.open(parent);
    closers.push(() => bus.close());
    const asked = new Map<string, number>();
    const model = await startModelServer({
      reply: async ({ prompt }) => {
        const policy = POLICIES.find((one) => prompt.includes(goalOf(one))) ?? '';
        asked.set(policy, (asked.get(policy) ?? 0) + 1);
        await sleep(MODEL_MS);
        return answerTo(prompt);
      },
    });
    closers.push(() => model.stop());
    await Promise.all(DEVICES.map((id) => connectDevice(bus.nc, id)));
    const device = instantDevice(bus.nc, { worksMs: TASK_MS });
    closers.push(() => device.stop());
    const more = { OPENAI_BASE_URL: model.url, ORRERY_MODEL: 'scripted', ORRERY_MCP_PORT: 'off' };
    const services = ['orchestrator', 'planner'].map(
      (name) =>
        new ServiceProcess({
          name,
          directory: bus.directory,
          env: { ...bus.env, ...more },
          profileDirectory: undefined,
        }),
    );
    closers.push(() => Promise.all(services.map((service) => service.stop())));
    await Promise.all(services.map(({ ready }) => ready));
    const loadBefore = loadAverage();
    // Both at once: each waits most of the time, and neither for the other.
    const figures = await Promise.all(POLICIES.map((policy) => play(bus, policy, asked)));
    return { figures, loadBefore, loadAfter: loadAverage() };
  } finally {
    for (const close of closers.toReversed()) await close();
  }
}

async function play(bus: Bus, editPolicy: EditPolicy, asked: ReadonlyMap<string, number>): Promise<PolicyFigure> {
  const runId = await bus.submit({
    requestId: `policy-${editPolicy}`,
    goal: goalOf(editPolicy),
    options: { editPolicy },
  });
  const { succeeded } = await bus.untilEnd(runId);
  const metrics = metricsOf((await openRunLog(bus.nc).load(runId)).map(({ commit }) => commit));
  if (!succeeded || metrics === null) throw new Error(`the run under ${editPolicy} did not succeed`);
  return { policy: editPolicy, metrics, modelCalls: asked.get(editPolicy) ?? 0 };
}

function goalOf(policy: EditPolicy): string {
  return `Collect the figures of three machines, merge them, write them down and send them, under ${policy}.`;
}

/** The first plan, no change while something is left, and the last word when nothing is. */
function answerTo(prompt: string): ModelServerReply {
  const said = { observation: '', thought: 'as it is', result: '' };
  if (prompt.includes('<Why you are asked:>')) {
    const isOver = !/\[Run [^\]]*\d+ (?:PENDING|RUNNING)/u.test(prompt);
    const end = { state: 'FINISH', result: 'The figures were sent.', evidence: ['send'] };
    return { json: { ...said, state: 'CONTINUE', actions: [], evidence: [], ...(isOver && end) } };
  }
  return { json: { ...said, state: 'CONTINUE', constellation: plan(), spare: [] } as Json };
}

/** Three branches, then three tasks in a row: the shape of the paper's requests. */
function plan(): Json {
  const collect = DEVICES.map((_, index) => `collect-${index}`);
  const task = (id: string, index: number): Json => ({
    task_id: id,
    name: id,
    description: `does ${id}`,
    target_device_id: DEVICES[index % DEVICES.length] ?? '',
    command: { tool: 'NOOP', arguments: {} },
  });
  const line = (from: string, to: string): Json => ({
    dependency_id: `${from}-${to}`,
    from_task_id: from,
    to_task_id: to,
  });
  const [merge = ''] = ROW;
  return {
    name: 'figures',
    tasks: [...collect, ...ROW].map(task),
    dependencies: [
      ...collect.map((id) => line(id, merge)),
      ...ROW.slice(1).map((to, index) => line(ROW[index] ?? '', to)),
    ],
  };
}

/** As Markdown, as it is printed and as it goes into the documentation. */
export function editPolicyTable({ figures, loadBefore, loadAfter }: PolicyFigures): string {
  const seconds = (ms: number | null): string => (ms === null ? '-' : `${(ms / 1_000).toFixed(1)} s`);
  const columns = [
    'policy',
    'end to end',
    'W',
    'L',
    'in rounds',
    'rounds',
    'model calls',
    'tokens of all prompts and replies',
  ];
  const rows = figures.map(({ policy, modelCalls, metrics }) => [
    policy,
    seconds(metrics.endToEndMs),
    seconds(metrics.totalWorkMs),
    seconds(metrics.criticalPathMs),
    seconds(metrics.orchestrationMs),
    String(metrics.rounds.length),
    String(modelCalls),
    metrics.rounds.reduce((sum, { used }) => sum + used.tokens, 0).toLocaleString('en-US'),
  ]);
  const table = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return [table, '', `load ${loadBefore.toFixed(1)}-${loadAfter.toFixed(1)}`].join('\n');
}
