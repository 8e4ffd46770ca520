import type { StandardInput, WorkingPlaces } from './invocation.js';
import type { Glyphs } from './path-pattern.js';

const VALUES_MAX = 8;
const PLACES_MAX = 8;

/** What is known of the names in a script before it is followed. */
export interface Names {
  readonly functions: ReadonlySet<string>;
  /** Variables that a function sets: they can have any value anywhere. */
  readonly unsettled: ReadonlySet<string>;
}

/** What is known at one point of a script: which values variables can have, where it stands, what it reads. */
export interface Scope {
  variables: ReadonlyMap<string, readonly Glyphs[]>;
  places: WorkingPlaces;
  input: StandardInput;
}

export const forkScope = (scope: Scope): Scope => ({ ...scope });

/** After something that happened perhaps: only what is known on both ways is known. */
export function join(scope: Scope, other: Scope): void {
  const variables = new Map<string, readonly Glyphs[]>();
  for (const [name, values] of scope.variables) {
    const more = other.variables.get(name);
    if (more !== undefined) variables.set(name, unique([...values, ...more]));
  }
  for (const [name, values] of variables) if (values.length > VALUES_MAX) variables.delete(name);
  scope.variables = variables;
  addPlaces(scope, other.places);
}

export function addPlaces(scope: Scope, places: WorkingPlaces): void {
  const all = unique([...scope.places, ...places]);
  scope.places = all.length <= PLACES_MAX ? all : [ANYWHERE];
}

/** Somewhere below the root, nobody knows where. */
export const ANYWHERE: Glyphs = [47, -3];

export function assignVariable(scope: Scope, name: string, values: readonly Glyphs[] | undefined): void {
  const variables = new Map(scope.variables);
  if (values === undefined || values.length > VALUES_MAX) variables.delete(name);
  else variables.set(name, values);
  scope.variables = variables;
}

function unique(all: readonly Glyphs[]): readonly Glyphs[] {
  return [...new Map(all.map((one) => [one.join(), one])).values()];
}
