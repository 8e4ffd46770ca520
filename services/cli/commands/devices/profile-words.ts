// What people type about a device: `gpu.memory_gb=48`, `paths.logs=/var/log/app`, `roles=db,web`.
import { typedProfileValue } from '#libs/constellation';
import { type Json, ProfileKey, type ProfileValues, typeOfKey, wrongKey, wrongValue } from '#proto';
import { badInput, cleanLine } from '../../terminal/index.js';

const EXAMPLE = 'for example gpu.memory_gb=48, paths.logs=/var/log/app or roles=db,web';
const NO_NUMBERS = /^[-+]?(?:nan|inf(?:inity)?)$/iu;

/** Values by name; a name that is said twice has the last one. Throws with what is wrong. */
export function profileFrom(words: readonly string[]): ProfileValues {
  return Object.fromEntries(words.map(valueFrom));
}

function valueFrom(word: string): [ProfileKey, Json] {
  const at = word.indexOf('=');
  if (at < 1) throw badInput(`${cleanLine(word)} is no name with a value: it is written as key=value, ${EXAMPLE}`);
  const key = word.slice(0, at);
  const wrong = wrongKey(key);
  if (wrong !== undefined) throw badInput(`${cleanLine(key)}: ${wrong}`);
  const value = typed(key, word.slice(at + 1));
  const unfit = wrongValue(key, value);
  if (unfit !== undefined) throw badInput(`${cleanLine(key)}: ${unfit}`);
  return [key, value];
}

/** @throws CliError bad input where a number is meant that is none. */
function typed(key: string, text: string): Json {
  const type = typeOfKey(key);
  const isText = (type === 'text' && !text.startsWith('"')) || (type === 'texts' && !text.startsWith('['));
  if (!isText && NO_NUMBERS.test(text))
    throw badInput(
      `${cleanLine(key)}: ${cleanLine(text)} is no number that can be compared; as a text it is '"${cleanLine(text)}"'`,
    );
  return typedProfileValue(key, text);
}

/** Names that are to have no value any more. */
export function keysFrom(words: readonly string[]): ProfileKey[] {
  const unfit = words.find((word) => !ProfileKey.safeParse(word).success);
  if (unfit !== undefined) throw badInput(`--unset: ${cleanLine(unfit)} is no name; see: orrery devices show <id>`);
  return [...new Set(words)];
}
