import {
  CreationReply,
  EditingReply,
  type EditViolation,
  type Issue,
  parseWith,
  type Proposal,
  type RoundPlanned,
  sentenceOf,
} from '#proto';
import { type Run, violationOfCall } from '#libs/constellation';
import type { StageCircumstances } from './edit-stage.js';
import { inReply, type Planned, planCreation } from './plan-creation.js';
import { planEditing } from './plan-editing.js';

/** A reply as it was recorded, or would have been. `revision`: the one that it was made for; of a plan that begins there is no other. */
export type SaidBefore = Pick<RoundPlanned, 'mode' | 'reply'> & Partial<Pick<RoundPlanned, 'revision'>>;

/**
 * Puts a reply that was recorded before to the constellation as it is now: no model is asked. Problems mean that what it says
 * does not fit any more (or that the words of replies have changed since), and that a model has to say something new.
 */
export function rebase({ mode, reply, revision }: SaidBefore, run: Run, circumstances: StageCircumstances): Planned {
  if (mode === 'creation') {
    const parsed = parseWith(CreationReply, reply);
    return parsed.ok ? planCreation(parsed.value, run, circumstances) : unreadable(parsed.issues);
  }
  const parsed = parseWith(EditingReply, reply);
  return parsed.ok ? planEditing(parsed.value, run, { ...circumstances, seen: revision }) : unreadable(parsed.issues);
}

function unreadable(issues: readonly Issue[]): Planned {
  return { ok: false, problems: issues.map(sentenceOf) };
}

/**
 * What the orchestrator found wrong with a proposal, as it is said to the model that replied: `edits[2].task.target` is
 * `actions[2].arguments.target_device_id` there. Nothing of it when the proposal is not known, and nothing about revisions,
 * which a model cannot help: it is shown the new one.
 */
export function violationsOfReply(
  violations: readonly EditViolation[],
  mode: RoundPlanned['mode'],
  proposal: Proposal | null,
): EditViolation[] {
  if (proposal === null) return [];
  return violations
    .filter(({ code }) => code !== 'STALE_REVISION')
    .map((violation) => inWordsOfReply(violation, mode, proposal));
}

function inWordsOfReply(
  violation: EditViolation,
  mode: RoundPlanned['mode'],
  { edits }: Pick<Proposal, 'edits'>,
): EditViolation {
  const position = Number(/^edits\[(\d+)\]/u.exec(violation.path)?.[1] ?? -1);
  const edit = edits[position];
  if (edit === undefined) return { ...violation, path: mode === 'creation' ? 'constellation' : 'actions' };
  const { path, message } = violationOfCall(violation, edit);
  if (mode === 'creation') return { ...violation, ...inReply({ path, message }) };
  return { ...violation, path: `actions[${position}].arguments${path === '' ? '' : `.${path}`}`, message };
}
