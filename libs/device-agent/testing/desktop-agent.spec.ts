import { describe, expect, it } from '@jest/globals';
import { answered, cli, drive, refused, scripted, type Script } from './drive.js';
import { APP, desktopAgent, HOST } from './desktop-agent.js';
import type { HostAgentReply } from './desktop-replies.js';
import { fail, finish, sampleTask, say, SpyPrompter } from './samples.js';

const assign = (subtask: string, agent = APP): HostAgentReply => ({
  ...say({}),
  action: { function: '', arguments: { agent, subtask }, status: 'ASSIGN' },
});
const done = (result: string) => finish(result);

function run(script: Script, task = sampleTask()) {
  const [host, app] = [new SpyPrompter(), new SpyPrompter()];
  const driven = drive(desktopAgent({ host, app }), task, scripted(script));
  const who = driven.effects.map((effect) => (effect.kind === 'ask-model' ? effect.agent : effect.kind));
  return { ...driven, host, app, who };
}

describe('a HostAgent with an AppAgent', () => {
  it('delegates two subtasks and takes control back after each', () => {
    const { end, who, host, app } = run({
      replies: [
        assign('open the report'),
        say({ run: 'cat report', notes: ['the sum is 42'] }),
        done('the report says 42'),
        assign('write the sum down'),
        done('written'),
        finish('All done: 42.'),
      ],
      calls: ({ tool }) => (tool === 'SYS_INFO' ? answered({ name: 'Desktop 1' }) : cli('42')),
    });
    expect(end).toEqual({ kind: 'finished', result: 'All done: 42.', notes: ['the sum is 42'] });
    expect(who).toEqual([HOST, 'call-tool', APP, 'call-tool', 'call-tool', APP, HOST, 'call-tool', APP, HOST]);
    expect(app.views.map(({ subtask }) => subtask)).toEqual([
      'open the report',
      'open the report',
      'write the sum down',
    ]);
    expect(app.at(1).observation).toEqual([{ type: 'text', text: '{"name":"Desktop 1"}' }]);
    const { observation, blackboard, memory, stepsLeft } = host.at(3);
    expect(JSON.stringify(observation)).toContain('the report says 42');
    expect(blackboard.entries).toEqual([{ agent: APP, text: 'the sum is 42' }]);
    expect(memory.items.map(({ step, agent }) => [step, agent])).toEqual([
      [1, HOST],
      [4, HOST],
    ]);
    expect(stepsLeft).toBe(sampleTask().stepsMax - 5);
  });

  it('decides what a failed subtask means', () => {
    const { end, host } = run({
      replies: [assign('fly'), fail('no wings'), assign('walk'), done('walked'), finish('there')],
    });
    expect(end.kind).toBe('finished');
    const seen = host.at(2).observation?.map((part) => (part.type === 'text' ? part.text : ''));
    expect(seen).toEqual([JSON.stringify({ agent: APP, subtask: 'fly', outcome: 'failed', text: 'no wings' })]);
  });

  it('fails when the host says so', () => {
    const { end } = run({ replies: [assign('fly'), fail('no wings'), fail('it cannot be done')] });
    expect(end).toMatchObject({ kind: 'failed', code: 'AGENT_FAILED', message: 'it cannot be done' });
  });

  it('hears of an assignment that cannot be meant', () => {
    const { end, host } = run({ replies: [assign('fly', 'BirdAgent'), assign('', APP), fail('nobody can fly')] });
    expect(host.at(2).memory.items.at(-1)?.problems).toEqual([expect.stringContaining('Nothing was assigned')]);
    expect(host.at(3).memory.items.at(-1)?.problems).toHaveLength(1);
    expect(end.kind).toBe('failed');
  });

  it('begins a subtask with nothing of the one before but what was learnt in it', () => {
    const stubborn = [1, 2, 3, 4].map(() => say({ run: 'fly', plan: ['fly'] }));
    const { app, end } = run({
      replies: [assign('fly'), ...stubborn, assign('fly again'), say({ run: 'fly' }), done('flew'), finish('ok')],
      calls: ({ tool }) => (tool === 'SYS_INFO' ? answered('sky') : cli('', 1, 'no wings')),
    });
    expect(end).toMatchObject({ kind: 'finished', result: 'ok' });
    const begun = app.views.find(({ subtask }) => subtask === 'fly again');
    expect(begun?.plan).toEqual([]);
    expect(begun?.memory.items.map(({ subtask }) => subtask)).toEqual(['fly', 'fly', 'fly', 'fly']);
  });

  it('shares the step limit of the task', () => {
    let n = 0;
    const { end, who } = run(
      { replies: ({ agent }) => (agent === HOST ? assign('count') : say({ run: `echo ${(n += 1)}` })) },
      sampleTask({ stepsMax: 7 }),
    );
    expect(end).toMatchObject({ code: 'STEP_LIMIT' });
    expect(who.filter((one) => one !== 'call-tool')).toHaveLength(7);
  });

  it('goes on when the AppAgent is not let look', () => {
    const { end, app } = run({
      replies: [assign('read'), done('nothing there'), finish('ok')],
      calls: () => refused('policy', 'POLICY_DENIED', 'eyes shut'),
    });
    expect(app.at(1).observation).toEqual([{ type: 'text', text: 'nothing to be seen: eyes shut' }]);
    expect(end.kind).toBe('finished');
  });

  it('ends with the code of the model when it is the model of the AppAgent that fails for good', () => {
    const lost = { code: 'MODEL_UNAVAILABLE', message: 'gone' };
    const { end } = run({ replies: [assign('read'), lost, lost] });
    expect(end).toMatchObject({ kind: 'failed', code: 'MODEL_UNAVAILABLE' });
  });
});
