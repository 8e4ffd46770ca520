import { hasRole, isBarrel, isCore, isHouse, isRelative, resolved } from './places.js';
import type { Rule } from './rule.js';
import type { Facts, Import } from './source.js';

/** How the house is built: how full a folder is, who owns a name, which files need each other. Each offence as `path: what`. */

const FILES_MAX = 15;

/** Folders that hold more, each with the reason. */
const FULLER: ReadonlyMap<string, string> = new Map([
  ['proto', 'the contract: one file for each kind of message, and nobody but its index imports them'],
]);

/** Names with several owners, each with the reason. */
const SHARED: ReadonlyMap<string, string> = new Map([
  ['submit', 'a command of the CLI is named like what it asks for'],
  ['errorCode', 'the launcher, the CLI and the device client load nothing of each other'],
]);

/** Files that need each other because what they declare is one recursive type, each set with the reason. */
const RECURSIVE: ReadonlyMap<string, string> = new Map([
  [
    'agent,attempt-context,state-registry,state,states'
      .split(',')
      .map((name) => `libs/device-agent/agent/${name}.ts`)
      .join(', '),
    'a state is asked for the next agent, and an agent for its state (paper section 8.3)',
  ],
]);

/** What an import names, whatever it is written in: `.js`, `.ts` and `.tsx` are one module. */
const moduleOf = (path: string): string => path.replace(/\.(?:js|tsx)$/u, '.ts');

const folderOf = (path: string): string => path.split('/').slice(0, -1).join('/');

function fullFolders(files: readonly Facts[]): string[] {
  const count = new Map<string, number>();
  for (const { path } of files) {
    if (!isBarrel(path)) count.set(folderOf(path), (count.get(folderOf(path)) ?? 0) + 1);
  }
  return [...count]
    .filter(([folder, number]) => number > FILES_MAX && !FULLER.has(folder))
    .map(([folder, number]) => `${folder}: holds ${number} files`);
}

function sharedNames(files: readonly Facts[]): string[] {
  const owners = new Map<string, string[]>();
  for (const { path, exports } of files) {
    for (const name of exports) owners.set(name, [...(owners.get(name) ?? []), path]);
  }
  return [...owners]
    .filter(([name, paths]) => paths.length > 1 && !SHARED.has(name))
    .map(([name, [first = '', ...others]]) => `${first}: exports ${name}, and so does ${others.join(', ')}`);
}

/** The file that an import loads, when it is one of ours. */
function loadedFrom(path: string, { specifier }: Import): string | undefined {
  if (isRelative(specifier)) return moduleOf(resolved(path, specifier));
  return specifier.startsWith('#') ? `${specifier.slice(1)}/index.ts` : undefined;
}

type Graph = ReadonlyMap<string, readonly string[]>;

const graphOf = (files: readonly Facts[], counts: (one: Import) => boolean): Graph =>
  new Map(
    files.map(({ path, imports }) => [
      moduleOf(path),
      imports.filter(counts).flatMap((one) => loadedFrom(path, one) ?? []),
    ]),
  );

