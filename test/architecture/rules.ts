import { subjects } from '#proto';
import {
  hasRole,
  isCore,
  isHouse,
  isProduction,
  isRelative,
  isSpec,
  isTypeScript,
  libOf,
  resolved,
  serviceOf,
} from './places.js';
import { FLAG_RULE } from './engine-flags.js';
import { HOUSE_RULES } from './house.js';
import { MODULE_RULE } from './modules.js';
import { each, type Rule } from './rule.js';
import { commentsOf, type Facts } from './source.js';

type FileCheck = (file: Facts) => readonly string[];

/** A rule that looks at one file at a time. */
const perFile = (check: FileCheck) => (files: readonly Facts[]) =>
  files.flatMap((file) => check(file).map((what) => `${file.path}: ${what}`));

const imports =
  (isAllowed: (specifier: string, file: Facts, typeOnly: boolean) => boolean): FileCheck =>
  (file) =>
    file.imports
      .filter(({ specifier, typeOnly }) => !isAllowed(specifier, file, typeOnly))
      .map(({ specifier }) => `imports ${specifier}`);

const staysIn = (directory: string, { path }: Facts, specifier: string): boolean =>
  isRelative(specifier) && resolved(path, specifier).startsWith(directory);

const LIB = /^#libs\/([a-z0-9-]+)$/u;
/** The one parser of conditions, and of the patterns in them; only the files of conditions may use them (docs/adr/0003, 0041). */
const CEL = '@marcbachmann/cel-js';
const RE2 = 're2js';
const CONDITIONS = /^libs\/constellation\/plan\/condition(?:-language|-pattern|-types)?\.ts$/u;
/** The one template engine of prompts; `libs/prompter/template.ts` alone may use it (docs/adr/0028). */
const LIQUID = 'liquidjs';

/** Cores that are made of other cores. */
const CORE_IMPORTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['attempt', ['#libs/constellation']],
  ['attention', ['#libs/constellation']],
  ['device-agent', ['#libs/attempt', '#libs/prompter']],
  ['planner', ['#libs/prompter', '#libs/constellation']],
]);

