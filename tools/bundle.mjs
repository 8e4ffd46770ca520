// Makes one file of each program of dist/, in the place of its main file: a process then reads one file instead of a thousand. Our
// modules stay beside it for tests and tools. What is said of `import.meta.url` stays true for each module, so assets are found where
// they lie. The command line is cut where it loads a command late.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

/** Main files, threads and helpers that are started by their path. */
const PROGRAMS = [
  'services/aip-gateway/main.js',
  'services/aip-gateway/files/long-texts.runner.js',
  'services/cli/processes/end-with-supervisor.runner.js',
  'services/console/main.js',
  'services/device-agent/main.js',
  'services/device-client/main.js',
  'services/device-client/tools/device-mcp.main.js',
  'services/logging/main.js',
  'services/orchestrator/main.js',
  'services/planner/main.js',
  'services/registry/main.js',
  'services/setup/main.js',
  'libs/judging/condition-thread.runner.js',
];
const CUT = ['services/cli/main.js'];
/** What foreign packages can use and we do not: brokers, validators, native helpers. */
const UNUSED = [
  '@grpc/grpc-js',
  '@grpc/proto-loader',
  '@nestjs/platform-socket.io',
  'amqp-connection-manager',
  'amqplib',
  'bufferutil',
  'class-transformer',
  'class-validator',
  'ioredis',
  'kafkajs',
  'mqtt',
  'nats',
  'pg-native',
  'utf-8-validate',
];

/**
 * Runs in every program, so it holds on to nothing of this file: stacks name sources. A map is read when somebody reads the first stack;
 * Node itself (`--enable-source-maps`) reads it at every start, which takes a sixth of the time and memory of one.
 *
 * @param {string} dist where the maps lie, as the address of a folder
 * @param {typeof import('node:module').SourceMap} SourceMap
 */
function nameSources(dist, SourceMap) {
  if (process.sourceMapsEnabled || Error.prepareStackTrace?.namesSources === true) return;
  const { fs, url } = { fs: process.getBuiltinModule('node:fs'), url: process.getBuiltinModule('node:url') };
  const maps = new Map();
  const read = (file) => {
    try {
      return new SourceMap(JSON.parse(fs.readFileSync(new URL(`${file}.map`), 'utf8')));
    } catch {
      return undefined; // not ours, or shipped without: the place in the program is named
    }
  };
  const named = (place, file, line, column) => {
    if (!file.startsWith(dist)) return place;
    if (!maps.has(file)) maps.set(file, read(file));
    const { originalSource, originalLine, originalColumn } = maps.get(file)?.findEntry(line - 1, column - 1) ?? {};
    if (!originalSource) return place;
    return `${url.fileURLToPath(new URL(originalSource, file))}:${originalLine + 1}:${originalColumn + 1}`;
  };
  const written = Error.prepareStackTrace ?? ((error, sites) => [error, ...sites].join('\n    at '));
  Error.prepareStackTrace = (error, sites) =>
    written(error, sites).replaceAll(/(file:[^\s()]+?\.js):(\d+):(\d+)/gu, named);
  Error.prepareStackTrace.namesSources = true;
}

const BANNER = `import { createRequire as requireOfBundle, SourceMap as MapOfBundle } from 'node:module';
const require = requireOfBundle(import.meta.url), distOfBundle = import.meta.url.replace(/\\/dist(?:\\.next)?\\/.*$/u, '/dist/');
(${String(nameSources)})(distOfBundle, MapOfBundle);`;
const LINE_CHARS = 160;
/** Lines of foreign packages are said to be the first of their file: their maps would be most of a map, which every start reads. */
const NO_MAP = `\n//# sourceMappingURL=data:application/json;base64,${btoa('{"version":3,"sources":[""],"mappings":"AAAA"}')}`;

/** Each module knows its own place, as if it were not part of a larger file. */
const keepsPlaces = (dist) => ({
  name: 'keeps-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const place = (file) => `new URL(${JSON.stringify(relative(dist, file))}, distOfBundle)`;
      const filePlace = (file) => `process.getBuiltinModule('node:url').fileURLToPath(${place(file)})`;
      const isForeign = path.includes('/node_modules/');
      let contents = readFileSync(path, 'utf8');
      if (contents.includes('import.meta.')) {
        contents = contents
          .replaceAll(/\bimport\.meta\.url\b/g, () => `${place(path)}.href`)
          .replaceAll(/\bimport\.meta\.dirname\b/g, () => filePlace(dirname(path)))
          .replaceAll(/\bimport\.meta\.filename\b/g, () => filePlace(path));
      } else if (/\b__(?:dirname|filename)\b/.test(contents)) {
        contents = `var __filename = ${filePlace(path)}, __dirname = ${filePlace(dirname(path))};${contents}`;
      }
      if (isForeign) contents = contents.replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '') + NO_MAP;
      return { contents, loader: 'js', resolveDir: dirname(path) };
    });
  },
});

/**
 * An import of `node:http` reads each of its names, and one of them is WebSocket: for that Node loads its whole client for HTTP, a quarter
 * of the time that a device client takes to start. Got as an object, a name is read where it is used.
 */
const readsHttpLate = {
  name: 'reads-http-late',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?http$/ }, () => ({ path: 'http', namespace: 'reads-http-late' }));
    onLoad({ filter: /^/, namespace: 'reads-http-late' }, () => ({
      contents: "module.exports = process.getBuiltinModule('node:http');",
    }));
  },
};

/** Bundles the programs of a `dist` folder, in place. */
export async function bundle(dist) {
  const make = (programs, { plugins = [], ...more }) =>
    build({
      entryPoints: programs.map((program) => join(dist, program)),
      bundle: true,
      platform: 'node',
      format: 'esm',
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
      alias: { '#proto': join(dist, 'proto'), '#libs': join(dist, 'libs') },
      outbase: dist,
      outdir: dist,
      banner: { js: BANNER },
      external: [...UNUSED.flatMap((name) => [name, `${name}/*`]), '*.node'],
      plugins: [keepsPlaces(dist), ...plugins],
      ...more,
    });
  await Promise.all([
    make(PROGRAMS, { plugins: [readsHttpLate] }),
    make(CUT, { splitting: true, chunkNames: 'services/cli/part-[hash]' }),
  ]);
}
