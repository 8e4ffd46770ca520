import { describe, expect, it } from '@jest/globals';
import { Agent } from './agent.js';
import { linuxAgent } from '../agents/linux-agent.js';
import type { AgentKind } from '../effects/effect.js';
import { agentKind } from './session.js';
import type { AgentState } from './state.js';
import { StateRegistry } from './state-registry.js';
import { CONTINUE, FAIL, failState, FINISH, finishState } from './states.js';
import { callTool, noEffects } from '../strategies/effects.js';
import { callsOf, drive, scripted } from '../testing/drive.js';
import { finish, sampleTask, say, SpyPrompter } from '../testing/samples.js';

const work = (handle: AgentState['handle'], next = FINISH): AgentState => ({
  name: CONTINUE,
  handle,
  nextState: (agent) => agent.states.get(agent.failure === null ? next : FAIL),
  nextAgent: (agent) => agent,
  isRoundEnd: () => false,
  isSubtaskEnd: () => false,
});

function kindOf(...states: AgentState[]): AgentKind {
  return agentKind('LampAgent', () => {
    const registry = new StateRegistry('LampAgent', states);
    return {
      agents: [new Agent({ name: 'LampAgent', states: registry, first: CONTINUE, prompter: new SpyPrompter() })],
    };
  });
}

const nobody = scripted({ replies: [] });
const run = (...states: AgentState[]) => drive(kindOf(...states), sampleTask(), nobody);
const LAMP = { tool: 'LAMP', arguments: {} };

describe('a session', () => {
  it('ends with what the agent has decided', () => {
    const { end } = run(
      work((agent) => (agent.decide(FINISH, 'light'), noEffects(undefined))),
      finishState(),
    );
    expect(end).toEqual({ kind: 'finished', result: 'light', notes: [] });
  });

  it('goes from FAIL to FINISH for clean-up, and stays failed', () => {
    const { end, effects } = run(
      work((agent) => (agent.fail({ code: 'DARK', message: 'no bulb' }, 'half'), noEffects(undefined))),
      failState(),
      finishState(function* () {
        yield* callTool(LAMP);
      }),
    );
    expect(end).toEqual({ kind: 'failed', code: 'DARK', message: 'no bulb', result: 'half', notes: [] });
    expect(callsOf({ effects })).toEqual([LAMP]);
  });

  it('cleans up after a FINISH, too', () => {
    const { end, effects } = run(
      work(() => noEffects(undefined)),
      finishState(function* () {
        yield* callTool(LAMP);
      }),
    );
    expect([end.kind, callsOf({ effects })]).toEqual(['finished', [LAMP]]);
  });

  it('keeps the first failure when the clean-up goes wrong, and takes no success from it', () => {
    const angry: AgentState['handle'] = () => {
      throw new Error('stuck');
    };
    const failing = work((agent) => (agent.fail({ code: 'DARK', message: 'no bulb' }), noEffects(undefined)));
    expect(run(failing, failState(), finishState(angry)).end).toMatchObject({ kind: 'failed', code: 'DARK' });
    const working = work((agent) => (agent.decide(FINISH, 'light'), noEffects(undefined)));
    expect(run(working, finishState(angry)).end).toEqual({
      kind: 'failed',
      code: 'AGENT_ERROR',
      message: 'the agent itself went wrong: stuck',
      result: 'light',
      notes: [],
    });
  });

  it('calls it a failure when an agent is in FAIL and has not said why', () => {
    const { end } = run(
      work(() => noEffects(undefined), FAIL),
      failState(),
      finishState(),
    );
    expect(end).toMatchObject({
      kind: 'failed',
      code: 'AGENT_FAILED',
      message: 'LampAgent failed and did not say why',
    });
  });

  it('calls it an error when an agent ends in a state that says nothing', () => {
    const odd: AgentState = { ...finishState(), name: 'ODD' };
    expect(
      run(
        work(() => noEffects(undefined), 'ODD'),
        odd,
        finishState(),
      ).end,
    ).toMatchObject({ code: 'AGENT_ERROR' });
  });
});

