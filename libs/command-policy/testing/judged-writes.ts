import type { Explanation } from '../judge/index.js';
import type { CanaryWorld } from './canary-world.js';

/** What a line may change as it was judged, by path below the root of the world. */
export function judgedWrites(
  { verdict, commands }: Explanation,
  { root }: Pick<CanaryWorld, 'root'>,
): readonly RegExp[] {
  if (verdict.decision !== 'log') return [];
  const findings = commands.flatMap((command) => command.findings ?? []).filter(({ rule }) => rule === 'path.write');
  const paths = findings.flatMap(({ reason }) => /^.*? writes (?<path>.*)\.$/su.exec(reason)?.groups?.['path'] ?? []);
  return paths.map((path) => patternOf(path, root));
}

/** The file, what lies below it, and the folders that lead to it. */
function patternOf(path: string, root: string): RegExp {
  const below = path.startsWith(`${root}/`)
    ? path.slice(root.length + 1)
    : path.replace(/^~/u, 'home').replace(/^\.(?=\/|$)/u, 'work');
  const parts = below.split('/').map((part) =>
    part
      .replace(/[\\^$+()[\]{}|.]/gu, String.raw`\$&`)
      .replace(/\*\*/gu, '\0')
      .replace(/\*/gu, '[^/]*')
      .replace(/\?/gu, '[^/]')
      .replace(/\0/gu, '.*'),
  );
  return new RegExp(`^${parts.reduceRight((rest, part) => `${part}(?:/${rest})?`, '.*')}$`, 'su');
}
