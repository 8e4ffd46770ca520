// `node --import ./tools/specs/sources.mjs file.ts`, and what specs run under: sources as modules of Node itself, compiled when they
// are first imported. What is compiled is kept on disk, and V8's code with it: the next process only reads them.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { current } from './globals.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, '.cache/specs');
const ROOT_URL = pathToFileURL(`${ROOT}/`).href;

const { transformSync, version } = createRequire(import.meta.url)('@swc/core');
const settings = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
/** Of what is drawn in a browser. */
const drawn = {
  ...settings,
  jsc: {
    ...settings.jsc,
    parser: { ...settings.jsc.parser, tsx: true },
    transform: { ...settings.jsc.transform, react: { runtime: 'automatic' } },
  },
};
/** Whatever changes what comes out for the same source. */
const editionOf = (how) =>
  createHash('sha256')
    .update(JSON.stringify([version, how]))
    .digest('hex');
const editions = new Map([settings, drawn].map((how) => [how, editionOf(how)]));

/** Where the map of each module lies, by the name under which it is in a stack. */
export const sourceMaps = new Map();

/** Ours are run from their sources, as the specs beside them: never from a build that may be older. */
function isOurs(url) {
  return (
    url?.startsWith(ROOT_URL) && !url.startsWith(`${ROOT_URL}node_modules/`) && !url.startsWith(`${ROOT_URL}dist/`)
  );
}

function sourceOf(specifier, parent) {
  if (specifier === '#proto') return new URL('proto/index.ts', ROOT_URL).href;
  if (specifier.startsWith('#libs/'))
    return new URL(`libs/${specifier.slice('#libs/'.length)}/index.ts`, ROOT_URL).href;
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return undefined;
  const sources = ['.ts', '.tsx'].map((ending) => new URL(specifier.replace(/\.js$/, ending), parent).href);
  return sources.find((source) => existsSync(fileURLToPath(source)));
}

function globalsFor(parent) {
  const isSpec = parent === current?.url;
  return new URL(isSpec ? `globals-of-file.mjs?${parent}` : 'globals.mjs', import.meta.url).href;
}

/** What a file comes to, or would with another text. */
export function compile(file, source = readFileSync(file, 'utf8')) {
  const how = file.endsWith('.tsx') ? drawn : settings;
  const parts = [editions.get(how), file, source];
  const name = createHash('sha256').update(parts.join('\0')).digest('hex');
  const [code, map] = [join(CACHE, `${name}.mjs`), join(CACHE, `${name}.map`)];
  sourceMaps.set(pathToFileURL(file).href, map);
  try {
    return readFileSync(code, 'utf8');
  } catch {
    const made = transformSync(source, {
      ...how,
      swcrc: false,
      configFile: false,
      filename: file,
      sourceFileName: file,
    });
    keep(map, made.map);
    keep(code, made.code); // last: who finds it finds its map
    return made.code;
  }
}

/** Whole or not at all: two workers make the same file. */
function keep(file, text) {
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}

/**
 * What programs of ours tell V8: who moves files (file-memory.adapter), whose buffers would have the whole heap of a worker marked again
 * and again, and the grammar of bash (bash-grammar.adapter). V8 takes code only under the words under which it was kept: told later, all
 * that a worker loads after that would be compiled anew.
 */
const ENGINE_FLAGS = ['--scavenger-max-new-space-capacity-mb=1', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];
for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
mkdirSync(CACHE, { recursive: true });
enableCompileCache(join(CACHE, 'v8'));
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals')
      return { url: globalsFor(context.parentURL), format: 'module', shortCircuit: true };
    const url = isOurs(context.parentURL) ? sourceOf(specifier, context.parentURL) : undefined;
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    if (!/\.tsx?$/.test(url) || !isOurs(url)) return next(url, context);
    return { format: 'module', source: compile(fileURLToPath(url)), shortCircuit: true };
  },
});
