import { describe, expect, it } from '@jest/globals';
import { Agent } from './agent.js';
import { linuxAgentStates, linuxAgent } from '../agents/linux-agent.js';
import { AttemptContext } from './attempt-context.js';
import { CONTINUE } from './states.js';
import { drive, scripted } from '../testing/drive.js';
import { fail, finish, sampleTask, say, SpyPrompter } from '../testing/samples.js';

const states = linuxAgentStates();

function agentIn(state: string): { agent: Agent; context: AttemptContext } {
  const agent = new Agent({ name: 'LinuxAgent', states, first: CONTINUE, prompter: new SpyPrompter() });
  agent.begin();
  agent.state = state === 'NONE' ? states.none : states.get(state);
  return { agent, context: new AttemptContext(sampleTask(), [agent]) };
}

describe('the state machine of a LinuxAgent', () => {
  it('has three states', () => {
    expect(states.names).toEqual(['CONTINUE', 'FINISH', 'FAIL']);
  });

  // Every state with every decision: the whole table.
  it.each([
    ['CONTINUE', 'CONTINUE', 'CONTINUE'],
    ['CONTINUE', 'FINISH', 'FINISH'],
    ['CONTINUE', 'FAIL', 'FAIL'],
    ['FINISH', 'CONTINUE', 'FINISH'],
    ['FINISH', 'FINISH', 'FINISH'],
    ['FINISH', 'FAIL', 'FINISH'],
    ['FAIL', 'CONTINUE', 'FINISH'],
    ['FAIL', 'FINISH', 'FINISH'],
    ['FAIL', 'FAIL', 'FINISH'],
    ['NONE', 'CONTINUE', 'FINISH'],
  ])('goes from %s, when the decision is %s, to %s', (from, decision, to) => {
    const { agent, context } = agentIn(from);
    agent.decide(decision, 'why');
    expect(agent.state.nextState(agent, context).name).toBe(to);
    expect(agent.state.nextAgent(agent, context)).toBe(agent);
  });

  it('goes from CONTINUE to FAIL when something went wrong, whatever was decided', () => {
    const { agent, context } = agentIn('CONTINUE');
    agent.fail({ code: 'AGENT_ERROR', message: 'a bug' });
    agent.decide('FINISH', 'all is well');
    expect(agent.state.nextState(agent, context).name).toBe('FAIL');
    agent.fail({ code: 'OTHER', message: 'another' });
    expect(agent.failure).toEqual({ code: 'AGENT_ERROR', message: 'a bug' });
  });

  it.each([
    ['CONTINUE', false, false],
    ['FINISH', true, true],
    ['FAIL', true, true],
    ['NONE', true, true],
  ])('%s: the round ends %s, the subtask ends %s', (name, round, subtask) => {
    const { agent } = agentIn(name);
    expect([agent.state.isRoundEnd(), agent.state.isSubtaskEnd()]).toEqual([round, subtask]);
  });

  it('does nothing in its final states', () => {
    for (const name of ['FINISH', 'FAIL', 'NONE']) {
      const { agent, context } = agentIn(name);
      expect(agent.state.handle(agent, context).next()).toEqual({ done: true, value: undefined });
    }
  });

  it.each([
    ['CONTINUE', [say({ run: 'true' }), finish('ok')], 'finished'],
    ['FINISH', [finish('ok')], 'finished'],
    ['FAIL', [fail('no')], 'failed'],
    ['no reply', [{ code: 'MODEL_UNAVAILABLE', message: 'gone' }], 'failed'],
  ])('with %s of the model', (_, replies, kind) => {
    const { end } = drive(linuxAgent({ prompter: new SpyPrompter() }), sampleTask(), scripted({ replies }));
    expect(end.kind).toBe(kind);
  });
});
