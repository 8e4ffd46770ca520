import { z } from 'zod';
import { Actor, ActorProof, parseJson } from '#proto';

const Actors = z.record(ActorProof.shape.key, Actor);

/** Public keys and whom they stand for, as a file. */
export function renderActors(actors: ReadonlyMap<string, Actor>): string {
  return JSON.stringify(Object.fromEntries(actors), null, 2);
}

/** Undefined when it is not such a file. */
export function parseActors(text: string): ReadonlyMap<string, Actor> | undefined {
  const parsed = Actors.safeParse(parseJson(text));
  return parsed.success ? new Map(Object.entries(parsed.data)) : undefined;
}