/** Every file that can be reached, itself only when a way leads back. */
function reachedFrom(path: string, graph: Graph): Set<string> {
  const reached = new Set<string>();
  const open = [...(graph.get(path) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    open.push(...(graph.get(next) ?? []));
  }
  return reached;
}

function circles(files: readonly Facts[]): string[] {
  const graph = graphOf(files, () => true);
  const reached = new Map([...graph.keys()].map((path) => [path, reachedFrom(path, graph)]));
  const inCircles = [...reached].filter(([path, others]) => others.has(path)).map(([path]) => path);
  const found = inCircles.map((path) =>
    inCircles.filter((other) => reached.get(path)?.has(other) === true && reached.get(other)?.has(path) === true),
  );
  return [...new Set(found.map((circle) => circle.toSorted().join(', ')))]
    .filter((circle) => !RECURSIVE.has(circle))
    .map((circle) => `${circle}: need each other`);
}

/** What a file of the core loads, directly or through others, must not touch the world either. */
function impureReach(files: readonly Facts[]): string[] {
  const graph = graphOf(files, ({ typeOnly }) => !typeOnly);
  return [...graph.keys()]
    .filter(isCore)
    .flatMap((path) => [...reachedFrom(path, graph)].filter(hasRole).map((other) => `${path}: loads ${other}`));
}

const isProgram = (path: string): boolean => path.endsWith('/main.ts') || path.endsWith('.main.ts');

/** What no program loads, be it by name as threads and child processes are. */
function unreached(files: readonly Facts[]): string[] {
  const named = ({ path, strings }: Facts): string[] =>
    strings.filter((text) => /^\.{1,2}\/.*\.[jt]s$/u.test(text)).map((text) => moduleOf(resolved(path, text)));
  const graph = new Map([...graphOf(files, () => true)].map(([path, loads]) => [path, [...loads]]));
  for (const file of files) graph.get(moduleOf(file.path))?.push(...named(file));
  const programs = files.map(({ path }) => moduleOf(path)).filter(isProgram);
  const loaded = new Set(programs.flatMap((path) => [path, ...reachedFrom(path, graph)]));
  return [...graph.keys()].filter((path) => !loaded.has(path)).map((path) => `${path}: no program loads it`);
}

export const HOUSE_RULES: readonly Rule[] = [
  {
    name: `a folder holds at most ${FILES_MAX} files`,
    reason: 'what a folder holds is taken in at a glance',
    covers: isHouse,
    offences: fullFolders,
    planted: [Array.from({ length: FILES_MAX + 1 }, (_, n) => ({ path: `libs/a/room/file-${n}.ts`, text: '' }))],
  },
  {
    name: 'an exported name has one owner',
    reason: 'a word means one thing, and a search for it finds that thing',
    covers: isHouse,
    offences: sharedNames,
    planted: [
      [
        { path: 'libs/a/one.ts', text: 'export interface Link {}' },
        { path: 'services/b/two.ts', text: 'export class Link {}' },
      ],
      [
        { path: 'libs/a/one.ts', text: 'export const { link } = made();' },
        { path: 'libs/a/two.ts', text: 'export function link() {}' },
      ],
    ],
  },
  {
    name: 'no file needs itself through others, not even for a type',
    reason: 'what needs each other is one thing, and is read, tested and changed as one',
    covers: isHouse,
    offences: circles,
    planted: [
      [
        { path: 'libs/a/one.ts', text: `import { two } from './two.js';` },
        { path: 'libs/a/two.ts', text: `import { one } from './one.js';` },
      ],
      [
        { path: 'libs/a/one.ts', text: `import type { Two } from './two.js';` },
        { path: 'libs/a/two.ts', text: `export type { One } from './one.js';` },
      ],
      [
        { path: 'libs/a/one.ts', text: `import type { Two } from './room/index.js';` },
        { path: 'libs/a/room/index.ts', text: `export { two } from './two.js';` },
        { path: 'libs/a/room/two.ts', text: `import { B } from '#libs/b';` },
        { path: 'libs/b/index.ts', text: `import { one } from '#libs/a';` },
        { path: 'libs/a/index.ts', text: `export * from './one.js';` },
      ],
    ],
  },
  {
    name: 'the core loads nothing that touches the world',
    reason: 'a fold that brings a socket with it cannot run in a browser, and is not pure',
    covers: isHouse,
    offences: impureReach,
    planted: [
      [
        { path: 'libs/aip/session/a.ts', text: `import { connect } from '../transport/index.js';` },
        { path: 'libs/aip/transport/index.ts', text: `export { connect } from './ws.adapter.js';` },
        { path: 'libs/aip/transport/ws.adapter.ts', text: `import 'ws';` },
      ],
    ],
  },
  {
    name: 'a file is loaded by a program, or says that it is for tests',
    reason: 'code that only tests load is not the product: it is named *.testing.ts, or lies in a folder testing/',
    covers: isHouse,
    offences: unreached,
    planted: [
      [
        { path: 'services/a/main.ts', text: `import { b } from './b.js';` },
        { path: 'services/a/b.ts', text: 'export const b = 1;' },
        { path: 'services/a/c.ts', text: `import { b } from './b.js';` },
      ],
    ],
  },
];