describe('a session never throws', () => {
  const throws = () => {
    throw new RangeError('out of the world');
  };
  it.each([
    ['a state', work(throws)],
    ['the choice of the next state', { ...work(() => noEffects(undefined)), nextState: throws }],
    ['the choice of the next agent', { ...work(() => noEffects(undefined)), nextAgent: throws }],
  ])('when %s does', (_, state) => {
    expect(run(state, finishState()).end).toEqual({
      kind: 'failed',
      code: 'AGENT_ERROR',
      message: 'the agent itself went wrong: out of the world',
      result: null,
      notes: [],
    });
  });

  it('when the next state is not there', () => {
    expect(run(work(() => noEffects(undefined), 'SLEEP')).end).toMatchObject({
      code: 'AGENT_ERROR',
      message: expect.stringContaining('has no state "SLEEP"'),
    });
  });

  it('when its agents cannot even be made', () => {
    const { end } = drive(agentKind('LampAgent', throws), sampleTask(), nobody);
    expect(end).toMatchObject({ kind: 'failed', code: 'AGENT_ERROR' });
  });

  it('when an effect has the outcome of another one', () => {
    const driven = drive(linuxAgent({ prompter: new SpyPrompter() }), sampleTask(), () => ({
      kind: 'read',
      text: '',
      totalLines: 0,
    }));
    expect(driven.end).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('of the kind "read"') });
  });
});

describe('a session has limits', () => {
  it('for agents that turn in circles without their model', () => {
    const { end } = run(
      work(() => noEffects(undefined), CONTINUE),
      finishState(),
    );
    expect(end).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('turns in circles') });
  });

  it('not for agents that ask their model in every round', () => {
    const kind = linuxAgent({ prompter: new SpyPrompter() });
    const replies = Array.from({ length: 40 }, (_, step) => say({ run: `echo ${step}` }));
    const { end } = drive(kind, sampleTask(), scripted({ replies: [...replies, finish('ok')] }));
    expect(end.kind).toBe('finished');
  });

  it('for what is wanted in one turn', () => {
    const { end, effects } = run(
      work(function* () {
        for (;;) yield* callTool(LAMP);
      }),
      finishState(),
    );
    expect(end).toMatchObject({ code: 'AGENT_ERROR', message: expect.stringContaining('in one turn') });
    expect(effects).toHaveLength(64);
  });

  it('that an agent cannot catch', () => {
    let kept = 0;
    const { end } = run(
      work(function* () {
        try {
          for (;;) yield* callTool(LAMP);
        } catch {
          kept += 1;
        }
      }),
      finishState(),
    );
    expect([end.kind, kept]).toEqual(['failed', 0]);
  });

  it('for its steps: the last one may still finish', () => {
    const kind = linuxAgent({ prompter: new SpyPrompter() });
    const two = sampleTask({ stepsMax: 2 });
    expect(drive(kind, two, scripted({ replies: [say({ run: 'true' }), finish('ok')] })).end.kind).toBe('finished');
    const endless = drive(
      kind,
      two,
      scripted({ replies: [say({ run: 'true' }), say({ run: 'false' }), finish('late')] }),
    );
    expect(endless.end).toMatchObject({ kind: 'failed', code: 'STEP_LIMIT' });
    expect(callsOf(endless)).toHaveLength(2);
  });
});

describe('a session that is left', () => {
  it('lets its agent put things away', () => {
    let away = false;
    const kind = kindOf(
      work(function* () {
        try {
          yield* callTool(LAMP);
        } finally {
          away = true;
        }
      }),
      finishState(),
    );
    const program = kind.run(sampleTask());
    program.next();
    program.return({ kind: 'failed', code: 'LEFT', message: '', result: null, notes: [] });
    expect(away).toBe(true);
  });

  it('notes of earlier tasks are on the blackboard, and do not leave with this one', () => {
    const prompter = new SpyPrompter();
    const blackboard = [{ taskId: 'look', deviceId: 'db-1', note: 'the port is 5432' }];
    const { end } = drive(
      linuxAgent({ prompter }),
      sampleTask({ blackboard }),
      scripted({ replies: [{ ...finish('ok'), notes: ['done', 'done'] }] }),
    );
    expect(prompter.at(1).blackboard.entries).toEqual([{ agent: 'db-1', taskId: 'look', text: 'the port is 5432' }]);
    expect(end.notes).toEqual(['done']);
  });
});