const LAYERS: readonly Rule[] = [
  {
    name: 'proto imports zod only',
    reason: 'what crosses a wire must be readable by everybody without taking our libraries along',
    covers: (path) => path.startsWith('proto/') && isProduction(path),
    offences: perFile(imports((specifier, file) => specifier === 'zod' || staysIn('proto/', file, specifier))),
    planted: each(
      { path: 'proto/a.ts', text: `import { createHash } from 'node:crypto';` },
      { path: 'proto/a.ts', text: `export * from '#libs/aip';` },
      { path: 'proto/a.ts', text: `import type { Run } from '../libs/constellation/state/run.js';` },
    ),
  },
  {
    name: 'the core imports proto and other cores only',
    reason: 'a fold or a decision must give the same tomorrow, on another machine, for an auditor',
    covers: isCore,
    offences: perFile(
      imports((specifier, file, typeOnly) => {
        const lib = libOf(file.path);
        if (specifier === '#proto' || (specifier === 'zod' && typeOnly)) return true;
        if (specifier === '#libs/backoff' || specifier === '#libs/visible') return true;
        if ((CORE_IMPORTS.get(lib ?? '') ?? []).includes(specifier)) return true;
        if (specifier === CEL || specifier === RE2) return CONDITIONS.test(file.path);
        if (specifier === LIQUID) return file.path === 'libs/prompter/template.ts';
        return (
          staysIn(`libs/${lib}/`, file, specifier) && !hasRole(resolved(file.path, specifier).replace(/\.js$/u, '.ts'))
        );
      }),
    ),
    planted: each(
      { path: 'libs/constellation/a.ts', text: `import { readFile } from 'node:fs/promises';` },
      { path: 'libs/device-agent/a.ts', text: `import { chat } from '#libs/llm';` },
      { path: 'libs/planner/a.ts', text: `import { chat } from '#libs/llm';` },
      { path: 'libs/attempt/a.ts', text: `import { sealNext } from '#libs/event-log';` },
      { path: 'libs/fleet/a.ts', text: `import { isDeepStrictEqual } from 'node:util';` },
      { path: 'libs/constellation/a.ts', text: `import { Fence } from '#libs/prompter';` },
      { path: 'libs/aip/transport/a.ts', text: `import { open } from './ws-transport.adapter.js';` },
      { path: 'libs/constellation/a.ts', text: `import { parse } from '@marcbachmann/cel-js';` },
      { path: 'libs/device-agent/prompter/a.ts', text: `import { Liquid } from 'liquidjs';` },
    ),
  },
  {
    name: 'the core has no clock, dice, timer, process or waiting',
    reason: 'time, ids and randomness come in as arguments, or a replay would not be one',
    covers: isCore,
    offences: perFile(({ ambient }) => ambient.map((name) => `uses ${name}`)),
    planted: each(
      { path: 'libs/constellation/a.ts', text: 'export const a = () => Date.now();' },
      { path: 'libs/constellation/a.ts', text: 'export const a = () => new Date().toISOString();' },
      { path: 'libs/constellation/a.ts', text: 'export const a = () => Math.random();' },
      { path: 'libs/device-agent/a.ts', text: 'export const a = async () => { await b(); };' },
      { path: 'libs/aip/a.ts', text: 'setTimeout(() => {}, 1);' },
      { path: 'libs/aip/a.ts', text: `export const a = process.env['A'];` },
    ),
  },
  {
    name: 'libs import each other through the barrel only',
    reason: 'what a lib does not export is its own business and may change',
    covers: (path) => libOf(path) !== undefined && isTypeScript(path),
    offences: perFile(
      imports((specifier, file) => {
        if (isRelative(specifier)) return staysIn(`libs/${libOf(file.path)}/`, file, specifier);
        if (!specifier.startsWith('#')) return true;
        return specifier === '#proto' || (LIB.test(specifier) && LIB.exec(specifier)?.[1] !== libOf(file.path));
      }),
    ),
    planted: each(
      { path: 'libs/mcp/a.ts', text: `import { a } from '#libs/aip/session/session';` },
      { path: 'libs/mcp/a.ts', text: `import { a } from '../aip/session.js';` },
      { path: 'libs/mcp/a.ts', text: `import { a } from '../../services/cli/a.js';` },
      { path: 'libs/mcp/a.ts', text: `import { a } from '#libs/mcp';` },
    ),
  },
  {
    name: 'libs have no cycles',
    reason: 'a lib that needs its user cannot be understood, tested or taken away without it',
    covers: (path) => libOf(path) !== undefined && isProduction(path),
    offences: libCycles,
    planted: [
      [
        { path: 'libs/a/index.ts', text: `export * from '#libs/b';` },
        { path: 'libs/b/index.ts', text: `export * from '#libs/c';` },
        { path: 'libs/c/index.ts', text: `import { a } from '#libs/a';` },
      ],
    ],
  },
  {
    name: 'a service imports proto and libs, never another service',
    reason: 'services meet on the bus: what two of them need moves to libs',
    covers: (path) => serviceOf(path) !== undefined && isTypeScript(path),
    offences: perFile(
      imports((specifier, file) => {
        if (isRelative(specifier)) return staysIn(`services/${serviceOf(file.path)}/`, file, specifier);
        return !specifier.startsWith('#') || specifier === '#proto' || LIB.test(specifier);
      }),
    ),
    planted: each(
      { path: 'services/cli/a.ts', text: `import { a } from '../registry/a.js';` },
      { path: 'services/cli/a.ts', text: `import { a } from '../../libs/aip/index.js';` },
      { path: 'services/cli/a.ts', text: `const a = await import('#libs/aip/session/session');` },
    ),
  },
  {
    name: '@nestjs appears in services, modules, strategies and libs/platform only',
    reason: 'the framework wires the parts together; the parts do not know it',
    covers: (path) => isProduction(path) && !mayUseNest(path),
    offences: perFile(imports((specifier) => !specifier.startsWith('@nestjs/'))),
    planted: each({ path: 'libs/messaging/a.ts', text: `import { Injectable } from '@nestjs/common';` }),
  },
  {
    name: 'typeorm appears in registry, logging, planner and libs/platform only',
    reason: 'Postgres holds projections, and each table has one owner',
    covers: (path) => isProduction(path) && !/^(?:services\/(?:registry|logging|planner)|libs\/platform)\//u.test(path),
    offences: perFile(imports((specifier) => specifier !== 'typeorm' && specifier !== '@nestjs/typeorm')),
    planted: each({ path: 'services/orchestrator/a.ts', text: `import { DataSource } from 'typeorm';` }),
  },
  {
    name: 'a file of a service without a role suffix touches nothing',
    reason: 'the tree is the architecture: what talks to the world says so in its name',
    covers: (path) => serviceOf(path) !== undefined && isProduction(path) && !hasRole(path),
    offences: perFile((file) => [
      ...imports((specifier, _, typeOnly) => typeOnly || !WORLD.test(specifier))(file),
      ...file.ambient.filter((name) => name !== 'await').map((name) => `uses ${name}`),
    ]),
    planted: each(
      { path: 'services/cli/a.ts', text: `import { readFile } from 'node:fs/promises';` },
      { path: 'services/cli/a.ts', text: `import { connect } from '@nats-io/transport-node';` },
      { path: 'services/cli/a.ts', text: 'export const a = Date.now();' },
    ),
  },
];

