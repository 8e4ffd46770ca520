// What looks like a secret does not belong into an example, which other runs see: known forms of keys wherever they stand, what
// something called a password is set to, and long words that only results know.
import { ExampleReply, type Json } from '#proto';
import { fieldKind, withoutSecretForms } from '#libs/planner';

export const SECRET_SHOWN = '[secret]';

/** Where the example is made from: texts of devices, and all that was said before any device answered. */
export interface Origin {
  readonly results: readonly string[];
  readonly said: readonly string[];
}

/** Made by a machine, and most of the time for one purpose. */
const LONG_WORD = /[A-Za-z0-9_+-]{20,}={0,2}/gu;

/** The example without it. @throws Error when what remains is no example any more. */
export function exampleWithoutSecrets(example: ExampleReply, origin: Origin): ExampleReply {
  const words = wordsOfResults(origin);
  return ExampleReply.parse(cleaned(example, (text) => shownText(text, words)));
}

export function withoutSecretsInText(text: string, origin: Origin): string {
  return shownText(text, wordsOfResults(origin));
}

function shownText(text: string, ofResults: ReadonlySet<string>): string {
  return withoutSecretForms(text, SECRET_SHOWN).replace(LONG_WORD, (word) =>
    ofResults.has(word) ? SECRET_SHOWN : word,
  );
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
    const kind = fieldKind(key, item);
    if (kind === 'kept') return [key, item];
    return [key, kind === 'secret' ? SECRET_SHOWN : cleaned(item, clean)];
  });
  return Object.fromEntries(fields);
}
