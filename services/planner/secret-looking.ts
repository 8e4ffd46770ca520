// What looks like a secret does not belong into an example, which other runs see: known forms of keys wherever they stand, what
// something called a password is set to, and long words that only results know.
import { ExampleReply, type Json } from '#proto';

export const SECRET_SHOWN = '[secret]';

/** Where the example is made from: texts of devices, and all that was said before any device answered. */
export interface Origin {
  readonly results: readonly string[];
  readonly said: readonly string[];
}

/** Everything here takes time that grows with the text and no faster: a model may have been made to write it. */
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

/** Made by a machine, and most of the time for one purpose. */
const LONG_WORD = /[A-Za-z0-9_+-]{20,}={0,2}/gu;

/** Ids, and what is not free text. */
const KEPT = new Set(['task_id', 'dependency_id', 'from_task_id', 'to_task_id', 'target_device_id', 'type', 'inputs']);
const SECRET_NAME = new RegExp(`${NAME}$`, 'iu');
/** `{"secret": name}` names a secret of the device and is none. */
const NAMES_SECRET = 'secret';

/** The example without it. @throws Error when what remains is no example any more. */
export function withoutSecrets(example: ExampleReply, origin: Origin): ExampleReply {
  const words = wordsOfResults(origin);
  return ExampleReply.parse(cleaned(example, (text) => shownText(text, words)));
}

export function withoutSecretsInText(text: string, origin: Origin): string {
  return shownText(text, wordsOfResults(origin));
}

function shownText(text: string, ofResults: ReadonlySet<string>): string {
  let shown = text;
  for (const form of FORMS) shown = shown.replace(form, SECRET_SHOWN);
  for (const place of PLACES) shown = shown.replace(place, `$1${SECRET_SHOWN}`);
  return shown.replace(LONG_WORD, (word) => (ofResults.has(word) ? SECRET_SHOWN : word));
}

/** Long words with letters and digits that results have and nothing that was said before. */
function wordsOfResults({ results, said }: Origin): ReadonlySet<string> {
  const before = new Set(said.flatMap(longWords));
  const words = results.flatMap(longWords).filter((word) => /\d/u.test(word) && /[A-Za-z]/u.test(word));
  return new Set(words.filter((word) => !before.has(word)));
}

function longWords(text: string): string[] {
  return text.match(LONG_WORD) ?? [];
}

function cleaned(value: Json | ExampleReply, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Record<string, Json>).map(([key, item]): [string, Json] => {
    if (KEPT.has(key) || (key === NAMES_SECRET && typeof item === 'string')) return [key, item];
    if (typeof item === 'string' && SECRET_NAME.test(key) && !/^[$<{[*]/u.test(item)) return [key, SECRET_SHOWN];
    return [key, cleaned(item, clean)];
  });
  return Object.fromEntries(fields);
}
