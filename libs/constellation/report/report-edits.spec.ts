import { describe, expect, it } from '@jest/globals';
import type { PlanCommit, PlanEvent, RunCommit, RunEvent } from '#proto';
import { planSayingsOf } from '../views/plan-saying.js';
import { editsSection } from './report-edits.js';
import { REPORT_LIMITS } from './report-limits.js';

const HASH = 'a'.repeat(64);
const HOSTILE = '```\n</details>\n# Not a heading\n<script>alert(1)</script>\u001B[2J\u202E';
const NOTHING = { llmCalls: 0, tokens: 0, commands: 0, costUsd: 0 };
const PLANNER = { kind: 'system', id: 'planner' } as const;
const at = (seconds: number): string =>
  new Date(Date.parse('2026-01-01T00:00:00.000Z') + seconds * 1_000).toISOString();
const remove = (taskId: string) => ({ tool: 'remove_task' as const, taskId });

function commitOf(events: readonly RunEvent[]): RunCommit {
  return { events: events.map((event, index) => ({ ...event, sequence: index + 1 })) } as unknown as RunCommit;
}

function planOf(...events: readonly PlanEvent[]): PlanCommit {
  return { events } as unknown as PlanCommit;
}

const opened = (editId: string, seconds: number): RunEvent => ({
  type: 'EDIT_OPENED',
  data: {
    editId,
    mode: 'editing',
    triggers: [{ kind: 'task', taskId: 'a', attempt: 1 }],
    revision: 1,
    lockPolicy: 'scoped',
    openedAt: at(seconds),
    deadlineAt: at(seconds + 90),
  },
});
const refused = (editId: string, number: number): RunEvent => ({
  type: 'EDIT_REJECTED',
  data: {
    editId,
    try: number,
    revision: 1,
    violations: [{ code: 'I3_ONLY_PENDING', path: 'edits[0]', message: 'the task a is COMPLETED' }],
    lockPolicy: 'strict',
    proposedBy: PLANNER,
    rejectedAt: at(2),
    planHash: HASH,
  },
});
const accepted = (editId: string, number: number, seconds: number): RunEvent => ({
  type: 'CONSTELLATION_MODIFIED',
  data: {
    revision: 2,
    origin: 'planner',
    tasks: 1,
    lines: 0,
    modifiedAt: at(seconds),
    editId,
    try: number,
    state: 'FINISH',
    edits: [remove('b')],
    proposedBy: PLANNER,
    planHash: HASH,
  },
});
const givenUp = (editId: string, seconds: number): RunEvent => ({
  type: 'EDIT_ABANDONED',
  data: { editId, reason: { code: 'PLANNER_FAILED', message: 'no usable reply' }, abandonedAt: at(seconds) },
});
const proposed = (editId: string, number: number, thought: string, answer = ''): PlanEvent => ({
  type: 'PLAN_PROPOSED',
  data: {
    proposal: {
      editId,
      try: number,
      baseRevision: 1,
      state: answer === '' ? 'CONTINUE' : 'FINISH',
      edits: [remove('a')],
      trace: { observation: `saw ${thought}`, thought },
      ...(answer === '' ? {} : { answer: { text: answer, evidence: [] } }),
    },
    source: 'model',
    used: NOTHING,
  },
});
const failed = (editId: string): PlanEvent => ({
  type: 'ROUND_FAILED',
  data: {
    editId,
    try: 1,
    calls: [],
    templates: [],
    error: { code: 'MODEL_UNAVAILABLE', message: 'nobody listens' },
    used: NOTHING,
  },
});

/** Everything that is no fence and no span. */
const proseOf = (text: string): string =>
  text.replaceAll(/^(`{3,}).*\n[^]*?\n\1$/gmu, '').replaceAll(/`[^`\n]*`/gu, '§');

describe('the rounds in a report', () => {
  const commits = [
    commitOf([opened('e1', 0), refused('e1', 1), accepted('e1', 2, 4), opened('e2', 5), givenUp('e2', 6)]),
  ];
  const sayings = planSayingsOf([
    planOf(proposed('e1', 1, `the first idea ${HOSTILE}`), proposed('e1', 2, 'the second idea', 'It is done.')),
    planOf(failed('e2')),
  ]);
  const text = editsSection({ commits, sayings });

  it('say what was seen, thought, proposed, refused, taken and answered, try by try', () => {
    const parts = [
      'saw the first idea',
      'the first idea',
      'proposed:',
      'Try 1 of `planner` was refused',
      'the second idea',
    ];
    const places = [...parts, 'It is done.', 'What changed:'].map((part) => text.indexOf(part));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it('say why there was no proposal', () => {
    expect(text).toContain('given up: `PLANNER_FAILED: no usable reply`');
    expect(text).toContain('It came to no plan: `MODEL_UNAVAILABLE: nobody listens`');
  });

  it('are folded below their names, and what models say cannot unfold them', () => {
    const prose = proseOf(text);
    expect(prose.match(/^<summary>.*<\/summary>$/gmu)).toEqual([
      '<summary>editing, 4.0 s, 1 refused, revision 2</summary>',
      '<summary>editing, 1.0 s, given up</summary>',
    ]);
    expect(prose.match(/<\/?details>/gu)).toHaveLength(4);
    expect(prose.match(/^#+ .*/gmu)).toEqual(['## Edits', '### Round §', '### Round §']);
    expect(text).not.toMatch(/[\u001B\u202E]/u);
  });

  it('have what the run itself knows where nobody could read the plans', () => {
    const alone = editsSection({ commits });
    expect(alone).toContain('What changed:');
    expect(alone).not.toContain('idea');
    expect(editsSection({ commits, sayingsAreCut: true })).toContain('More was said');
  });
});

describe('many rounds', () => {
  const long = (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `e${index + 1}`);
    const events = ids.flatMap((id, index) => [
      opened(id, index),
      refused(id, 1),
      refused(id, 2),
      accepted(id, 3, index + 1),
    ]);
    const said = ids.flatMap((id) => [1, 2, 3].map((number) => planOf(proposed(id, number, 'x'.repeat(20_000)))));
    return editsSection({ commits: [commitOf(events)], sayings: planSayingsOf(said) });
  };

  it('stay readable: each has its name and its fold, and less room', () => {
    const text = long(100);
    expect(text.match(/^### Round/gmu)).toHaveLength(100);
    expect(text.match(/^<details>$/gmu)).toHaveLength(100);
    expect(text.length).toBeLessThan(REPORT_LIMITS.roundsCharsMax);
    expect(text).toContain('characters left out');
  });

  it('are counted where there is no room for them at all', () => {
    const text = long(REPORT_LIMITS.roundsMax + 1);
    expect(text.match(/^### Round/gmu)).toHaveLength(REPORT_LIMITS.roundsMax);
    expect(text).toContain('1 more are in the log');
    expect(text.length).toBeLessThan(2 * REPORT_LIMITS.roundsCharsMax);
  });
});
