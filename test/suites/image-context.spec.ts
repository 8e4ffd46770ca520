import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** A tool and every file beside it that it imports. */
function withImports(path: string): string[] {
  const imported = [...read(path).matchAll(/(?:from |new URL\()'(\.[^']+)'/gu)].map(([, specifier = '']) => specifier);
  return [path, ...imported.flatMap((specifier) => withImports(posix.join(posix.dirname(path), specifier)))];
}

describe('what images are made of', () => {
  it('holds the build with all that it imports: a container engine sees no other file of a checkout', () => {
    const admitted = read('.dockerignore').split('\n');
    const needed = withImports('tools/build.mjs');
    expect(needed.length).toBeGreaterThan(1);
    expect(needed.filter((path) => !admitted.includes(`!${path}`))).toEqual([]);
  });
});
