import type { z } from 'zod';
import { bodyOfQuestion, namesIn, QUESTION_ROUTES, queryOf, type QuestionRoute } from '../questions/index.js';
import { answer, body, ID, LIMIT, operation, refusedWith, RUN_ID, VERB_KEY } from './described.js';

/** `registry.people-add` is `RegistryPeopleAdd`. */
const nameOf = ({ asks }: QuestionRoute): string =>
  asks.replaceAll(/(?:^|[.-])([a-z])/gu, (_, letter: string) => letter.toUpperCase());

/** What one schema is called, also where several questions have it. */
function answerNames(): ReadonlyMap<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  for (const route of QUESTION_ROUTES) {
    const { answer: schema } = queryOf(route.asks);
    if (!names.has(schema)) names.set(schema, `${nameOf(route)}Answer`);
  }
  return names;
}

/** Bodies and answers by their names. */
export function questionSchemas(): Record<string, z.ZodType> {
  const answers = [...answerNames()].map(([schema, name]) => [name, schema] as const);
  const bodies = QUESTION_ROUTES.flatMap((route) => {
    const said = bodyOfQuestion(route);
    return said === undefined ? [] : [[`${nameOf(route)}Word`, said] as const];
  });
  return Object.fromEntries<z.ZodType>([...answers, ...bodies]);
}

/** One operation for each row of the table. */
export function questionPaths(): Record<string, object> {
  const names = answerNames();
  const paths: Record<string, object> = {};
  for (const route of QUESTION_ROUTES) {
    const responses = {
      '200': answer(names.get(queryOf(route.asks).answer) ?? ''),
      ...refusedWith(404, 409, 413, 507),
    };
    const path = `/v1/${route.path}`;
    paths[path] = {
      ...paths[path],
      [route.method]: { ...operation(route.what, responses, parametersOf(route)), ...saidIn(route) },
    };
  }
  return paths;
}

function parametersOf(route: QuestionRoute): unknown[] {
  const inPath = namesIn(route).map((name) => (route.path.startsWith('runs/') ? RUN_ID : { ...ID, name }));
  const behind = (route.said ?? []).map((name) =>
    name === 'limit' ? LIMIT : { name, in: 'query', schema: { type: 'string' } },
  );
  return [...inPath, ...behind, ...(route.isOrder === true ? [VERB_KEY] : [])];
}

function saidIn(route: QuestionRoute): object {
  const said = bodyOfQuestion(route);
  return said === undefined ? {} : body(`${nameOf(route)}Word`, !said.safeParse({}).success);
}
