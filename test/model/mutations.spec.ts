import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Violation } from './occasion.js';

/** A line of the core that is broken on purpose, and what the model must say about it in the named configuration. */
interface Mutation {
  readonly what: string;
  /** Stands in the core exactly once. */
  readonly text: string;
  readonly becomes: string;
  readonly configuration: string;
  readonly found: Violation['name'];
}

const MUTATIONS: readonly Mutation[] = [
  {
    what: 'no lock',
    text: 'if (!hasPlan(run) || plannerSilent || (editing === null && queued.length === 0)) return NOBODY;',
    becomes: 'if (hasPlan(run)) return NOBODY;',
    configuration: 'fan-in, strict',
    found: 'LOCK',
  },
  {
    what: 'no scoped lock',
    text: 'return (index) => downstream[index] === 1;',
    becomes: 'return () => downstream.length < 0;',
    configuration: 'fan-in, scoped',
    found: 'LOCK',
  },
  {
    what: 'a lock that forgets what is queued',
    text: '[...(editing?.triggers ?? []), ...queued]',
    becomes: '[...(editing?.triggers ?? [])]',
    configuration: 'chain, scoped',
    found: 'LOCK',
  },
  {
    what: 'no fencing: any attempt ends a task that runs',
    text: "return status === 'RUNNING' && attempt === reported;",
    becomes: "return status === 'RUNNING' && attempt > 0;",
    configuration: 'no planner',
    found: 'FENCING',
  },
  {
    what: 'no fencing: a result counts twice',
    text: "return status === 'RUNNING' && attempt === reported;",
    becomes: "return status !== 'PENDING' && attempt === reported;",
    configuration: 'no planner',
    found: 'FENCING',
  },
  {
    what: 'no cycle check of edits',
    text: 'const cycle = findCycleThrough(staging.graph, staging.openedLines);',
    becomes: 'const cycle = findCycleThrough(staging.graph, new Set());',
    configuration: 'repairs',
    found: 'I2_ACYCLIC',
  },
  {
    what: 'a search for cycles that finds none',
    text: 'if (index === to) return pathBack(cameFrom, from, to);',
    becomes: 'if (index === to && from === to) return pathBack(cameFrom, from, to);',
    configuration: 'repairs',
    found: 'I2_ACYCLIC',
  },
  {
    what: 'no I3 check of tasks',
    text: 'if (!hasBegun(task)) return undefined;',
    becomes: "if (task.status !== 'CANCELLED') return undefined;",
    configuration: 'repairs',
    found: 'I3_ONLY_PENDING',
  },
  {
    what: 'no I3 check of lines',
    text: 'if (!hasBegun(target)) return undefined;\n  return `line',
    becomes: "if (target.status !== 'CANCELLED') return undefined;\n  return `line",
    configuration: 'chain, scoped',
    found: 'I3_ONLY_PENDING',
  },
  {
    what: 'what ends while a round is open is not queued',
    text: "if (draft.ending !== null || editPolicyOf(draft) === 'never' ||",
    becomes: "if (draft.editing !== null || draft.ending !== null || editPolicyOf(draft) === 'never' ||",
    configuration: 'fan-in, scoped',
    found: 'TRIGGERS',
  },
  {
    what: 'a round that is abandoned keeps the lock',
    text: "    case 'EDIT_ABANDONED':\n      endRound(draft, event.data.used);",
    becomes: "    case 'EDIT_ABANDONED':",
    configuration: 'fan-in, strict',
    found: 'I12_WAITING',
  },
  {
    what: 'lines of a task that is tried again stay judged',
    text: '  reopenLines(draft, lines);',
    becomes: '  reopenLines(draft, lines.slice(lines.length));',
    configuration: 'retries in a chain',
    found: 'READINESS',
  },
  {
    what: 'a retry of what may still run',
    text: 'outcomeKnown || sent === false || isRepeatable(star, fleet, deviceId)',
    becomes: 'outcomeKnown || sent === false || !isRepeatable(star, fleet, deviceId)',
    configuration: 'no planner',
    found: 'RETRIES',
  },
  {
    what: 'a planner that is not asked whether the plan was all',
    text: 'run.plannerSilent || run.endOfPlanRevision === run.revision',
    becomes: 'run.plannerSilent || run.endOfPlanRevision !== run.revision',
    configuration: 'fan-in, strict',
    found: 'TRIGGERS',
  },
  {
    what: 'a proposal is judged twice',
    text: 'if (proposal.try <= editing.tries)',
    becomes: 'if (proposal.try < editing.tries)',
    configuration: 'repairs',
    found: 'DUPLICATE',
  },
  {
    what: 'a verb is obeyed twice',
    text: 'if (decided?.rejected === false)',
    becomes: 'if (decided === null)',
    configuration: 'cancel',
    found: 'DUPLICATE',
  },
  {
    what: 'nothing wakes the run at the deadline of a round',
    text: 'at(run.editing?.deadlineAt);',
    becomes: 'at(null);',
    configuration: 'fan-in, strict',
    found: 'I12_WAITING',
  },
  {
    what: 'no round has a deadline',
    text: 'if (editing === null || instantOf(now) < editing.deadlineAt) return;',
    becomes: 'if (editing === null || editing.openedAt > instantOf(0)) return;',
    configuration: 'fan-in, strict',
    found: 'I12_WAITING',
  },
  {
    what: 'what nobody decided stays open when its attempt has ended',
    text: 'if (asks.length > 0) draft.approvals = withWithdrawn(draft.approvals, asks);',
    becomes: 'if (asks.length > 9) draft.approvals = withWithdrawn(draft.approvals, asks);',
    configuration: 'an agent that asks',
    found: 'I6_APPROVAL',
  },
  {
    what: 'a person is asked the same thing again',
    text: 'if (task.asks.includes(ask.approvalId))',
    becomes: "if (task.asks.includes(''))",
    configuration: 'an agent that asks',
    found: 'DUPLICATE',
  },
  {
    what: 'nothing wakes the run when nobody has spoken in time',
    text: 'at(ask.expiresAt);',
    becomes: 'at(ask.expiresAt && null);',
    configuration: 'an agent that asks',
    found: 'I12_WAITING',
  },
  {
    what: 'a word that comes too late',
    text: 'if (at >= request.ask.expiresAt)',
    becomes: 'if (at > request.ask.expiresAt)',
    configuration: 'an agent that asks',
    found: 'I6_APPROVAL',
  },
  {
    what: 'a command is let through for a task that is being stopped',
    text: 'if (task.stopping !== null) {',
    becomes: 'if (task.attempt === 0) {',
    configuration: 'an agent that asks',
    found: 'I6_APPROVAL',
  },
  {
    what: 'a budget that forgets what it has given to running attempts',
    text: '[[bound, limit - used[bound] - granted[bound]] as const]',
    becomes: '[[bound, limit - used[bound]] as const]',
    configuration: 'agents with a budget',
    found: 'I11_BUDGET',
  },
  {
    what: 'a run that is given up while somebody may give some of the budget back',
    text: 'if (short === null || mayGetMore(draft.run)) return;',
    becomes: 'if (short === null) return;',
    configuration: 'agents with a budget',
    found: 'I11_BUDGET',
  },
  {
    what: 'a run that is given up while the planner may give some of the budget back',
    text: 'return running.size > 0 || (editing !== null && editing.budget !== null);',
    becomes: 'return running.size > 0 || (editing !== null && editing.tries > 9);',
    configuration: 'agents and a planner',
    found: 'I11_BUDGET',
  },
  {
    what: 'a round that takes everything while agents have still to start',
    text: 'if (agentsPending === 0) budget[bound] = left;',
    becomes: 'if (agentsPending >= 0) budget[bound] = left;',
    configuration: 'agents and a planner',
    found: 'I11_BUDGET',
  },
  {
    what: 'a round that keeps what it has not used',
    text: 'if (editing !== null && editing.budget !== null) draft.granted = minus(draft.granted, editing.budget);',
    becomes: 'if (editing !== null && editing.tries > 9) draft.granted = minus(draft.granted, draft.used);',
    configuration: 'agents and a planner',
    found: 'I11_BUDGET',
  },
  {
    what: 'a planner that can never be asked again and holds what it was to be asked about',
    text: 'if (editing === null && !asksPlanner(run)) return NOBODY;',
    becomes: 'if (editing === null && !asksPlanner({ ...run, revision: 0 })) return NOBODY;',
    configuration: 'agents and a planner',
    found: 'IDLE',
  },
  {
    what: 'a goal that is given up because nothing is left for a model',
    text: 'if (left <= EPSILON && hasPlan(run)) return null;',
    becomes: 'if (left <= EPSILON && agentsPending >= 0) return null;',
    configuration: 'a goal with nothing',
    found: 'TRIGGERS',
  },
  {
    what: 'a planner that is asked again after it has said that it may ask no model any more',
    text: 'return !hasPlan(run) || (run.noMoreRounds === null && !isSpentOnPlans(run));',
    becomes: "return !hasPlan(run) || (run.noMoreRounds !== '' && !isSpentOnPlans(run));",
    configuration: 'often enough',
    found: 'ROUNDS',
  },
  {
    what: 'a plan that starts before somebody has accepted it',
    text: "else if (isPlan && draft.run.phase === 'RUNNING' && run.request?.options.plan === 'approve') {",
    becomes: "else if (isPlan && draft.run.phase === 'PAUSED' && run.request?.options.plan === 'approve') {",
    configuration: 'a plan that a model makes',
    found: 'I6_APPROVAL',
  },
  {
    what: 'what nobody can decide is taken for a no',
    text: "return truth.truth === 'undecided'",
    becomes: "return truth.truth === 'undecided' && id === ''",
    configuration: 'nobody is asked',
    found: 'READINESS',
  },
  {
    what: 'a command of a model that is believed',
    text: '      judged,\n      vouched: !judged',
    becomes: '      judged: judged && at < 0,\n      vouched: !judged',
    configuration: 'a plan that a model makes',
    found: 'TRUST',
  },
  {
    what: 'a model that lets tasks run anywhere',
    text: 'if (scope === null || staging.directedTasks.size === 0) return [];',
    becomes: 'if (scope === null || staging.directedTasks.size >= 0) return [];',
    configuration: 'a plan that a model makes',
    found: 'TRUST',
  },
];

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CORE = 'libs/constellation';
/** They take seconds; it is for what hangs. */
const CHILD_MS_MAX = 840_000;

