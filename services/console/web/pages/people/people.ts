import type { z } from 'zod';
import type { GivenLimits, PeopleAnswer, TokensAnswer } from '#proto';

export type ListedPerson = z.infer<typeof PeopleAnswer>['people'][number];

export type KnownToken = z.infer<typeof TokensAnswer>['tokens'][number];

/** Whether words are found in what is known of somebody. */
export function fits({ actor, roles, logins, keys }: ListedPerson, typed: string): boolean {
  const text = [
    actor.id,
    actor.kind,
    ...roles,
    ...logins.flatMap(({ issuer, subject }) => [issuer, subject]),
    ...keys.map(({ key }) => key),
  ];
  return text.join(' ').toLowerCase().includes(typed.trim().toLowerCase());
}

/** So many are offered; who looks for others types on. */
const KNOWN_MAX = 200;

/** What is offered while one looks for somebody: names first, then roles and logins. */
export function knownOf(people: readonly ListedPerson[]): string[] {
  const ids = people.map(({ actor }) => actor.id).toSorted();
  const roles = people.flatMap((person) => person.roles).toSorted();
  const subjects = people.flatMap(({ logins }) => logins.map(({ subject }) => subject)).toSorted();
  return [...new Set([...ids, ...roles, ...subjects])].slice(0, KNOWN_MAX);
}

/** The identity providers at which somebody logs in. */
export function issuersOf(people: readonly ListedPerson[]): string[] {
  const issuers = people.flatMap(({ logins }) => logins.map(({ issuer }) => issuer));
  return [...new Set(issuers)].toSorted().slice(0, KNOWN_MAX);
}

/** What is given and what is taken, so that these are the roles. */
export function roleChange<R>(before: readonly R[], after: readonly R[]): { readonly give: R[]; readonly take: R[] } {
  return {
    give: after.filter((role) => !before.includes(role)),
    take: before.filter((role) => !after.includes(role)),
  };
}

/** What was typed of the limits of a system; who types what cannot be is told so by who decides. */
export function limitsTyped(typed: Readonly<Partial<Record<string, string>>>): GivenLimits {
  const said = Object.entries(typed).flatMap(([name, text = '']) =>
    text.trim() === '' ? [] : [[name, name === 'feed' ? text : Number(text)] as const],
  );
  return Object.fromEntries(said);
}

const DAY_MS = 86_400_000;

/** Until when a token counts that is good for so many days; null: until it is revoked. */
export function endOfDays(days: string, now: number): string | null {
  return days.trim() === '' ? null : new Date(now + Number(days) * DAY_MS).toISOString();
}
