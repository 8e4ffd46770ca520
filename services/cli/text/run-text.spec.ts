import { describe, expect, it } from '@jest/globals';
import type { RunView } from '#proto';
import { forkHistory, generateEditedHistory, runCommitsOf } from '#libs/testing';
import { momentsOf, stateAt } from '../sources/run-history.js';
import { momentText } from '../terminal/local-time.js';
import { drawingOf, headline, runText } from './run-text.js';
import { plain } from '../terminal/style.js';

const SCREEN = { isTerminal: false, color: false, columns: 200 };
const steps = generateEditedHistory({ seed: 6, goal: true });
const commits = runCommitsOf(steps);
const runId = commits[0]?.runId ?? '';
const views = commits.map(({ events }) => stateAt(runId, commits, { at: events.at(-1)?.sequence }));
const viewWith = (passes: (view: RunView) => boolean): RunView => {
  const found = views.find(passes);
  if (found === undefined) throw new Error('the history has no such state');
  return found;
};
const linesOf = (view: RunView): string[] => runText(view, SCREEN).split('\n');

describe('runText', () => {
  it('says why a run waits and what makes it go on', () => {
    const view = viewWith(({ waitingFor }) => waitingFor?.reason === 'planner');
    const lines = linesOf(view);
    expect(lines).toContain(`waiting for  ${view.waitingFor?.detail}`);
    expect(lines).toContain(`woken by     a proposal, at the latest ${momentText(view.waitingFor?.wakesAt ?? 0)}`);
  });

  it('shows the round that is open with what was wrong so far', () => {
    const view = viewWith(({ editing }) => (editing?.violations.length ?? 0) > 0);
    const { editId, lockPolicy, violations } = view.editing ?? { violations: [] };
    const text = runText(view, SCREEN);
    expect(text).toMatch(new RegExp(`^edit round   ${editId} \\(editing, ${lockPolicy}\\) about `, 'mu'));
    expect(text).toContain(`refused      ${violations[0]?.code} ${violations[0]?.path}: `);
    expect(headline(view, plain)).toMatch(new RegExp(`round ${editId} open$`, 'u'));
  });

  it('names what is held, and marks it in the drawing', () => {
    const view = viewWith(({ tasks, waitingFor }) => waitingFor !== null && tasks.some(({ held }) => held));
    const held = view.tasks.filter((task) => task.held).map(({ id }) => id);
    expect(linesOf(view)).toContain(`held         ${held.join(', ')}`);
    expect(drawingOf(view, SCREEN).join('\n')).toContain(`◌ ${held[0]}`);
    expect(runText(view, SCREEN)).toMatch(new RegExp(`^${held[0]}\\tPENDING\\t.*held by an edit`, 'mu'));
  });

  it('shows the words of an agent as they are', () => {
    const view = viewWith(({ tasks }) => tasks.some(({ result }) => result !== null));
    const tasks = view.tasks.map((task) =>
      task.result === null ? task : { ...task, result: { value: 'Two "disks"' } },
    );
    expect(runText({ ...view, tasks }, SCREEN)).toMatch(/\tTwo "disks"$/mu);
  });

  it('names what tasks have left for others, with sizes and hashes, and how many there are of many', () => {
    const view = viewWith(({ tasks }) => tasks.some(({ result }) => result !== null));
    const artifact = { sha256: 'a'.repeat(64), bytes: 42 };
    const left = { name: 'a.log', mediaType: 'text/plain', path: 'logs/a.log', mode: '640', artifact };
    const result = { value: 'done', files: [left], fileList: { files: 62, bytes: 99_000, artifact } };
    const tasks = view.tasks.map((task) => (task.result === null ? task : { ...task, result }));
    const [first] = tasks.filter((task) => task.result !== null);
    const lines = linesOf({ ...view, tasks });
    expect(lines).toContain('Files:');
    expect(lines).toContain(`  ${first?.id}: logs/a.log: mode 640, 42 bytes, SHA-256 ${'a'.repeat(64)}`);
    expect(lines.join('\n')).toContain(`${first?.id}: 62 files in all, 99000 bytes; the list of them: SHA-256 aaaa`);
    expect(lines.join('\n')).toContain('62 files: done');
  });

  it('says what was asked for, cut and on one line', () => {
    const [view] = views;
    if (view === undefined) throw new Error('the history is empty');
    const lines = linesOf({ ...view, goal: `Report\n${'x'.repeat(1_000)}` });
    expect(lines.find((line) => line.startsWith('goal '))).toMatch(/^goal +Report x+…$/u);
  });

  it('says where a run was forked from', () => {
    const forks = runCommitsOf(forkHistory(steps, { at: 20, seed: 1 }));
    const view = stateAt(forks[0]?.runId ?? '', forks);
    expect(linesOf(view).some((line) => line === `forked from  event 20 of run ${runId}`)).toBe(true);
  });

  it('tells what people noted, one line each, whatever they have put in', () => {
    const [view] = views;
    if (view === undefined) throw new Error('the history is empty');
    const by = { kind: 'person', id: 'cli' } as const;
    const annotatedAt = view.requestedAt;
    const notes = [
      { by, text: 'a new disk', taskId: 'a', annotatedAt },
      { by, text: 'x\u001B[2J\u202Ey\nrun  other', annotatedAt },
    ];
    expect(linesOf({ ...view, notes }).slice(-3)).toEqual([
      'Notes:',
      `  ${momentText(annotatedAt)} by cli about a: a new disk`,
      `  ${momentText(annotatedAt)} by cli: x\\u202ey run other`,
    ]);
    expect(linesOf(view)).not.toContain('Notes:');
  });

  it('lets nothing reach the terminal that is not text', () => {
    const view = viewWith(({ editing }) => (editing?.violations.length ?? 0) > 0);
    const { editing } = view;
    if (editing === null) throw new Error('no round');
    const hostile = 'a\u001B[2J\u202Eb\u0007';
    const violations = editing.violations.map((violation) => ({ ...violation, message: hostile }));
    const text = runText({ ...view, name: hostile, editing: { ...editing, violations } }, SCREEN);
    expect(text).not.toMatch(/[\u001B\u202E\u0007]/u);
  });
});

describe('a replay', () => {
  it('draws every state between two events, with the tasks that are there then and no others', () => {
    const known = new Set<string>();
    for (const { run } of momentsOf(runId, commits)) {
      const view = stateAt(runId, commits, { at: run.sequence });
      const drawing = drawingOf(view, SCREEN).join('\n');
      const ids = view.tasks.map(({ id }) => id);
      for (const id of ids) expect(drawing).toMatch(new RegExp(`\\b${id}\\b`, 'u'));
      for (const id of known) if (!ids.includes(id)) expect(drawing).not.toMatch(new RegExp(`\\b${id}\\b`, 'u'));
      for (const id of ids) known.add(id);
    }
    expect(views.at(-1)?.tasks.length).toBeLessThan(known.size);
  });
});
