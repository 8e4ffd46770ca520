// Makes one file of each program of dist/ and puts what starts it in the place of its main file: a process then reads one file instead
// of a thousand, and V8's code of it, which an earlier process has kept. Our modules stay beside it for tests and tools. What is said of
// `import.meta.url` stays true for each module, so assets are found where they lie.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { parseAst } from 'vite';
import { loadsLate } from './late.mjs';
import { needed } from './needed.mjs';
import { nameSources, startProgram } from './program.mjs';
import { quicker, withQuickerHelpers } from './quicker.mjs';

/** Main files of processes. */
const PROGRAMS = [
  'services/aip-gateway/main.js',
  'services/cli/main.js',
  'services/console/main.js',
  'services/desktop-tools/main.js',
  'services/desktop-tools/screen.main.js',
  'services/device-agent/main.js',
  'services/device-client/main.js',
  'services/device-client/tools/device-mcp.main.js',
  'services/logging/main.js',
  'services/mobile-tools/main.js',
  'services/orchestrator/main.js',
  'services/planner/main.js',
  'services/registry/main.js',
  'services/setup/main.js',
];
/** What the grammar of bash and who moves files tell V8 when they are first used (bash-grammar.adapter, file-memory.adapter). */
const GRAMMAR = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];
const FILES = [['--scavenger-max-new-space-capacity-mb=1', 13]];
/**
 * What V8 is told before it reads a program, a word with the first version of V8 that knows it where not every one does. V8 takes code only
 * under the words under which it was kept: what a program tells it later is told at once, or each start would compile everything again.
 */
const FLAGS = {
  // Garbage is cleared away in small portions: a file of 100 MB would otherwise cost 50 MB of memory that nobody needs, on a machine
  // whose memory is for others.
  'services/device-client/main.js': ['--semi-space-growth-factor=1', ...GRAMMAR, ...FILES],
  'services/device-agent/main.js': GRAMMAR,
  'services/aip-gateway/main.js': FILES,
};
/** Where V8's code of a program is kept that people start. Others are told by who starts them (NODE_COMPILE_CACHE). */
const CACHES = { 'services/cli/main.js': '../.cache/node-compile' };
/** Modules of these are run when something of them is used. People start them many times a day, and no command needs all that another does. */
const LATE = [
  'services/cli/main.js',
  'services/device-client/main.js',
  'services/device-client/tools/device-mcp.main.js',
];
/** Processes of a program, and what is loaded beside one: a few kilobytes each. */
const PARTS = [
  'services/aip-gateway/files/long-texts.runner.js',
  'services/cli/processes/end-with-supervisor.runner.js',
  'libs/judging/condition-process.runner.js',
];
/** What foreign packages can use and we do not: brokers, validators, native helpers. They find out that it is not there. */
const UNUSED = JSON.parse(readFileSync(new URL('./unused.json', import.meta.url), 'utf8'));

const BANNER = `import { createRequire as requireOfBundle, SourceMap as MapOfBundle } from 'node:module';
const require = requireOfBundle(import.meta.url), distOfBundle = import.meta.url.replace(/\\/dist(?:\\.next)?\\/.*$/u, '/dist/');
(${String(nameSources)})(distOfBundle, MapOfBundle);`;
const LINE_CHARS = 160;
/** Lines of foreign packages are said to be the first of their file: their maps would be most of a map, which every start reads. */
const NO_MAP = `\n//# sourceMappingURL=data:application/json;base64,${btoa('{"version":3,"sources":[""],"mappings":"AAAA"}')}`;

/** A module as it is written into a larger file: it knows its own place as if it were not part of one. */
const loaderOf =
  (dist, described = (code) => code) =>
  ({ path }) => {
    const place = (file) => `new URL(${JSON.stringify(relative(dist, file))}, distOfBundle)`;
    const filePlace = (file) => `process.getBuiltinModule('node:url').fileURLToPath(${place(file)})`;
    const isForeign = path.includes('/node_modules/');
    let contents = readFileSync(path, 'utf8').replace(/^#!.*/u, '');
    if (isForeign) contents = quicker(path, contents);
    if (contents.includes('import.meta.')) {
      contents = contents
        .replaceAll(/\bimport\.meta\.url\b/g, () => `${place(path)}.href`)
        .replaceAll(/\bimport\.meta\.resolve\b/g, 'resolveOfBundle')
        .replaceAll(/\bimport\.meta\.dirname\b/g, () => filePlace(dirname(path)))
        .replaceAll(/\bimport\.meta\.filename\b/g, () => filePlace(path));
    } else if (/\b__(?:dirname|filename)\b/.test(contents)) {
      contents = `var __filename = ${filePlace(path)}, __dirname = ${filePlace(dirname(path))};${contents}`;
    }
    if (path.startsWith(join(dist, 'proto/'))) contents = described(contents);
    if (isForeign) contents = contents.replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '') + NO_MAP;
    return { contents, loader: 'js', resolveDir: dirname(path) };
  };

