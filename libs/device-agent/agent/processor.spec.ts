import { describe, expect, it } from '@jest/globals';
import { Agent } from './agent.js';
import { linuxAgent } from '../agents/linux-agent.js';
import { AttemptContext } from './attempt-context.js';
import { AgentFailure } from './failure.js';
import type { AgentRecord } from './middleware.js';
import { standardMiddleware } from './middleware.js';
import type { ProcessorPlan } from './processor-plan.js';
import { Processor, ProcessorError } from './processor.js';
import { StateRegistry } from './state-registry.js';
import { continueState, failState, finishState } from './states.js';
import { noEffects } from '../strategies/effects.js';
import { strategyOf } from './strategy.js';
import { drive, scripted } from '../testing/drive.js';
import { finish, sampleTask, SpyPrompter } from '../testing/samples.js';

interface Values {
  seen: string;
  said: string;
  done: string;
  noted: string;
}
interface Global {
  done: string;
}

type Plan = ProcessorPlan<Values, Global>;
type Given = Partial<Plan['phases']>;

const collect = strategyOf<Values, Global>()({
  name: 'collect',
  dependsOn: [],
  provides: ['seen'],
  execute: () => noEffects({ seen: 'a lamp' }),
});
const talk = strategyOf<Values, Global>()({
  name: 'talk',
  dependsOn: ['seen'],
  provides: ['said'],
  execute: (_, { seen }) => noEffects({ said: `light ${seen}` }),
});
const act = strategyOf<Values, Global>()({
  name: 'act',
  dependsOn: ['said'],
  provides: ['done'],
  execute: (_, { said }) => noEffects({ done: `did ${said}` }),
  fallback: () => ({ done: 'nothing' }),
});
const note = strategyOf<Values, Global>()({
  name: 'note',
  dependsOn: ['said', 'done'],
  provides: ['noted'],
  execute: (_, { said, done }) => noEffects({ noted: `${said}, ${done}` }),
});
const broken = (error: Error) => () => {
  throw error;
};

const WHOLE: Given = {
  MEMORY_UPDATE: { strategies: [note], failFast: false },
  ACTION_EXECUTION: { strategies: [act], failFast: false },
  LLM_INTERACTION: { strategies: [talk], failFast: true },
  DATA_COLLECTION: { strategies: [collect], failFast: true },
};

const plan = (phases: Given, rest: Partial<Plan> = {}): Plan => ({
  name: 'LampProcessor',
  inputs: {},
  phases,
  ...rest,
});

function process(given: Plan, before = 'CONTINUE') {
  const processor = new Processor(given);
  const states = new StateRegistry<Global>('LampAgent', [continueState(processor), finishState(), failState()]);
  const agent = new Agent<Global>({ name: 'LampAgent', states, first: 'CONTINUE', prompter: new SpyPrompter() });
  agent.begin();
  agent.decide(before);
  const context = new AttemptContext<Global>(sampleTask(), [agent]);
  expect(processor.process(agent, context).next()).toMatchObject({ done: true });
  return { agent, context };
}

function problemsOf(given: Plan): readonly string[] {
  try {
    void new Processor(given);
    return [];
  } catch (error) {
    if (!(error instanceof ProcessorError)) throw error;
    for (const problem of error.problems) expect(error.message).toContain(problem);
    expect(error.message).toContain('LampProcessor');
    return error.problems;
  }
}

