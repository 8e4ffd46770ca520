// What looks like a secret: known forms of keys wherever they stand, and what something called a password is set to. Everything here
// takes time that grows with the text and no faster: a model may have been made to write it.
import type { Json } from '#proto';

const LOOK = 200;

/** The whole of each is a secret. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/gu,
  /\b(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeoprs]-)[\w-]{10,}/gu,
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/gu, // JWT
  /\bS[ACNOUX][A-Z2-7]{56}\b/gu, // seeds of nkeys
];

const NAME = '(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)s?';

/** Of each the second group is a secret; what begins like a variable, a placeholder or a comparison is none. */
const PLACES: readonly RegExp[] = [
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]*:)([^\s@/$<{[*][^\s@/]*)(?=@)/giu,
  new RegExp(String.raw`(${NAME}["']?\s?=\s?["']?)([^\s"',;&$<{[*=][^\s"',;&]*)`, 'giu'),
  new RegExp(String.raw`(--?[\w-]{0,40}${NAME}\s+["']?)([^\s"',;&$<{[*=-][^\s"',;&]*)`, 'giu'),
  // After a colon prose may follow: a secret is long and has digits.
  new RegExp(String.raw`(${NAME}["']?\s?:\s?["']?)((?=\S{0,${LOOK}}\d)[^\s"',;&$<{[*][^\s"',;&]{7,})`, 'giu'),
  new RegExp(String.raw`(\b(?:Bearer|Basic)\s+)((?=\S{0,${LOOK}}\d)[A-Za-z0-9._~+/=-]{8,})`, 'giu'),
];

/** Ids, and what is not free text. */
const NOT_FREE = new Set([
  'task_id',
  'dependency_id',
  'from_task_id',
  'to_task_id',
  'target_device_id',
  'type',
  'inputs',
]);
const SECRET_NAME = new RegExp(`${NAME}$`, 'iu');
/** `{"secret": name}` names a secret of the device and is none. */
const NAMES_SECRET = 'secret';

/** The text with `shown` in the place of each secret. */
export function withoutSecretForms(text: string, shown: string): string {
  let clean = text;
  for (const form of FORMS) clean = clean.replace(form, shown);
  for (const place of PLACES) clean = clean.replace(place, `$1${shown}`);
  return clean;
}

/** What may stand in a field by its name: `kept` is an id or the name of a secret, `secret` what is called a password. */
export function fieldKind(name: string, value: Json): 'kept' | 'secret' | 'text' {
  if (NOT_FREE.has(name) || (name === NAMES_SECRET && typeof value === 'string')) return 'kept';
  return typeof value === 'string' && SECRET_NAME.test(name) && !/^[$<{[*]/u.test(value) ? 'secret' : 'text';
}

/** The paths of all texts in which something looks like a secret, e.g. `constellation.tasks[0].command.arguments.command`. */
export function secretLookingPaths(value: Json, path = ''): string[] {
  if (typeof value === 'string') return withoutSecretForms(value, '') === value ? [] : [path];
  if (Array.isArray(value)) return value.flatMap((item, index) => secretLookingPaths(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const place = path === '' ? name : `${path}.${name}`;
    const kind = fieldKind(name, item);
    if (kind === 'text') return secretLookingPaths(item, place);
    return kind === 'secret' && item !== '' ? [place] : [];
  });
}
