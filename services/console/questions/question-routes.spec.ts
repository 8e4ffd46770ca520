import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Reflector } from '@nestjs/core';
import { ROLE_TABLE, VERB_PATHS, type ActionName } from '#proto';
import { ConsoleModule } from '../console.module.js';
import { Needs } from '../http/index.js';
import { bodyOfQuestion, namesIn, QUESTION_ROUTES, queryOf } from './index.js';

/** By whom or what it is done otherwise. */
const ELSEWHERE: Partial<Record<ActionName, string>> = {
  SUBMIT: 'POST /v1/requests asks whether it may',
  RUN_UNJUDGED: 'a way in which requests and edits are judged',
  APPROVE: 'POST /v1/approvals says which of the three it is',
  REJECT: 'POST /v1/approvals',
  ANSWER: 'POST /v1/approvals',
  READ_RUNS: 'the logs themselves, with a key of the bus',
  READ_LOG: 'the logs themselves, with a key of the bus',
  EXPORT: 'the logs themselves, with a key of the bus',
  VERIFY: 'the logs themselves, with a key of the bus',
};

/** What the handlers of the console say that they need. */
function needed(): string[] {
  const controllers = Reflect.getMetadata('controllers', ConsoleModule) as { prototype: object }[];
  return controllers.flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = Object.getOwnPropertyDescriptor(prototype, name)?.value as (() => unknown) | undefined;
      return (handler && new Reflector().get(Needs, handler)) ?? [];
    }),
  );
}

describe('what can be done over HTTP', () => {
  it('is all that the table of roles has for people, but for what is said here', () => {
    const reached = new Set<string>([
      ...needed(),
      ...QUESTION_ROUTES.map(({ asks }) => asks),
      ...VERB_PATHS.map(({ verb }) => verb),
    ]);
    const forPeople = (Object.keys(ROLE_TABLE) as ActionName[]).filter(
      (action) => ROLE_TABLE[action].services === undefined,
    );
    expect(forPeople.filter((action) => !reached.has(action))).toEqual(
      forPeople.filter((action) => action in ELSEWHERE && !reached.has(action)),
    );
  });

  it('is described so that what stands in an address is a field of the question, and no two are at one', () => {
    for (const route of QUESTION_ROUTES) {
      const { shape } = queryOf(route.asks).request;
      const fields = [...namesIn(route).map((name) => route.named?.[name] ?? name), ...Object.keys(route.fixed ?? {})];
      const all = [...fields, ...(route.said ?? []), ...(route.isOrder === true ? ['id'] : [])];
      expect([route.path, all.filter((field) => !(field in shape))]).toEqual([route.path, []]);
      expect(Object.keys(bodyOfQuestion(route)?.shape ?? {}).filter((field) => fields.includes(field))).toEqual([]);
    }
    const places = QUESTION_ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });
});
