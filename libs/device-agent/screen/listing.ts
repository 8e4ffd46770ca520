import { fieldsOf, isObject, type Json } from '#proto';
import { rectIn, type SeenRect, type SeenPicture } from './seen-picture.js';

/** A window or a control, as the device has listed it. */
export interface ScreenTarget {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Where it is on the screen, as far as the device says. */
  readonly rect?: SeenRect;
  /** What else is said of it: its value, its state, its program. */
  readonly more: Readonly<Record<string, Json>>;
}

/** What was listed by one look. Its ids are good until the next one. */
export interface SeenListing {
  /** Names it; what acts on one of its targets says so. */
  readonly snapshot: string;
  readonly targets: readonly ScreenTarget[];
  /** How many more there are, as far as the device says. */
  readonly omitted: number;
  /** The window that it is of, where the device says so: another one than was chosen may be in front. */
  readonly place?: { readonly application: string; readonly window: string; readonly runDirectory?: string };
  /** Where on the screen that window is, as far as the device says. */
  readonly frame?: SeenRect;
  /** The picture of the same look, where one was taken. */
  readonly picture?: SeenPicture;
}

export const NOTHING_LISTED: SeenListing = { snapshot: '', targets: [], omitted: 0 };

const TARGETS_MAX = 500;
const NAME_CHARS_MAX = 1_024;
const PATH_CHARS_MAX = 4_096;
/** What is shown of a target beside its id, name and type. */
const SHOWN = ['value', 'state', 'application', 'listed', 'terminal'] as const;

/**
 * Reads an answer of a tool that lists: a list, or an object that holds one with the name of the listing. Clients of UFO say
 * nothing of a list that is empty, and name no listings: `otherwise` names theirs.
 */
export function seenListingOf(answer: Json, otherwise: string): SeenListing {
  const { result, listing, more, window } = isObject(answer) ? answer : { result: answer };
  const snapshot = typeof listing === 'string' && listing !== '' ? listing : otherwise;
  const targets = Array.isArray(result) ? result.slice(0, TARGETS_MAX).flatMap(targetOf) : [];
  const { application, window: title, run_directory: runDirectory } = fieldsOf(window);
  const isLong = typeof runDirectory !== 'string' || runDirectory.length > PATH_CHARS_MAX;
  return {
    snapshot: snapshot.slice(0, 64),
    targets,
    omitted: typeof more === 'number' && more > 0 ? Math.trunc(more) : 0,
    ...(typeof application === 'string' &&
      typeof title === 'string' && { place: { application, window: title, ...(!isLong && { runDirectory }) } }),
  };
}

function targetOf(item: Json): ScreenTarget[] {
  const given = fieldsOf(item);
  const { id, name, type } = given;
  if (typeof id !== 'string' || id === '' || id.length > 32) return [];
  const more = SHOWN.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]] as const]));
  const rect = rectIn(given['rect']);
  return [
    {
      id,
      name: textOf(name),
      type: textOf(type).slice(0, 64),
      more: Object.fromEntries(more),
      ...(rect && { rect }),
    },
  ];
}

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value.slice(0, NAME_CHARS_MAX).toWellFormed() : '';

/** A listing as a model is shown it. */
export function listingText({ targets, omitted }: SeenListing): string {
  const lines = targets.map(({ id, name, type, more }) => JSON.stringify({ id, name, type, ...more }));
  return [...lines, ...(omitted > 0 ? [JSON.stringify({ not_listed: omitted })] : [])].join('\n');
}

/** Why a target cannot be meant; null when it is listed under this id and name. */
export function targetProblem({ targets }: SeenListing, id: string, name: string | undefined): string | null {
  const target = targets.find((one) => one.id === id);
  if (target === undefined) return `NOT_FOUND: nothing with the id ${JSON.stringify(id)} is listed now.`;
  if (name === undefined || target.name === name) return null;
  return `MISMATCH: what is listed under the id ${JSON.stringify(id)} now has the name ${JSON.stringify(target.name)}.`;
}
