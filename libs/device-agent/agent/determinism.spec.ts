import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json, LinuxAgentReply, Prompt } from '#proto';
import { linuxAgent } from '../agents/linux-agent.js';
import type { AgentKind, Effect } from '../effects/effect.js';
import { desktopAgent } from '../testing/desktop-agent.js';
import { answered, cli, drive, refused, replay, type Answer } from '../testing/drive.js';
import { sampleTask, say, SpyPrompter } from '../testing/samples.js';

const CALLS: readonly (readonly [string, Record<string, Json>])[] = [
  ['', {}],
  ['EXEC_CLI', { command: 'df' }],
  ['EXEC_CLI', { command: 'ls' }],
  ['EXEC_CLI', { cmd: 'ls' }],
  ['SYS_INFO', { info_type: 'disk' }],
  ['READ_OUTPUT', { step: 1 }],
  ['ASK', { question: 'Really?' }],
  ['df -h', {}],
  ['', { agent: 'AppAgent', subtask: 'look' }],
];
const ENDS = [
  cli('a'),
  cli('b', 1),
  refused('person', 'APPROVAL_REJECTED', 'no'),
  answered(null),
  answered([1, '__proto__']),
];

/** Anything that may come back: mostly what a model, a device and a person say, sometimes what they never should. */
const world = fc.record({
  stepsMax: fc.integer({ min: 1, max: 12 }),
  seeds: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 }),
});

function worldOf(seeds: readonly number[]): Answer {
  let used = 0;
  const dice = (sides: number) => (seeds[used++ % seeds.length] ?? 0) % sides;
  const reply = (): LinuxAgentReply => {
    const status = (['CONTINUE', 'CONTINUE', 'CONTINUE', 'ASSIGN', 'FINISH', 'FAIL'] as const)[dice(6)] ?? 'FAIL';
    const call = CALLS[dice(CALLS.length)] ?? ['', {}];
    const said = say({ call, notes: [`note ${dice(3)}`], plan: ['go on'], result: 'r' });
    return { ...said, action: { ...said.action, status: status as 'CONTINUE' } };
  };
  return (effect, { step, index }) => {
    if (dice(40) === 0) return { kind: 'read', text: 'misplaced', totalLines: 1 };
    switch (effect.kind) {
      case 'ask-model':
        if (dice(25) === 0) return { kind: 'model-failed', step, code: 'MODEL_UNAVAILABLE', message: 'gone' };
        return { kind: 'replied', step, reply: reply() };
      case 'call-tool':
        return { kind: 'called', step, index, command: effect.command, ended: ENDS[dice(ENDS.length)] ?? cli('') };
      case 'ask-person':
        return { kind: 'answered', step, text: dice(2) === 0 ? null : 'yes', note: '' };
      case 'read-output':
      case 'read-input':
        return { kind: 'read', text: `line ${dice(3)}`, totalLines: 3 };
      case 'use-board':
        return { kind: 'used-board', step, index, done: dice(2) === 0, text: `revision ${dice(3)}` };
    }
  };
}

/** All that can be compared of an effect: of a question to a model, also the prompt that it would make. */
function shown(effect: Effect): unknown {
  if (effect.kind !== 'ask-model') return effect;
  const prompt: Prompt = effect.prompt('b');
  return { kind: effect.kind, agent: effect.agent, prompt };
}

const kinds: readonly (readonly [string, () => AgentKind])[] = [
  ['LinuxAgent', () => linuxAgent({ prompter: new SpyPrompter() })],
  ['SampleAgent', () => desktopAgent({ host: new SpyPrompter(), app: new SpyPrompter() })],
];

describe.each(kinds)('%s, whatever the world answers', (_, kind) => {
  it('wants the same again when it is told the same again, up to any point, and comes to the same end', () => {
    const ends = new Set<string>();
    fc.assert(
      fc.property(world, fc.nat(), ({ stepsMax, seeds }, cutAt) => {
        const task = sampleTask({ stepsMax });
        const first = drive(kind(), task, worldOf(seeds));
        ends.add(first.end.kind === 'failed' ? first.end.code : 'finished');
        const again = replay(kind(), task, first.outcomes);
        expect(again.end).toEqual(first.end);
        expect(again.effects.map(shown)).toEqual(first.effects.map(shown));
        // A crash anywhere: what is wanted next is what was wanted next before.
        const cut = cutAt % first.outcomes.length;
        const half = replay(kind(), task, first.outcomes.slice(0, cut));
        expect(half.effects.map(shown)).toEqual(first.effects.slice(0, cut + 1).map(shown));
        expect(first.effects.filter((effect) => effect.kind === 'ask-model').length).toBeLessThanOrEqual(stepsMax);
      }),
      { seed: 20_260_147, numRuns: 150 },
    );
    // The property is about all of these, not about one.
    expect([...ends]).toEqual(expect.arrayContaining(['finished', 'AGENT_FAILED', 'STEP_LIMIT', 'MODEL_UNAVAILABLE']));
  });

  it('serves attempts side by side that know nothing of each other', () => {
    const shared = kind();
    const answers = worldOf([1, 2, 3, 5, 8, 13]);
    const [one, other] = [drive(kind(), sampleTask(), worldOf([1, 2, 3, 5, 8, 13])), shared.run(sampleTask())];
    other.next();
    const beside = drive(shared, sampleTask(), answers);
    expect(beside.effects.map(shown)).toEqual(one.effects.map(shown));
  });
});
