import { type EditViolation, ResourceFloor, type Target } from '#proto';
import type { Applied } from './edit.js';
import type { FleetView } from './fleet-view.js';
import { satisfies } from './satisfies.js';
import { canonicalJson } from '../values/index.js';
import { listOfIds } from '../plan/index.js';

/** The targets that a plan was made for, each of them once. */
export function scopeOf(targets: readonly Target[]): Target[] {
  return [...new Map(targets.map((target) => [canonicalJson(target), target])).values()];
}

/** What a person lets run somewhere else belongs to the plan from then on. */
export function widened(scope: readonly Target[] | null, targets: readonly Target[]): readonly Target[] | null {
  if (scope === null || targets.length === 0) return scope;
  const wider = scopeOf([...scope, ...targets]);
  return wider.length === scope.length ? scope : wider;
}

/**
 * What a batch that a model may have written lets run where the plan was not made for: an attacker who talks a model into an edit
 * reaches no device that was not meant. `scope` null: there is no bound.
 */
export function outOfScope(
  { staging, defined }: Extract<Applied, { ok: true }>,
  scope: readonly Target[] | null,
  fleet: Pick<FleetView, 'devices'>,
): EditViolation[] {
  if (scope === null || staging.directedTasks.size === 0) return [];
  const meant = new Set(scope.map(canonicalJson));
  const valid = listOfIds(scope.map(targetText));
  return [...staging.directedTasks].flatMap((index): EditViolation[] => {
    const { id, target } = staging.task(index).star;
    if (staging.positionOfTask(id) === undefined || meant.has(canonicalJson(target))) return [];
    if (scope.some((one) => covers(one, target, fleet))) return [];
    const message = `"${id}" would run on ${targetText(target)}, for which the plan was not made; valid are ${valid}`;
    return [{ code: 'OUT_OF_SCOPE', path: `${defined.get(index) ?? 'edits'}.target`, message }];
  });
}

/** A device that the selector means now, or a selector that demands at least as much. */
function covers(one: Target, target: Target, { devices }: Pick<FleetView, 'devices'>): boolean {
  if ('device' in one) return false; // the same one has been looked for
  if ('device' in target) {
    const device = devices.get(target.device);
    return device !== undefined && satisfies(device, one);
  }
  const { os, capabilities = [], tags = [], resources = {}, where } = one;
  return (
    (os === undefined || target.os === os) &&
    capabilities.every((capability) => target.capabilities?.includes(capability) === true) &&
    tags.every((tag) => target.tags?.includes(tag) === true) &&
    (where === undefined || target.where === where) &&
    FLOORS.every((floor) => (target.resources?.[floor] ?? 0) >= (resources[floor] ?? 0))
  );
}

const FLOORS = Object.keys(ResourceFloor.shape) as (keyof ResourceFloor)[];

const TARGET_CHARS_MAX = 300;

function targetText(target: Target): string {
  if ('device' in target) return `device "${target.device}"`;
  const text = JSON.stringify(target);
  return text.length <= TARGET_CHARS_MAX ? text : `${text.slice(0, TARGET_CHARS_MAX).toWellFormed()}...`;
}