describe('a processor is put together', () => {
  it('when everything fits', () => {
    expect(problemsOf(plan(WHOLE, { finalise: ['done'] }))).toEqual([]);
  });

  it('not when nobody provides what is needed', () => {
    const { DATA_COLLECTION: _, ...rest } = WHOLE;
    expect(problemsOf(plan(rest))).toEqual(['talk (LLM_INTERACTION) needs "seen", which nobody provides']);
    expect(problemsOf(plan(rest, { inputs: { seen: () => 'a lamp' } }))).toEqual([]);
  });

  it('not when two provide the same, or the inputs do', () => {
    const twin = { ...collect, name: 'collect-again' };
    const given = plan({ ...WHOLE, DATA_COLLECTION: { strategies: [collect, twin], failFast: true } });
    expect(problemsOf(given)).toEqual([
      '"seen" is provided by collect (DATA_COLLECTION) and by collect-again (DATA_COLLECTION)',
    ]);
    expect(problemsOf(plan(WHOLE, { inputs: { seen: () => 'x' } }))).toEqual([
      '"seen" is provided by the inputs and by collect (DATA_COLLECTION)',
    ]);
  });

  it('not when what is needed comes only afterwards', () => {
    const given = plan({
      ...WHOLE,
      DATA_COLLECTION: { strategies: [talk], failFast: true },
      LLM_INTERACTION: { strategies: [collect], failFast: true },
    });
    expect(problemsOf(given)).toEqual([
      'talk (DATA_COLLECTION) needs "seen", which collect (LLM_INTERACTION) provides only afterwards',
    ]);
    const swapped = plan({
      ...WHOLE,
      DATA_COLLECTION: { strategies: [], failFast: true },
      LLM_INTERACTION: { strategies: [talk, collect], failFast: true },
    });
    expect(problemsOf(swapped)).toHaveLength(1);
  });

  it('not when a strategy needs what it provides itself', () => {
    const circular = { ...talk, provides: ['seen' as const] };
    const given = plan({ LLM_INTERACTION: { strategies: [circular], failFast: true } });
    expect(problemsOf(given)).toEqual([
      'talk (LLM_INTERACTION) needs "seen", which talk (LLM_INTERACTION) provides only afterwards',
    ]);
  });

  it('not when others need something that may fail without a fallback', () => {
    const given = plan({ ...WHOLE, LLM_INTERACTION: { strategies: [talk], failFast: false } });
    expect(problemsOf(given)).toEqual([
      'act (ACTION_EXECUTION) needs "said" of talk (LLM_INTERACTION), which may fail there: it needs a fallback',
      'note (MEMORY_UPDATE) needs "said" of talk (LLM_INTERACTION), which may fail there: it needs a fallback',
    ]);
  });

  it('not when something is handed on that nobody provides, and not with a name twice', () => {
    const given = plan(
      { DATA_COLLECTION: { strategies: [collect, { ...collect, provides: [] }], failFast: true } },
      { finalise: ['done'] },
    );
    expect(problemsOf(given)).toEqual([
      'there are two strategies with the name "collect"',
      '"done" is to be handed on, and nobody provides it',
    ]);
  });
});

describe('a round', () => {
  it('runs the phases in their order, however they are listed, and hands on what it declares', () => {
    const { agent, context } = process(plan(WHOLE, { finalise: ['done'] }));
    expect(context.get('done')).toBe('did light a lamp');
    expect(agent.status).toBe('CONTINUE');
    expect(process(plan(WHOLE)).context.get('done')).toBeUndefined();
    // What an earlier round has decided is not decided again by one that decides nothing.
    expect(process(plan(WHOLE), 'FINISH').agent.status).toBe('CONTINUE');
  });

  it('gives a strategy what it depends on and nothing else', () => {
    let given: object = {};
    const curious = { ...note, execute: (_: unknown, values: Values) => ((given = values), noEffects({ noted: '' })) };
    process(plan({ ...WHOLE, MEMORY_UPDATE: { strategies: [curious], failFast: false } }));
    expect(given).toEqual({ said: 'light a lamp', done: 'did light a lamp' });
  });

  it('ends in FAIL when a phase fails fast, with the code of the failure, and does nothing more', () => {
    let acted = false;
    const watched = { ...act, execute: () => ((acted = true), noEffects({ done: '' })) };
    const failing = { ...talk, execute: broken(new AgentFailure({ code: 'MODEL_UNAVAILABLE', message: 'no answer' })) };
    const phases: Given = {
      ...WHOLE,
      LLM_INTERACTION: { strategies: [failing], failFast: true },
      ACTION_EXECUTION: { strategies: [watched], failFast: false },
    };
    const { agent } = process(plan(phases));
    expect([agent.status, agent.failure, acted]).toEqual([
      'FAIL',
      { code: 'MODEL_UNAVAILABLE', message: 'no answer' },
      false,
    ]);
  });

  it('calls a bug a bug', () => {
    const failing = { ...talk, execute: broken(new TypeError('x is undefined')) };
    const { agent } = process(plan({ ...WHOLE, LLM_INTERACTION: { strategies: [failing], failFast: true } }));
    expect(agent.failure).toEqual({ code: 'AGENT_ERROR', message: 'the agent itself went wrong: x is undefined' });
  });

  it('goes on after an error in a phase that lets it, with the fallback, and notes the error', () => {
    const failing = { ...act, execute: broken(new Error('no hands')) };
    const { agent, context } = process(
      plan({ ...WHOLE, ACTION_EXECUTION: { strategies: [failing], failFast: false } }, { finalise: ['done'] }),
    );
    expect([agent.status, agent.failure]).toEqual(['CONTINUE', null]);
    expect(agent.problems).toEqual(['ACTION_EXECUTION went wrong in act: no hands']);
    expect(context.get('done')).toBe('nothing');
  });

  it('does not take it when a strategy does not provide what it says', () => {
    const lazy = { ...collect, execute: () => noEffects({}) };
    const { agent } = process(plan({ ...WHOLE, DATA_COLLECTION: { strategies: [lazy], failFast: true } }));
    expect(agent.failure?.message).toContain('collect did not provide seen');
  });
});

