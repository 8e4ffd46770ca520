// Makes the console's web application of services/console/web: what a browser loads. Takes what was made before where nothing that went
// into it has changed: most builds touch none of it.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { needed } from './needed.mjs';

const WEB = 'services/console/web';
/** What was read for the web application, with the digest of each: beside it, not in it, for nobody is to be served this. */
const INPUTS = 'services/console/web.inputs.json';
/** Where a terminal begins to ask whether it can be seen. */
const WAITS_TO_BE_SEEN = 'if("IntersectionObserver"in e)';
/** Where the viewer of screens asks whether there is a decoder of films. */
const WAITS_FOR_FILMS = 'await _checkWebCodecsH264DecodeSupport()';
/** What the audit uses of the runtime, as it is in a browser. */
const AUDITED = { crypto: 'node-crypto.adapter.ts', util: 'node-util.ts' };
/** What only servers have of the runtime, where nothing of it is used. */
const SERVERS_ONLY = '\0servers-only';
/** Does nothing by being loaded, but is there for who uses it. */
const DOES_NOTHING = /^(?:libs|proto|services\/console\/web\/(?:model|wire)|node_modules\/@marcbachmann\/cel-js)\//u;
/** Decide about all of it without being imported by it. */
const ALWAYS = ['package-lock.json', 'tools/needed.mjs', 'tools/web.mjs', `${WEB}/index.html`];

/** Makes `dist.next/services/console/web`, of the sources or of the one in `dist`. */
export async function buildWeb(root, { from, to }) {
  if (!existsSync(join(root, WEB, 'index.html'))) return;
  mkdirSync(join(to, 'services/console'), { recursive: true });
  if (isCurrent(root, from)) {
    cpSync(join(from, WEB), join(to, WEB), { recursive: true });
    cpSync(join(from, INPUTS), join(to, INPUTS));
    return;
  }
  const read = new Set(ALWAYS);
  const { build } = await import('vite');
  await build(settings(root, join(to, WEB), (path) => read.add(path)));
  makeSmall(join(to, WEB));
  writeFileSync(
    join(to, INPUTS),
    JSON.stringify(Object.fromEntries([...read].sort().map((path) => [path, digestOf(root, path)]))),
  );
}

/** Beside each text what browsers take in its place: made here, it costs who serves it neither time nor memory. */
function makeSmall(folder) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, String(name));
    if (!/\.(?:js|css|html|svg|json)$/u.test(file)) continue;
    const bytes = readFileSync(file);
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
  }
}

function settings(root, outDir, reads) {
  /** Everything of this repository that is loaded. */
  const noted = {
    name: 'noted',
    load(id) {
      const path = relative(root, id.split('?')[0]);
      if (
        !path.startsWith('..') &&
        !path.includes('node_modules') &&
        !id.startsWith('\0') &&
        existsSync(join(root, path))
      )
        reads(path);
      return null;
    },
  };
  /** The audit has the runtime's cryptography on a server, and this in a browser. */
  const audited = {
    name: 'audited',
    enforce: 'pre',
    resolveId(id) {
      const [, name] = /^node:(.*)$/u.exec(id) ?? [];
      if (name === undefined) return null;
      return AUDITED[name] === undefined ? SERVERS_ONLY : join(root, WEB, 'pages/run/verify', AUDITED[name]);
    },
    load: (id) => (id === SERVERS_ONLY ? 'export {};' : null),
  };
  /**
   * Terminals write style elements and attributes, which the policy of the page refuses: they get what it allows. And they draw nothing
   * while they are outside of what can be seen: who has a page read to him does not scroll, and found empty rows.
   */
  const allowed = {
    name: 'allowed-terminals',
    transform(code, id) {
      if (!/\/@xterm\/xterm\/.*\.mjs/u.test(id)) return null;
      const changed = code
        .replaceAll('createElement("style")', 'createElement("adopted-style")')
        .replaceAll(/\.setAttribute\("style",(`[^`]*`)\)/gu, '.style.cssText=$1');
      if (changed.includes('setAttribute("style"') || !changed.includes('adopted-style')) {
        throw new Error(`${id} writes styles in another way than is known here`);
      }
      if (!changed.includes(WAITS_TO_BE_SEEN))
        throw new Error(`${id} waits to be seen in another way than is known here`);
      return { code: changed.replace(WAITS_TO_BE_SEEN, 'if(false)'), map: null };
    },
  };
  /** A module that waits while it is loaded is kept apart from all others, and they from each other: schemas were made before `no-eval.ts`. */
  const unfilmed = {
    name: 'unfilmed-screens',
    transform(code, id) {
      if (!/\/@novnc\/novnc\/core\/util\/browser\.js/u.test(id)) return null;
      if (!code.includes(WAITS_FOR_FILMS)) throw new Error(`${id} asks for films in another way than is known here`);
      return { code: code.replace(WAITS_FOR_FILMS, 'false'), map: null };
    },
  };
  /** A page makes the schemas that it needs. */
  const described = {
    name: 'needed-schemas',
    transform(code, id) {
      return id.startsWith(join(root, 'proto/')) ? { code: needed(code, (text) => this.parse(text)), map: null } : null;
    },
  };
  return {
    root: join(root, WEB),
    configFile: false,
    logLevel: 'warn',
    base: '/',
    publicDir: false,
    plugins: [noted, allowed, unfilmed, described],
    worker: {
      format: 'es',
      plugins: () => [noted, audited, described],
      rolldownOptions: {
        // Of what the audit stands on only what it uses: the rest of it is for servers.
        treeshake: {
          moduleSideEffects: (id) => !/\/libs\/(?!audit|constellation)|\/node_modules\/@nats-io\//u.test(id),
        },
        shimMissingExports: true,
        checks: { shimmedExport: false, pluginTimings: false },
      },
    },
    resolve: {
      alias: [
        { find: /^#proto$/u, replacement: join(root, 'proto/index.ts') },
        { find: /^#libs\/(.*)$/u, replacement: join(root, 'libs/$1/index.ts') },
        // The same for the dialogs, which have a package for it.
        { find: 'react-style-singleton', replacement: join(root, WEB, 'parts/style-singleton.ts') },
      ],
    },
    oxc: { jsx: { runtime: 'automatic' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2024',
      sourcemap: false,
      modulePreload: { polyfill: false },
      // As files, never as data: addresses: what is not from here is not loaded.
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2_000,
      reportCompressedSize: false,
      rolldownOptions: {
        // So it comes with the page that uses it, and not with the first.
        treeshake: { moduleSideEffects: (id) => !DOES_NOTHING.test(relative(root, id)) },
        // What every schema is made by is set up where it is, before any of them, whatever comes first.
        output: { codeSplitting: { groups: [{ name: 'schemas', test: /\/node_modules\/zod\/|\/no-eval\.ts$/u }] } },
        // Libraries say which of their parts are for browsers: here all are.
        onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
        // On a busy machine it would tell who builds which of ours took how long.
        checks: { pluginTimings: false },
      },
    },
  };
}

function isCurrent(root, from) {
  try {
    const inputs = Object.entries(JSON.parse(readFileSync(join(from, INPUTS), 'utf8')));
    return (
      existsSync(join(from, WEB, 'index.html')) && inputs.every(([path, digest]) => digestOf(root, path) === digest)
    );
  } catch {
    return false;
  }
}

function digestOf(root, path) {
  return createHash('sha256')
    .update(readFileSync(join(root, path)))
    .digest('hex');
}
