import { isBarrel, isProduction, isRelative, resolved } from './places.js';
import type { Importing } from './source.js';

/** The rooms of one package: its folders, `.` for its own, each with the rooms whose index it may import. */
export type Rooms = Readonly<Record<string, readonly string[]>>;

/** `libs/constellation/fold/evolve.ts` in `libs/constellation` -> `fold`. */
export function roomOf(root: string, path: string): string {
  const folders = path
    .slice(root.length + 1)
    .split('/')
    .slice(0, -1);
  return folders.length === 0 ? '.' : folders.join('/');
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly file: string;
}

/** Every import of a production file from another room of its package; the package's own index, which names what others may use, draws none. */
function arrowsIn(root: string, files: readonly Importing[]): Arrow[] {
  return files
    .filter(({ path }) => path.startsWith(`${root}/`) && isProduction(path) && path !== `${root}/index.ts`)
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => isRelative(specifier))
        .map(({ specifier }) => resolved(path, specifier).replace(/\.js$/u, '.ts'))
        .filter((file) => file.startsWith(`${root}/`) && roomOf(root, file) !== roomOf(root, path))
        .map((file) => ({ from: roomOf(root, path), to: roomOf(root, file), path, file })),
    );
}

/** Where the files of a package leave the plan of its rooms, each as `path: what`. */
export function offencesAgainst(root: string, rooms: Rooms, files: readonly Importing[]): string[] {
  const arrows = arrowsIn(root, files);
  const drawn = new Set(arrows.map(({ from, to }) => `${from} > ${to}`));
  const there = new Set(
    files
      .filter(({ path }) => path.startsWith(`${root}/`) && isProduction(path) && path !== `${root}/index.ts`)
      .map(({ path }) => roomOf(root, path)),
  );
  return [
    ...[...there]
      .filter((room) => rooms[room] === undefined)
      .map((room) => `${root}: has no word for the room ${room}`),
    ...Object.keys(rooms)
      .filter((room) => !there.has(room))
      .map((room) => `${root}: the room ${room} is empty`),
    ...arrows
      .filter(({ from, to }) => rooms[from] !== undefined && !rooms[from].includes(to))
      .map(({ path, file }) => `${path}: imports ${file}, a room that it may not see`),
    ...arrows
      .filter(({ to, file }) => to !== '.' && !isBarrel(file))
      .map(({ path, file }) => `${path}: imports ${file}, not through the index of that room`),
    ...Object.entries(rooms).flatMap(([room, seen]) =>
      seen
        .filter((other) => !drawn.has(`${room} > ${other}`))
        .map((other) => `${root}: ${room} does not need ${other}`),
    ),
    ...circleOf(rooms).map((room) => `${root}: the room ${room} is reached from itself`),
  ];
}

/** The rooms that can be reached from themselves. */
function circleOf(rooms: Rooms): string[] {
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    (rooms[from] ?? []).some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
  return Object.keys(rooms).filter((room) => reaches(room, room, new Set()));
}