const OWNERSHIP: readonly Rule[] = [
  {
    name: 'only proto/subjects.ts spells a subject',
    reason: 'a subject spelt twice is two subjects after the next change',
    covers: (path) => isOurs(path) && path !== 'proto/subjects.ts',
    offences: perFile(({ strings }) => strings.filter((text) => SUBJECT.test(text)).map((text) => `spells ${text}`)),
    planted: each(
      { path: 'services/cli/a.ts', text: `nc.subscribe('orrery.feed.>');` },
      { path: 'libs/messaging/a.ts', text: 'nc.publish(`orrery.run.${runId}`);' },
    ),
  },
  {
    name: 'only settle.ts acknowledges',
    reason: 'a message is acknowledged in one place, after everything that follows from it is stored',
    covers: (path) =>
      isProduction(path) && path !== 'libs/messaging/durables/settle.ts' && !path.startsWith('deploy/examples/'),
    offences: perFile(({ methods }) => methods.filter((name) => ACKS.has(name)).map((name) => `calls ${name}()`)),
    planted: ['ack', 'nak', 'term', 'working', 'ackAck'].map((name) => [
      { path: 'services/registry/a.ts', text: `message.${name}();` },
    ]),
  },
  {
    name: 'nobody watches a bucket through a consumer',
    reason: 'no key of a service may make one: followBucket of libs/messaging/buckets reads pages',
    covers: isProduction,
    offences: perFile(({ imports: all, methods }) =>
      methods.includes('watch') && all.some(({ specifier }) => specifier === '@nats-io/kv') ? ['watches a bucket'] : [],
    ),
    planted: each(
      {
        path: 'services/registry/a.ts',
        text: `import { Kvm } from '@nats-io/kv';\nfor await (const entry of await (await new Kvm(nc).open('A')).watch()) take(entry);`,
      },
      {
        path: 'libs/fleet/a.ts',
        text: `import type { KV } from '@nats-io/kv';\nexport const a = (kv: KV) => kv.watch();`,
      },
    ),
  },
  {
    name: 'only the writer of a stream changes its aggregates',
    reason: 'every aggregate has one service that decides about it; what nobody else can make, nobody else appends',
    covers: (path) => serviceOf(path) !== undefined && isProduction(path) && !WRITERS.has(serviceOf(path) ?? ''),
    offences: perFile(({ text }) => (/\b(?:Aggregates|sealNext)\b/u.test(text) ? ['changes an aggregate'] : [])),
    planted: each(
      { path: 'services/console/a.ts', text: `import { Aggregates } from '#libs/event-log';` },
      { path: 'services/console/a.ts', text: `import { sealNext } from '#libs/event-log';` },
    ),
  },
  {
    name: 'only the shell of aggregates seals commits',
    reason: 'the writers have one envelope, one limit of conflicts and one way to find a lost answer again',
    covers: (path) => isProduction(path) && libOf(path) !== 'event-log',
    offences: perFile(({ text }) => (/\bsealCommit\b/u.test(text) ? ['seals a commit'] : [])),
    planted: each({ path: 'services/registry/a.ts', text: `import { sealCommit } from '#libs/event-log';` }),
  },
];