const keepsPlaces = (dist) => ({
  name: 'keeps-places',
  setup: ({ onLoad }) =>
    onLoad(
      { filter: /\.[cm]?js$/ },
      loaderOf(dist, (code) => needed(code, parseAst)),
    ),
});

/** Bundles the programs of a `dist` folder, in place. */
export async function bundle(dist) {
  const make = (programs, more) =>
    build({
      entryPoints: programs.map((program) => join(dist, program)),
      bundle: true,
      platform: 'node',
      target: 'node22',
      keepNames: true,
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: LINE_CHARS, // an error that nobody catches is shown with its line
      sourcemap: true,
      sourcesContent: false,
      legalComments: 'none',
      logLevel: 'error',
      allowOverwrite: true,
      alias: {
        '#proto': join(dist, 'proto'),
        '#libs': join(dist, 'libs'),
        // What `ws` masks frames with, if it is there.
        bufferutil: fileURLToPath(new URL('./frame-mask.mjs', import.meta.url)),
      },
      outbase: dist,
      outdir: dist,
      // Packages that know another runtime load files of theirs for it, past the bundle.
      define: { Bun: 'undefined' },
      external: [...UNUSED.flatMap((name) => [name, `${name}/*`]), '*.node'],
      plugins: [keepsPlaces(dist)],
      ...more,
    });
  const asProgram = {
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    banner: { js: "(function(require,module,exports,distOfBundle,resolveOfBundle){'use strict';" },
    footer: { js: '})' },
  };
  const makeLate = (program) => {
    const plugins = [loadsLate(dist, join(dist, program), loaderOf(dist)), keepsPlaces(dist)];
    return make([program], { ...asProgram, plugins });
  };
  await Promise.all([
    make(PARTS, { format: 'esm', banner: { js: BANNER } }),
    make(
      PROGRAMS.filter((program) => !LATE.includes(program)),
      asProgram,
    ),
    ...LATE.map(makeLate),
  ]);
  for (const program of PROGRAMS) {
    writeFileSync(join(dist, program), starterOf(dist, program));
    rmSync(join(dist, `${program}.map`), { force: true }); // of the main file that was there
  }
}

const hexOf = (unit) => unit.charCodeAt(0).toString(16).padStart(4, '0');

/** What is started instead of the program: it reads the program, with V8's code of it where that was kept. */
function starterOf(dist, program) {
  const main = readFileSync(join(dist, program), 'utf8');
  const file = join(dist, program.replace(/\.js$/u, '.cjs'));
  // Read as ASCII, a program takes a byte for each letter of it. What esbuild leaves as it is are regular expressions.
  const code = withQuickerHelpers(file, readFileSync(file, 'utf8')).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${hexOf(unit)}`,
  );
  writeFileSync(file, code);
  const digest = createHash('sha256').update(code).digest('hex');
  const name = program
    .replace(/^services\//u, '')
    .replaceAll('/', '-')
    .replace(/\.js$/u, '');
  const settings = { name, digest, flags: FLAGS[program] ?? [], cache: CACHES[program] };
  return `${/^#!.*\n/u.exec(main)?.[0] ?? ''}import { createRequire, SourceMap } from 'node:module';
import fs from 'node:fs';
import url from 'node:url';
import vm from 'node:vm';
const dist = new URL(${JSON.stringify(relative(dirname(program), '.') + '/')}, import.meta.url).href;
(${String(nameSources)})(dist, SourceMap);
(${String(startProgram)})({ fs, url, vm, require: createRequire(import.meta.url), main: import.meta.url, dist, program: ${JSON.stringify(settings)} });
`;
}
