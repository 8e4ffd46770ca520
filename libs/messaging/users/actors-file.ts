import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { Actor, BusKey, parseJson } from '#proto';

const Actors = z.record(BusKey, Actor);

/** Public keys and whom they stand for, as a file: written by whoever makes the keys, read by the registry. */
export function renderActors(actors: ReadonlyMap<string, Actor>): string {
  return JSON.stringify(Object.fromEntries(actors), null, 2);
}

/** Undefined when it is not such a file. */
export function parseActors(text: string): ReadonlyMap<string, Actor> | undefined {
  const parsed = Actors.safeParse(parseJson(text));
  return parsed.success ? new Map(Object.entries(parsed.data)) : undefined;
}

/** Throws when the file is not there, or is none. */
export async function readActorsFile(file: string): Promise<ReadonlyMap<string, Actor>> {
  const actors = parseActors(await readFile(file, 'utf8'));
  if (actors === undefined) throw new Error(`${file} must hold public keys of users, each with an actor.`);
  return actors;
}
