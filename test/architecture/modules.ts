import { isHouse, serviceOf } from './places.js';
import type { Rule } from './rule.js';
import type { Facts } from './source.js';

const SERVICE_MODULE = /^services\/([^/]+)\/\1\.module\.ts$/u;
const DECORATED = /@(?:TakesMessages|Controller|WebSocketGateway)\([^)]*\)\s*(?:@\w+\([^)]*\)\s*)*export class (\w+)/gu;
const DERIVED = /\b(?<abstract>abstract )?class (?<name>\w+)(?:<[^{>]*>)? extends (?<base>\w+)/gu;

/** Classes that the framework reaches, or that work for as long as the service does. */
function partsOf(files: readonly Facts[]): { path: string; name: string }[] {
  const controllers = files.flatMap(({ path, text }) =>
    [...text.matchAll(DECORATED)].map(([, name = '']) => ({ path, name })),
  );
  const derived = files.flatMap(({ path, text }) =>
    [...text.matchAll(DERIVED)].map(({ groups = {} }) => ({ path, groups })),
  );
  const loops = new Set(['Loop']);
  for (const _ of derived) {
    for (const { groups } of derived) if (loops.has(groups['base'] ?? '')) loops.add(groups['name'] ?? '');
  }
  const working = derived
    .filter(({ groups }) => groups['abstract'] === undefined && loops.has(groups['base'] ?? ''))
    .map(({ path, groups }) => ({ path, name: groups['name'] ?? '' }));
  return [...controllers, ...working];
}

function unlistedParts(files: readonly Facts[]): string[] {
  const modules = files.filter(({ path }) => SERVICE_MODULE.test(path));
  return modules.flatMap((module) => {
    const root = module.path.slice(0, module.path.lastIndexOf('/') + 1);
    const own = files.filter(({ path }) => path.startsWith(root));
    const twins = own.filter(({ path }) => /^[^/]+\.runner\.ts$/u.test(path.replace(root, '')));
    return [
      ...twins.map(({ path }) => `${path}: puts together what ${module.path} lists`),
      ...partsOf(own)
        .filter(({ name }) => !new RegExp(`\\b${name}\\b`, 'u').test(module.text))
        .map(({ path, name }) => `${path}: ${name} is not in ${module.path}`),
    ];
  });
}

/** What a service consists of stands in its module. */
export const MODULE_RULE: Rule = {
  name: 'a module lists its parts',
  reason: 'what a service consists of, and what begins and ends with it, is read in one file',
  covers: (path) => serviceOf(path) !== undefined && isHouse(path),
  offences: unlistedParts,
  planted: [
    ['a.module.ts', 'a.runner.ts'].map((name) => ({ path: `services/a/${name}`, text: '' })),
    [
      { path: 'services/a/a.module.ts', text: '@Module({ controllers: [Queries] }) export class AModule {}' },
      { path: 'services/a/room/b.controller.ts', text: '@TakesMessages()\nexport class OtherQueries {}' },
    ],
    [
      { path: 'services/a/a.module.ts', text: '' },
      { path: 'services/a/room/b.gateway.ts', text: '@WebSocketGateway()\n@UseGuards(C)\nexport class Sockets {}' },
    ],
    [
      { path: 'services/a/a.module.ts', text: '' },
      { path: 'services/a/room/b.runner.ts', text: 'export abstract class Follower extends Loop {}' },
      { path: 'services/a/room/c.reactor.ts', text: 'export class Feed extends Follower {}' },
    ],
  ],
};
