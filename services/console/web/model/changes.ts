import { editText } from '#libs/constellation';
import type { Edit, RunCommit } from '#proto';

/** One change of a constellation: what, by whom and why. */
export interface ConstellationChange {
  readonly sequence: number;
  /** Of its commit. */
  readonly number: number;
  readonly at: string;
  readonly revision: number;
  readonly by: string;
  readonly why: string;
  readonly words: readonly string[];
  readonly edited: ReadonlyMap<string, 'added' | 'changed'>;
  readonly removed: readonly string[];
}

/** In order; the first plan is no change. */
export function changesIn(commits: readonly RunCommit[]): ConstellationChange[] {
  return commits.flatMap(({ events, at, number }) =>
    events.flatMap((event): ConstellationChange[] => {
      if (event.type !== 'CONSTELLATION_MODIFIED') return [];
      const { revision, edits = [], proposedBy, origin, trace } = event.data;
      if (revision <= 1 || edits.length === 0) return [];
      return [
        {
          sequence: event.sequence,
          number,
          at,
          revision,
          by: proposedBy?.id ?? origin,
          why: [trace?.thought, trace?.result].filter((text) => text !== undefined).join('\n'),
          words: edits.map((edit) => editText(edit)),
          edited: new Map(edits.flatMap((edit) => editedBy(edit))),
          removed: edits.flatMap((edit) => (edit.tool === 'remove_task' ? [edit.taskId] : [])),
        },
      ];
    }),
  );
}

function editedBy(edit: Edit): [string, 'added' | 'changed'][] {
  if (edit.tool === 'add_task') return [[edit.task.id, 'added']];
  if (edit.tool === 'update_task') return [[edit.taskId, 'changed']];
  if (edit.tool === 'build_constellation') return edit.constellation.tasks.map(({ id }) => [id, 'added']);
  return [];
}
