import type { Edit, LineId, Proposal, TaskId, TaskStar, TaskStarLine } from '#proto';
import { cycleIn, type Ledger } from './ledger.js';

export interface Structure {
  readonly stars: Map<TaskId, TaskStar>;
  readonly lines: Map<LineId, TaskStarLine>;
}

/** What a batch says, without asking whether it may: the seven primitives in their plainest form. */
export function applied(ledger: Ledger, edits: readonly Edit[]): Structure {
  const stars = new Map([...ledger.tasks].map(([id, { star }]) => [id, star]));
  const structure = { stars, lines: new Map(ledger.lines) };
  const mayGo = (id: TaskId) => (ledger.tasks.get(id)?.status ?? 'PENDING') === 'PENDING';
  for (const edit of edits) applyOne(structure, edit, mayGo);
  return structure;
}

function applyOne({ stars, lines }: Structure, edit: Edit, mayGo: (id: TaskId) => boolean): void {
  switch (edit.tool) {
    case 'add_task':
      stars.set(edit.task.id, edit.task);
      return;
    case 'remove_task':
      stars.delete(edit.taskId);
      for (const [id, { from, to }] of lines) if (from === edit.taskId || to === edit.taskId) lines.delete(id);
      return;
    case 'update_task': {
      const star = stars.get(edit.taskId);
      if (star !== undefined) stars.set(edit.taskId, { ...star, ...edit.change } as TaskStar);
      return;
    }
    case 'add_dependency':
      lines.set(edit.line.id, edit.line);
      return;
    case 'remove_dependency':
      lines.delete(edit.lineId);
      return;
    case 'update_dependency': {
      const line = lines.get(edit.lineId);
      if (line !== undefined) lines.set(edit.lineId, { ...line, ...edit.change } as TaskStarLine);
      return;
    }
    case 'build_constellation': {
      const { constellation, clear } = edit;
      const named = new Set(
        [...constellation.tasks, ...constellation.lines.map(({ id }) => ({ id: `line ${id}` }))].map(({ id }) => id),
      );
      for (const [id, { to }] of lines) if (clear && mayGo(to) && !named.has(`line ${id}`)) lines.delete(id);
      for (const id of stars.keys()) {
        if (!clear || !mayGo(id) || named.has(id)) continue;
        applyOne({ stars, lines }, { tool: 'remove_task', taskId: id }, mayGo);
      }
      for (const star of constellation.tasks) stars.set(star.id, star);
      for (const line of constellation.lines) lines.set(line.id, line);
    }
  }
}

const same = (one: unknown, other: unknown): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

/**
 * Whether a batch may be applied, by the model's own judgement; undefined for `build_constellation`, which is not judged
 * here. What is named must be there, what is new must have an id that was never used, what changes must be PENDING, and
 * there must be no cycle.
 */
export function isValid(ledger: Ledger, { edits, state }: Pick<Proposal, 'edits' | 'state'>): boolean | undefined {
  if (edits.some(({ tool }) => tool === 'build_constellation')) return undefined;
  for (let count = 0; count < edits.length; count++) {
    const edit = edits[count];
    if (edit !== undefined && !mayApply(ledger, applied(ledger, edits.slice(0, count)), edit)) return false;
  }
  const { stars, lines } = applied(ledger, edits);
  return cycleIn(lines).length === 0 && (state !== 'CONTINUE' || stars.size > 0);
}

function mayApply({ tasks, removed }: Ledger, { stars, lines }: Structure, edit: Edit): boolean {
  const mayChange = (id: TaskId) => (tasks.get(id)?.status ?? 'PENDING') === 'PENDING';
  switch (edit.tool) {
    case 'add_task': {
      const before = stars.get(edit.task.id);
      return before === undefined ? !removed.has(edit.task.id) : same(before, edit.task);
    }
    case 'remove_task': {
      const behind = [...lines.values()].filter(({ from }) => from === edit.taskId);
      if (!stars.has(edit.taskId)) return removed.has(edit.taskId);
      return mayChange(edit.taskId) && behind.every(({ to }) => mayChange(to));
    }
    case 'update_task': {
      const before = stars.get(edit.taskId);
      return before !== undefined && (mayChange(edit.taskId) || same({ ...before, ...edit.change }, before));
    }
    case 'add_dependency': {
      const { id, from, to } = edit.line;
      const before = lines.get(id);
      return before === undefined ? stars.has(from) && stars.has(to) && mayChange(to) : same(before, edit.line);
    }
    case 'remove_dependency': {
      const before = lines.get(edit.lineId);
      return before === undefined ? removed.has(`line ${edit.lineId}`) : mayChange(before.to);
    }
    case 'update_dependency': {
      const before = lines.get(edit.lineId);
      return before !== undefined && (mayChange(before.to) || same({ ...before, ...edit.change }, before));
    }
    case 'build_constellation':
      return true;
  }
}
