import { shellWord } from '#libs/visible';
import type { CliContext } from './terminal.js';

/** A name of an option without its hyphens, and what is said with it; true: it stands alone. Undefined: it is not said. */
export type SaidOption = readonly [name: string, value: string | number | true | undefined];

interface Typed {
  readonly options?: readonly SaidOption[];
  /** Its arguments. */
  readonly words?: readonly string[];
}

/** A command line to type, about the same system: `runs --limit 3`. */
export function typedLine(
  context: Pick<CliContext, 'contextSaid'>,
  command: string,
  { options = [], words = [] }: Typed,
): string {
  const said = options.flatMap(([name, value]) => {
    if (value === undefined) return [];
    return value === true ? [`--${name}`] : [`--${name}`, shellWord(`${value}`)];
  });
  // What begins with a hyphen would be read as an option.
  const isHidden = words.some((word) => word.startsWith('-'));
  return aboutThatSystem(
    context,
    ['orrery', command, ...said, ...(isHidden ? ['--'] : []), ...words.map(shellWord)].join(' '),
  );
}

/** `orrery show 0k3j…` with the context that was said on the command line before it. */
export function aboutThatSystem({ contextSaid }: Pick<CliContext, 'contextSaid'>, line: string): string {
  return contextSaid === undefined ? line : line.replace(/^orrery /u, `orrery --context ${shellWord(contextSaid)} `);
}