describe('middleware', () => {
  function watched(phases: Given) {
    const records: AgentRecord[] = [];
    let clock = 0;
    const middleware = standardMiddleware({ now: () => (clock += 5), emit: (record) => records.push(record) });
    process(plan(phases, { middleware }));
    return records;
  }

  it('tells of the round and of every strategy, in their order', () => {
    const logs = watched(WHOLE).flatMap((record) =>
      record.kind === 'log' ? [`${record.strategy} ${record.what}`] : [],
    );
    expect(logs).toEqual([
      'null begun',
      ...['collect', 'talk', 'act', 'note'].flatMap((name) => [`${name} begun`, `${name} done`]),
      'null done',
    ]);
  });

  it('measures with the time of the sink, and counts', () => {
    const records = watched(WHOLE);
    const timings = records.flatMap((record) => (record.kind === 'timing' ? [record.durationMs] : []));
    expect(timings).toEqual([5, 5, 5, 5, 45]);
    const counts = records.filter(({ kind }) => kind === 'count');
    expect(counts).toHaveLength(5);
    expect(counts[0]).toMatchObject({
      taskId: 'backup',
      agent: 'LampAgent',
      phase: 'DATA_COLLECTION',
      outcome: 'done',
    });
  });

  it('tells what a reply of a model has cost', () => {
    const records: AgentRecord[] = [];
    const used = { llmCalls: 2, tokens: 900, commands: 0, costUsd: 0.01 };
    const prompter = new SpyPrompter();
    const middleware = standardMiddleware({ now: () => 0, emit: (record) => records.push(record) });
    const answer = scripted({ replies: [finish('ok')] });
    drive(linuxAgent({ prompter, middleware }), sampleTask(), (effect, at) => {
      const outcome = answer(effect, at);
      return outcome.kind === 'replied' ? { ...outcome, used } : outcome;
    });
    expect(records.filter(({ kind }) => kind === 'cost')).toEqual([
      expect.objectContaining({ agent: 'LinuxAgent', strategy: 'llm-interaction', used }),
    ]);
  });

  it('tells of errors, of the strategy and of the round that failed by it', () => {
    const failing = { ...talk, execute: broken(new Error('mute')) };
    const records = watched({ ...WHOLE, LLM_INTERACTION: { strategies: [failing], failFast: true } });
    const errors = records.flatMap((record) =>
      record.kind === 'log' && record.what === 'failed' ? [record.error] : [],
    );
    expect(errors).toEqual(['mute', 'the agent itself went wrong: mute']);
  });

  it('is nested: who came first hears of the end last', () => {
    const heard: string[] = [];
    const one = (name: string) => ({
      name,
      before: ({ strategy }: { strategy: string | null }) => strategy === null && heard.push(`${name} before`),
      after: ({ strategy }: { strategy: string | null }) => strategy === null && heard.push(`${name} after`),
    });
    process(plan(WHOLE, { middleware: [one('a'), one('b')] }));
    expect(heard).toEqual(['a before', 'b before', 'b after', 'a after']);
  });

  it('changes nothing by what it throws', () => {
    const angry = {
      name: 'angry',
      before: broken(new Error('1')),
      after: broken(new Error('2')),
      onError: broken(new Error('3')),
    };
    const { agent } = process(plan(WHOLE, { middleware: [angry] }));
    expect([agent.failure, agent.problems]).toEqual([null, []]);
  });
});
