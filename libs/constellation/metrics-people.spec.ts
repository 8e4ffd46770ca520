import { describe, expect, it } from '@jest/globals';
import type { Actor, AttemptFinished, RunCommit, Usage } from '#proto';
import type { PersonsWord } from './decide/approvals.js';
import {
  add,
  ALICE,
  ask,
  asked,
  build,
  commandAsk,
  constellation,
  device,
  fleet,
  giveUp,
  HASH,
  imagine,
  questionAsk,
  Story,
  submit,
  verb,
  WAKE,
  withAgents,
} from './testing/given.js';
import { metricsOf, type RunMetrics } from './views/metrics.js';
import { figuresSection } from './report/report-figures.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const BOB: Actor = { kind: 'person', id: 'bob' };
const FLEET = withAgents(fleet([device('web-1'), device('db-1')]));
const agentTask = { command: undefined as never };
const USED: Usage = { llmCalls: 3, tokens: 900, commands: 1, costUsd: 0.01 };

const say = (word: PersonsWord, by: Actor = ALICE) => verb(word, JSON.stringify(word), by);
const done = (taskId: string, used?: Usage) =>
  ({
    kind: 'attempt-ended',
    taskId,
    attempt: 1,
    attemptHash: HASH,
    finished: { status: 'completed', result: { value: 'done' }, ...(used && { used }) } as AttemptFinished,
  }) as const;

function commitsOf({ events }: Story): RunCommit[] {
  const recorded = events.map((event, index) => ({
    id: `c.${index}`,
    sequence: index + 1,
    schemaVersion: 1,
    ...event,
  }));
  const by = { service: 'orchestrator', instance: 'test' };
  const shape = { commit: 'c', runId: 'run-1', number: 1, at: '2026-01-01T00:00:00.000Z', by, causes: [] };
  return [{ ...shape, prevHash: HASH, hash: HASH, events: recorded }];
}

function measured(story: Story): RunMetrics {
  const metrics = metricsOf(commitsOf(story));
  if (metrics === null) throw new Error('there is nothing to measure');
  return metrics;
}

/** Of a run of agents: `a`, then `b`. */
const begun = () =>
  new Story()
    .on(FLEET)
    .at(0)
    .when(
      submit(
        constellation(
          [
            { id: 'a', ...agentTask },
            { id: 'b', ...agentTask },
          ],
          ['a->b'],
        ),
      ),
    );

describe('time that an attempt waits for people', () => {
  it('is work of nobody: an approval over night is neither in W nor in L', () => {
    const story = begun()
      .at(10 * SECOND)
      .when(asked(commandAsk('run-1.a.1.1.0', { expiresAt: '2026-01-02T00:00:00.000Z' })))
      .at(10 * SECOND + 9 * HOUR)
      .when(say({ verb: 'APPROVE', approvalId: 'run-1.a.1.1.0' }, BOB))
      .at(30 * SECOND + 9 * HOUR)
      .when(done('a', USED))
      .at(40 * SECOND + 9 * HOUR)
      .when(done('b'));
    expect(story.run.phase).toBe('COMPLETED');
    expect(measured(story)).toMatchObject({
      totalWorkMs: 40 * SECOND,
      criticalPathMs: 40 * SECOND,
      criticalPath: ['a', 'b'],
      parallelismRatio: 1,
      waitedMs: 9 * HOUR,
      pausedMs: 0,
      endToEndMs: 40 * SECOND + 9 * HOUR,
      attempts: [
        { taskId: 'a', attempt: 1, workedMs: 30 * SECOND, waitedMs: 9 * HOUR, outcome: 'completed', used: USED },
        { taskId: 'b', attempt: 1, workedMs: 10 * SECOND, waitedMs: 0, outcome: 'completed', used: null },
      ],
    });
  });

  it('is that of questions, too, also when nobody ever answered', () => {
    const story = begun()
      .at(SECOND)
      .when(asked(questionAsk('run-1.a.1.1.0', 'Which one?')))
      .at(2 * SECOND)
      .when(say({ verb: 'ANSWER', approvalId: 'run-1.a.1.1.0', text: 'the first' }))
      .at(3 * SECOND)
      .when(asked(commandAsk('run-1.a.1.2.0', { expiresAt: '2026-01-02T00:00:00.000Z' })))
      .at(8 * SECOND)
      .when(done('a'))
      .at(9 * SECOND)
      .when(done('b'));
    // Worked in the first, and in the second between answer and question; the last five seconds it waited in vain.
    expect(measured(story)).toMatchObject({ waitedMs: 6 * SECOND, totalWorkMs: 3 * SECOND });
    expect(measured(story).attempts[0]).toMatchObject({ workedMs: 2 * SECOND, waitedMs: 6 * SECOND });
  });

  it('counts no attempt that goes on', () => {
    const story = begun()
      .at(SECOND)
      .when(asked(commandAsk('run-1.a.1.1.0')));
    expect(measured(story)).toMatchObject({ waitedMs: 0, totalWorkMs: 0, attempts: [{ outcome: 'running' }] });
    expect(measured(story).attempts[0]).toMatchObject({ workedMs: null, waitedMs: null });
  });
});

