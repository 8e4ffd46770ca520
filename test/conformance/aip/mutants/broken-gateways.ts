import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';
import { build, stop, type OnLoadArgs, type OnLoadResult, type OnResolveArgs, type OnResolveResult } from 'esbuild';
import { ROOT } from '../stand/root.js';
import type { Mutant } from './mutant.js';

/** Which of the mutants the program is, by its place among them. Another number is the gateway as it is. */
export const BROKEN_AS = 'BROKEN_AS';

/** What packages can use, and find out that it is not there. */
const NOT_THERE = ['bufferutil', ...(JSON.parse(readFileSync(join(ROOT, 'tools/unused.json'), 'utf8')) as string[])];
const DIST = join(ROOT, 'dist');
/** Where modules are that choose which of several they are. */
const CHOICE = 'choice';
/** Without `u`, which Go does not know. */
const OURS = /\/dist\/(?:proto|libs|services)\/.*\.js$/;
const MAIN = join(DIST, 'services/aip-gateway/main.js');

/**
 * Makes one program of what was built of this tree that is any of the mutants, as BROKEN_AS says: of a module that some of them break it has
 * the sound text and each broken one, and runs one of these. So everything is put together once, and V8 keeps the code of all of them.
 */
export async function makeBrokenGateways(mutants: readonly Mutant[], outfile: string): Promise<void> {
  const settings = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8')) as object;
  const compile = (source: string, text: string): string =>
    transformSync(text, { ...settings, sourceMaps: false, swcrc: false, configFile: false, filename: source }).code;
  const breakersOf = (path: string): number[] =>
    mutants.flatMap(({ edits }, number) => (edits.some(({ file }) => fileOf(path) === file) ? [number] : []));
  const choose = ({ path, namespace, resolveDir }: OnResolveArgs): OnResolveResult | undefined => {
    const place = join(resolveDir, path);
    return namespace === CHOICE || breakersOf(place).length === 0 ? undefined : { path: place, namespace: CHOICE };
  };
  const load = ({ path, suffix }: OnLoadArgs): OnLoadResult => {
    const mutant = suffix === '' ? undefined : mutants[Number(suffix.slice(1))];
    const source = join(ROOT, fileOf(path));
    // The main file that was built starts the program that was built.
    const isBuilt = mutant === undefined && path !== MAIN;
    const contents = isBuilt ? readFileSync(path, 'utf8') : compile(source, brokenBy(mutant, fileOf(path)));
    return {
      loader: 'js',
      contents: contents.replaceAll(/\bimport\.meta\.url\b/gu, () => JSON.stringify(pathToFileURL(path).href)),
    };
  };
  await build({
    entryPoints: [MAIN],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    keepNames: true,
    logLevel: 'error',
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(${JSON.stringify(pathToFileURL(MAIN).href)});`,
    },
    alias: { '#proto': join(DIST, 'proto'), '#libs': join(DIST, 'libs') },
    external: NOT_THERE,
    plugins: [
      {
        name: 'broken',
        setup: (to) => {
          to.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, choose);
          to.onLoad({ filter: /.*/, namespace: CHOICE }, ({ path }) => choiceOf(path, breakersOf(path)));
          to.onLoad({ filter: OURS }, load);
        },
      },
    ],
  });
  await stop(); // what has made it would stay for as long as this process
}

/** Of what was built. */
const fileOf = (path: string): string => relative(DIST, path).replace(/\.js$/u, '.ts');

/** A module that is one of several, and runs none of the others. Behind the name of one stands which of the mutants it is of. */
function choiceOf(path: string, breakers: readonly number[]): OnLoadResult {
  const requireOf = (suffix: string): string => `require(${JSON.stringify(path + suffix)})`;
  const cases = breakers.map((number) => `case '${number}': module.exports = ${requireOf(`?${number}`)}; break;`);
  const contents = `switch (process.env.${BROKEN_AS}) { ${cases.join('')} default: module.exports = ${requireOf('')}; }`;
  return { contents, resolveDir: dirname(path) };
}

const brokenBy = (mutant: Mutant | undefined, file: string): string =>
  (mutant?.edits ?? [])
    .filter((edit) => edit.file === file)
    .reduce((sound, { text, becomes }) => sound.replace(text, () => becomes), readFileSync(join(ROOT, file), 'utf8'));
