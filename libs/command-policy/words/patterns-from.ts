/** A directory by all its absolute paths, and how paths begin that start in it. */
export interface Start {
  readonly paths: readonly string[];
  readonly as: '.' | '~';
}

/**
 * What a pattern with an absolute path is called by who starts in a directory above: of `/srv/etc/**` in `/srv` that is `./etc/**`. A directory
 * that itself is a listed place stays one where commands work.
 */
export function patternsFrom(pattern: string, starts: readonly Start[]): readonly string[] {
  if (!pattern.startsWith('/')) return [];
  const names = pattern.split('/').slice(1);
  const found = starts.flatMap(({ paths, as }) =>
    paths.flatMap((path) =>
      restsOf(names, path.split('/').filter(Boolean))
        .filter((rest) => rest.some((name) => name !== '**'))
        .map((rest) => [as, ...rest].join('/')),
    ),
  );
  return [...new Set(found)];
}

/** What is left of a pattern behind a directory that begins as it does. */
function restsOf(pattern: readonly string[], directory: readonly string[]): readonly (readonly string[])[] {
  const [first, ...rest] = pattern;
  const [name, ...below] = directory;
  if (first === undefined) return [];
  if (name === undefined) return [pattern];
  if (first === '**') return [...restsOf(rest, directory), ...restsOf(pattern, below)];
  return isLike(name, first) ? restsOf(rest, below) : [];
}

function isLike(name: string, pattern: string): boolean {
  const like = pattern
    .replaceAll(/[\\^$+.()|[\]{}]/gu, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${like}$`, 'su').test(name);
}
