import { type AskedWall, CommandWall, parseWith, sentenceOf, UNHELD, wallOnly } from '#proto';
import { badInput } from '../../terminal/index.js';

const KINDS: readonly string[] = CommandWall.shape.kind.options;
const PLACE = 'writable=';

/**
 * What was shown, wider by the words of `--sandbox`: a kind takes the place of the one that was shown, everything else is added.
 * @throws CliError bad input when a word is none, or says nothing of what has no wall.
 */
export function wallBy(words: readonly string[], shown: AskedWall | undefined): CommandWall {
  const kinds = words.filter((word) => KINDS.includes(word));
  const strange = words.find((word) => !KINDS.includes(word) && word !== 'internet' && !word.startsWith(PLACE));
  if (strange !== undefined)
    throw badInput(`--sandbox: "${strange}" is none of ${KINDS.join(', ')}, internet and ${PLACE}<absolute path>.`);
  if (kinds.length > 1) throw badInput(`--sandbox: say one of ${kinds.join(' and ')}.`);
  const { kind: before, views, internet, writable = [] } = wallOnly(shown ?? UNHELD);
  const kind = kinds[0] ?? before;
  if (kind === 'none' && words.length > kinds.length)
    throw badInput('--sandbox: what has no wall may do that already; for a wall around it say --sandbox write, too.');
  if (kind === 'none') return { ...UNHELD, views };
  const places = words.filter((word) => word.startsWith(PLACE)).map((word) => word.slice(PLACE.length));
  const parsed = parseWith(CommandWall, {
    kind,
    views,
    ...((internet === true || words.includes('internet')) && { internet: true }),
    ...(writable.length + places.length > 0 && { writable: [...new Set([...writable, ...places])] }),
  });
  if (!parsed.ok) throw badInput(`--sandbox: ${parsed.issues.map(sentenceOf).join('; ')}`, parsed.issues);
  return parsed.value;
}
