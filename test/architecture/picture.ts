import { isProduction } from './places.js';
import { roomOf } from './rooms.js';
import type { Importing } from './source.js';

/** One line of the picture in docs/architecture.md: a package and its rooms. */
export interface Floor {
  readonly root: string;
  readonly rooms: readonly string[];
}

const PACKAGE = /^(proto|(?:libs|services)\/[^/\s]+) {2,}\S/u;
const ROOMS = /^ {4}(\S.*)$/u;

/** The section of that name: to the next heading of its rank. */
function section(text: string, rank: string, name: string): string {
  const [, rest = ''] = text.split(`\n${rank} ${name}\n`).length > 1 ? text.split(`\n${rank} ${name}\n`) : ['', text];
  return rest.split(`\n${rank} `, 1)[0] ?? '';
}

/** The picture, from its top to its bottom. */
export function floorsOf(text: string): Floor[] {
  const [, picture = ''] = section(`\n${text}`, '##', 'The house').split('```');
  const floors: { root: string; rooms: string[] }[] = [];
  for (const line of picture.split('\n')) {
    const root = PACKAGE.exec(line)?.[1];
    if (root !== undefined) floors.push({ root, rooms: [] });
    else floors.at(-1)?.rooms.push(...(ROOMS.exec(line)?.[1]?.split(/\s+/u) ?? []));
  }
  return floors;
}

/** The walks through the code, in order. */
export function walksOf(text: string): { readonly name: string; readonly text: string }[] {
  return section(`\n${text}`, '##', 'Three walks')
    .split('\n### ')
    .slice(1)
    .map((walk) => ({ name: walk.split('\n', 1)[0] ?? '', text: walk }));
}

/** Where the picture and the tree differ, each as `folder: what`. */
export function misdrawn(floors: readonly Floor[], files: readonly Importing[]): string[] {
  const rootOf = (path: string): string => /^(?:libs|services)\/[^/]+|^proto/u.exec(path)?.[0] ?? '';
  const folder = (root: string, room: string): string => (room === '.' ? root : `${root}/${room}`);
  const drawn = new Set(floors.flatMap(({ root, rooms }) => [root, ...rooms.map((room) => folder(root, room))]));
  const production = files.filter(({ path }) => isProduction(path));
  const there = new Set(
    production.flatMap(({ path }) => [rootOf(path), folder(rootOf(path), roomOf(rootOf(path), path))]),
  );
  const place = new Map(floors.map(({ root }, index) => [root, index]));
  const above = production.flatMap(({ path, imports }) => {
    const root = rootOf(path);
    const used = imports.flatMap(({ specifier }) => (/^#(?:libs\/|proto$)/u.test(specifier) ? specifier.slice(1) : []));
    return used
      .filter((other) => (place.get(other) ?? Infinity) < (place.get(root) ?? -Infinity))
      .map((other) => `${root}: stands below ${other}, which it imports`);
  });
  return [
    ...[...there].filter((path) => !drawn.has(path)).map((path) => `${path}: is not in the picture`),
    ...[...drawn].filter((path) => !there.has(path)).map((path) => `${path}: is in the picture only`),
    ...new Set(above),
  ];
}