const PRIVATE_MEMBER = /(?:^[ \t]+|\()private (?!constructor\b)(?:static |readonly |async |get |set )*\w+/gmu;

const HOUSE: readonly Rule[] = [
  {
    name: 'no comment switches a check off',
    reason: 'an exception is a decision: it is written down in docs/adr',
    covers: (path) => isTypeScript(path) || path.endsWith('.mjs'),
    offences: perFile((file) => disablingComments(file).map((text) => text.slice(0, 80))),
    planted: ['// eslint-disable-next-line', '/* oxlint-disable */', '// @ts-ignore', '// @ts-expect-error'].map(
      (comment) => [{ path: 'libs/aip/a.ts', text: `${comment}\nexport const a = 1;` }],
    ),
  },
  {
    name: 'no default export',
    reason: 'a thing has one name everywhere',
    covers: isTypeScript,
    offences: perFile(({ hasDefaultExport }) => (hasDefaultExport ? ['has a default export'] : [])),
    planted: each(
      { path: 'libs/aip/a.ts', text: 'export default 1;' },
      { path: 'libs/aip/a.ts', text: 'export default class A {}' },
    ),
  },
  {
    name: 'no enum',
    reason: 'a union of constants is the same on the wire and in the types',
    covers: isTypeScript,
    offences: perFile(({ hasEnum }) => (hasEnum ? ['has an enum'] : [])),
    planted: each({ path: 'libs/aip/a.ts', text: 'export enum A { B }' }),
  },
  {
    name: 'a private member is written with #',
    reason: 'one way to say it, and the one that holds when the program runs; a constructor has no other word',
    covers: (path) => isTypeScript(path) && path !== 'test/architecture/rules.ts',
    offences: perFile(({ text }) => {
      const words = text.match(PRIVATE_MEMBER) ?? [];
      return words.map((word) => `declares ${word.trim()}`);
    }),
    planted: each(
      { path: 'libs/aip/a.ts', text: 'export class A {\n  private readonly b = 1;\n}' },
      { path: 'libs/aip/a.ts', text: 'export class A {\n  private async b(): Promise<void> {}\n}' },
      { path: 'libs/aip/a.ts', text: 'export class A {\n  constructor(private readonly b: number) {}\n}' },
    ),
  },
  {
    name: `no file is longer than 500 lines`,
    reason: 'a file holds one concept, and people read it from top to bottom',
    covers: (path) => isTypeScript(path) || path.endsWith('.mjs'),
    offences: perFile(({ text }) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > LINES_MAX ? [`has ${lines} lines`] : [];
    }),
    planted: each({ path: 'libs/aip/a.ts', text: 'export {};\n'.repeat(501) }),
  },
  {
    name: 'nest-cli.json lists proto, every lib and every service',
    reason: 'a folder that is not a project is not built',
    covers: (path) => path === 'nest-cli.json' || libOf(path) !== undefined || serviceOf(path) !== undefined,
    offences: unlistedProjects,
    planted: [
      [
        { path: 'nest-cli.json', text: '{ "projects": { "proto": { "root": "proto" } } }' },
        { path: 'libs/aip/index.ts', text: '' },
      ],
    ],
  },
  {
    name: 'no path of a machine, no private host',
    reason: 'what is checked in is for everybody: nobody else has that directory, that registry, that name server',
    covers: (path) => !path.startsWith('test/architecture/') && !path.endsWith('.spec.ts'),
    offences: perFile(({ path, text }) => [
      ...(text.match(MACHINE_PATH) ?? []).map((directory) => `names ${directory}`),
      ...(path.endsWith('package-lock.json')
        ? lockedHosts(text)
        : hostsIn(text).filter((host) => PRIVATE_HOST.test(host))
      ).map((host) => `names ${host}`),
      ...(path.endsWith('.npmrc') && /registry\s*=/u.test(text) ? ['chooses a registry'] : []),
    ]),
    planted: each(
      { path: 'README.md', text: 'cd /home/jane/orrery' },
      { path: 'package-lock.json', text: '"resolved": "https://packages.acme.com/zod"' },
      { path: 'docs/a.md', text: 'npm config set x https://npm.acme.com/' },
      { path: 'docs/a.md', text: 'see http://wiki.acme.internal/orrery' },
      { path: '.npmrc', text: 'registry=http://10.1.2.3:4873/' },
    ),
  },
];