describe('a pause', () => {
  it('is told, and what runs meanwhile is work all the same', () => {
    const story = begun()
      .at(SECOND)
      .when(verb({ verb: 'PAUSE', reason: 'lunch' }))
      .at(5 * SECOND)
      .when(done('a'))
      .at(1 * HOUR)
      .when(verb({ verb: 'RESUME' }, 'on'))
      .at(1 * HOUR + SECOND)
      .when(done('b'));
    expect(measured(story)).toMatchObject({
      pausedMs: HOUR - SECOND,
      waitedMs: 0,
      totalWorkMs: 6 * SECOND,
      criticalPathMs: 6 * SECOND,
    });
  });
});

describe('rounds', () => {
  const goal = () =>
    new Story()
      .on(FLEET)
      .at(0)
      .when(ask({ options: { editPolicy: 'every-result' } }));

  it('are listed with what they took and used up, refused tries included', () => {
    const nowhere = build(constellation([{ id: 'a', target: { device: 'mars' } }]));
    const story = goal()
      .at(SECOND)
      .when(imagine('e1', [nowhere], {}, { llmCalls: 1, tokens: 100 }))
      .at(3 * SECOND)
      .when(imagine('e1', [build(constellation(['a', 'b']))], { try: 2 }, { llmCalls: 2, tokens: 50 }))
      .at(4 * SECOND)
      .when(done('a'))
      .at(6 * SECOND)
      .when(imagine('e2', [], {}, { llmCalls: 1, tokens: 10 }))
      .at(7 * SECOND)
      .when(done('b'))
      .at(8 * SECOND)
      .when(giveUp('e3', 'the endpoint is away', { used: { ...USED } }));
    expect(measured(story).rounds).toEqual([
      {
        editId: 'e1',
        mode: 'creation',
        ms: 3 * SECOND,
        proposals: 2,
        rejected: 1,
        used: { llmCalls: 3, tokens: 150, commands: 0, costUsd: 0 },
        outcome: 'applied',
      },
      {
        editId: 'e2',
        mode: 'editing',
        ms: 2 * SECOND,
        proposals: 1,
        rejected: 0,
        used: { llmCalls: 1, tokens: 10, commands: 0, costUsd: 0 },
        outcome: 'unchanged',
      },
      { editId: 'e3', mode: 'editing', ms: SECOND, proposals: 0, rejected: 0, used: USED, outcome: 'abandoned' },
    ]);
    const text = figuresSection(commitsOf(story));
    expect(text).toContain('| `e1` | creation | 3.0 s | 3 | 150 | applied, 1 refused before |');
    expect(text).toContain('| `a` | 1 | `web-1` |');
  });

  it('that is open took nothing yet', () => {
    expect(measured(goal().when(WAKE)).rounds).toMatchObject([{ editId: 'e1', ms: null, outcome: 'open' }]);
  });

  it('that was changed by a person beside it is no round', () => {
    const story = begun().when(
      verb({ verb: 'PROPOSE', proposal: { edits: [add.task('x')] }, delegated: false } as never),
    );
    expect(measured(story).rounds).toEqual([]);
  });
});