/** What the program says of one core. */
interface Said {
  readonly violation: Violation | null;
}

/** With the number under which the program knows the core; the first one is not broken. */
const NUMBERED = MUTATIONS.map((mutation, index) => ({ ...mutation, number: index + 1 }));
const SOUND = { number: 0, configuration: 'often enough' };

const core = readdirSync(join(ROOT, CORE), { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ path: join(CORE, name), text: readFileSync(join(ROOT, CORE, name), 'utf8') }));
const placesOf = (text: string) => core.filter((source) => source.text.includes(text));

/** A process for all of them: what is not of the core is loaded once. The sources stay as they are. */
function sayOfAll(): Promise<ReadonlyMap<number, Said>> {
  const broken = NUMBERED.map(({ number, text, becomes, configuration }) => {
    const [source] = placesOf(text);
    return { number, configuration, path: source?.path, text: source?.text.replace(text, () => becomes) };
  });
  return new Promise((resolve, reject) => {
    const options = { timeout: CHILD_MS_MAX, env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' } };
    const words = ['--no-warnings', join(ROOT, 'test/model/mutants.mjs')];
    const child = execFile(process.execPath, words, options, (_error, stdout, stderr) => {
      const lines = stdout.split('\n').filter((line) => line !== '');
      if (lines.length === 0) reject(new Error(`nothing was said of any core: ${stderr}`));
      else resolve(new Map(lines.map((line) => JSON.parse(line) as [number, Said])));
    });
    child.stdin?.end(JSON.stringify([SOUND, ...broken]));
  });
}

describe('the model check', () => {
  let said: ReadonlyMap<number, Said>;

  beforeAll(async () => {
    said = await sayOfAll();
  }, CHILD_MS_MAX);

  it('passes when nothing is broken', () => {
    expect(said.get(SOUND.number)).toEqual({ violation: null });
  });

  it.each(NUMBERED)('finds $what', ({ number, text, found }) => {
    const places = placesOf(text);
    expect(places).toHaveLength(1);
    expect(places[0]?.text.split(text)).toHaveLength(2);
    expect(said.get(number)).toMatchObject({ violation: { name: found } });
  });
});