export const RULES: readonly Rule[] = [...LAYERS, ...OWNERSHIP, ...HOUSE, ...HOUSE_RULES, MODULE_RULE, FLAG_RULE];

const LINES_MAX = 500;
const WRITERS = new Set(['orchestrator', 'planner', 'device-agent', 'registry', 'logging']);
const ACKS = new Set(['ack', 'ackAck', 'nak', 'term', 'working']);
const DISABLE =
  /(?:eslint|oxlint|biome)-(?:disable|ignore)|@ts-(?:ignore|expect-error|nocheck)|(?:istanbul|c8|v8) ignore/u;
const disablingComments = (file: Facts) =>
  DISABLE.test(file.text) ? commentsOf(file).filter((text) => DISABLE.test(text)) : [];
/** Modules that reach out of the process, and frameworks. */
const WORLD =
  /^(?:node:(?:fs|net|http|https|http2|tls|dns|dgram|child_process|cluster|worker_threads|timers|readline)(?:\/|$)|@nats-io\/|@nestjs\/|@modelcontextprotocol\/|(?:pg|typeorm|ws|execa|systeminformation|pino)$)/u;
const MACHINE_PATH = /(?<![\w.$}/-])\/(?:home|Users)\/[\w.-]+\/[\w.-]+/gu;
const HOST = /\b(?:https?|wss?|nats):\/\/(?:[^\s/@"'`]*@)?([a-z0-9][a-z0-9.-]*)/giu;
const PRIVATE_HOST = /\.(?:internal|corp|intra|lan|local)$|^(?:npm|registry|artifactory|nexus|proxy|mirror)\./iu;

function hostsIn(text: string): string[] {
  return [...text.matchAll(HOST)].map(([, host = '']) => host);
}

/** Where a lock file says that packages come from: its other addresses are the packages' own. */
function lockedHosts(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.includes('"resolved"'));
  return lines.flatMap(hostsIn);
}

/** Not the examples for outsiders, who have nothing but the contract. */
const isOurs = (path: string): boolean => path.startsWith('tools/') || isHouse(path);

const mayUseNest = (path: string): boolean =>
  path.startsWith('services/') || path.startsWith('libs/platform/') || /\.(?:module|strategy)\.ts$/u.test(path);

/** Good for every builder: those that want an id make text of it. */
const ANY_ATTEMPT = { runId: '', taskId: '', attempt: 1 };

/** Every subject begins with one of these two tokens; a CloudEvents type or a symbol of that name does not. */
const ROOTS = new Set(
  Object.values(subjects).map((subject) => {
    const text = typeof subject === 'string' ? subject : (subject as (...args: unknown[]) => string)(ANY_ATTEMPT, '');
    return text.split('.')[1] ?? '';
  }),
);
const SUBJECT = new RegExp(`^orrery\\.(?:${[...ROOTS].join('|')})(?:\\.|$)`, 'u');

function libCycles(files: readonly Facts[]): string[] {
  const uses = new Map<string, Set<string>>();
  for (const { path, imports: specifiers } of files) {
    const lib = libOf(path) ?? '';
    const used = uses.get(lib) ?? new Set();
    for (const { specifier } of specifiers) used.add(LIB.exec(specifier)?.[1] ?? lib);
    uses.set(lib, used);
  }
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    [...(uses.get(from) ?? [])].some((next) => {
      if (next === from || seen.has(next)) return false;
      return next === to || reaches(next, to, seen.add(next));
    });
  return [...uses.keys()]
    .filter((lib) => reaches(lib, lib, new Set()))
    .map((lib) => `libs/${lib}: uses itself through others`);
}

function unlistedProjects(files: readonly Facts[]): string[] {
  const text = files.find(({ path }) => path === 'nest-cli.json')?.text ?? '{}';
  const { projects = {} } = JSON.parse(text) as { projects?: Record<string, { root?: string }> };
  const listed = new Set(Object.values(projects).map(({ root }) => root));
  const there = files
    .filter(({ path }) => isTypeScript(path) && !isSpec(path))
    .flatMap(({ path }) => /^(?:libs|services)\/[^/]+(?=\/)/u.exec(path) ?? []);
  const wanted = [...new Set(['proto', ...there])];
  return wanted.filter((root) => !listed.has(root)).map((root) => `nest-cli.json: does not list ${root}`);
}
