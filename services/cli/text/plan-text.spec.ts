import { describe, expect, it } from '@jest/globals';
import { diffConstellations } from '#libs/constellation';
import { runCommitsOf } from '#libs/testing';
import type { PlanCommit, TaskConstellation } from '#proto';
import { constellationText, diffText, finalAnswerText, planningSummary, planningText } from './plan-text.js';
import { edited } from '../testing/edited-run.js';

const screen = { color: false, isTerminal: false, columns: 120 };
const { steps } = edited();
const plans = steps.flatMap((step) => (step.kind === 'plan' ? [step.commit] : []));
const text = (commits: readonly PlanCommit[]) => planningText(commits, runCommitsOf(steps), screen).join('\n');

describe('what is told of planning', () => {
  it('says what was asked, proposed, refused and accepted, in that order', () => {
    const told = text(plans);
    const places = [
      'e1 opened: editing about',
      'e1 try 1 editing by rule',
      'e1 try 1 proposes CONTINUE: 1 edit',
      'e1 try 1 refused',
      'I3_ONLY_PENDING',
      'e1 try 2 proposes CONTINUE: 2 edits',
      'e1 accepted: revision 2',
    ].map((part) => told.indexOf(part));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('lets nothing of a model or a device reach the terminal as it is', () => {
    const hostile = structuredClone(plans);
    const proposed = hostile[0]?.events.find(({ type }) => type === 'PLAN_PROPOSED');
    if (proposed?.type === 'PLAN_PROPOSED') proposed.data.proposal.trace = { thought: 'a\u001B[2Jb\u202Ec\nd' };
    const told = text(hostile);
    expect(told).toContain('thought: a');
    expect(told).not.toMatch(/[\u001B\u202E]/u);
  });

  it('says where a plan may go later: whoever accepts it accepts that', () => {
    const spared = structuredClone(plans);
    const proposed = spared[0]?.events.find(({ type }) => type === 'PLAN_PROPOSED');
    if (proposed?.type === 'PLAN_PROPOSED') {
      proposed.data.proposal.spare = [{ device: 'db-2' }, { os: 'linux', tags: ['a\u001B[2Jb'] }];
    }
    expect(text(spared)).toContain('may later use: db-2; os linux, tags ab');
  });

  it('says what a person changed, though nobody proposed it', () => {
    const commits = runCommitsOf(steps);
    const accepted = commits.flatMap(({ events }) => events).find(({ type }) => type === 'CONSTELLATION_MODIFIED');
    const commit = structuredClone(commits.find(({ events }) => events.some(({ type }) => type === 'EDIT_OPENED')));
    if (commit === undefined || accepted?.type !== 'CONSTELLATION_MODIFIED') throw new Error('the history has neither');
    const { editId: _, planHash: __, ...data } = accepted.data;
    const edits = [{ tool: 'remove_task' as const, taskId: 'disk-9' }];
    const byHand = { ...accepted, data: { ...data, edits, proposedBy: { kind: 'person' as const, id: 'ann' } } };
    expect(planningText([], [{ ...commit, events: [byHand] }], screen)).toEqual([
      expect.stringContaining('edit of ann accepted'),
      '          removes task disk-9',
    ]);
  });

  it('sums up what it took', () => expect(planningSummary(plans)).toBe('1 round, 0 model calls'));
});

const star = (id: string, command?: string): TaskConstellation['tasks'][number] => ({
  id,
  name: id,
  description: `does ${id}`,
  tips: [],
  target: id === 'a' ? { device: 'web-1' } : { os: 'linux', tags: ['db'] },
  ...(command === undefined ? {} : { command: { tool: 'EXEC_CLI', arguments: { command } } }),
});
const plan: TaskConstellation = {
  name: 'plan',
  tasks: [star('a', 'uname'), star('b')],
  lines: [{ id: 'l', from: 'a', to: 'b', type: 'conditional', condition: 'result.exit_code == 0' }],
};

describe('a plan', () => {
  it('says who does what, after what', () => {
    const shown = constellationText(plan, screen);
    for (const part of ['web-1', 'uname', 'os linux, tags db', 'b: does b', 'a if result.exit_code == 0']) {
      expect(shown).toContain(part);
    }
  });

  it('shows what runs, however long its name is', () => {
    const tasks = [{ ...star('a', 'rm -r /srv'), name: 'harmless '.repeat(20) }];
    expect(constellationText({ ...plan, tasks, lines: [] }, screen)).toContain('rm -r /srv');
  });

  it('is compared with another one, line by line', () => {
    const after: TaskConstellation = {
      ...plan,
      tasks: [{ ...star('a', 'uname'), target: { device: 'db-1' } }, star('c', 'id')],
      lines: [],
    };
    expect(diffText(diffConstellations(plan, after), screen)).toEqual([
      '+ task c on os linux, tags db: EXEC_CLI {"command":"id"}',
      '- task b',
      '~ task a: target {"device":"web-1"} -> {"device":"db-1"}',
      '- line a -> b',
    ]);
    expect(diffText(diffConstellations(plan, plan), screen)).toEqual(['no difference']);
  });

  it('shows of long values where they differ', () => {
    const long = (days: number): TaskConstellation => ({
      ...plan,
      tasks: [star('a', `${'#'.repeat(500)} days=${days}; ${'-'.repeat(500)}`), star('b')],
    });
    expect(diffText(diffConstellations(long(1), long(7)), screen)).toEqual([
      expect.stringMatching(/^~ task a: command …#+ days=1; -+… -> …#+ days=7; -+…$/u),
    ]);
  });
});

describe('an answer', () => {
  it('stands with what was not done and what it rests on', () => {
    const answer = {
      text: 'Two hosts are fine.\u001B[2J\nOne is not.\nrests on b.1',
      by: 'model' as const,
      evidence: [{ taskId: 'a', attempt: 1, deviceId: 'web-1' }],
      failures: [{ taskId: 'b', status: 'FAILED' as const, message: 'exit code 1' }],
    };
    expect(finalAnswerText({ answer }, screen)).toEqual([
      'Answer',
      '  Two hosts are fine.',
      '  One is not.',
      '  rests on b.1',
      'not done: b FAILED: exit code 1',
      'rests on a.1 on web-1',
    ]);
    expect(finalAnswerText({ answer: null }, screen)).toEqual([]);
  });
});
