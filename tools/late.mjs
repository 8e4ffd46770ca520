// Modules of ours that run when something of them is first used, for programs of which each start needs little: `orrery runs` makes
// neither the schemas of what devices say nor the client of a model. What imports nothing but for its effect runs where it stands, as ever.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { transformSync } from '@swc/core';

const NAMESPACE = 'late';
/** After a comment, too: swc writes it before what follows. */
const ALL_PASSED = /(?<=^|\*\/\s*)export\s*\*\s*from\s*'([.#][^']+)';/gm;
const FROM = /\bfrom\s+'([^']+)'/g;
/** What swc writes into a module of CommonJS for those who read its names without running it, and the only name of a module. */
const NAMES = /^0 && \(module\.exports = \{([^}]*)\}/m;
const ONLY_NAME = /^Object\.defineProperty\(exports, "(?!__esModule)([\w$]+)"/m;
const AS_WRITTEN = {
  swcrc: false,
  configFile: false,
  jsc: { target: 'es2024', parser: { syntax: 'ecmascript' }, keepClassNames: true },
};

/** Which file of `dist` is meant. */
function fileOf(dist, folder, path) {
  if (path === '#proto') return join(dist, 'proto/index.js');
  return path.startsWith('#libs/') ? join(dist, path.slice(1), 'index.js') : resolve(folder, path);
}

/** Every name that a module of ours exports. */
function namesOf(dist, file) {
  const text = readFileSync(file, 'utf8');
  const { code } = transformSync(text, { ...AS_WRITTEN, module: { type: 'commonjs', importInterop: 'node' } });
  const only = ONLY_NAME.exec(code)?.slice(1) ?? [];
  const own = [...only, ...[...(NAMES.exec(code)?.[1] ?? '').matchAll(/([\w$]+):/g)].map(([, name]) => name)];
  return [
    ...own,
    ...[...text.matchAll(ALL_PASSED)].flatMap(([, from]) => namesOf(dist, fileOf(dist, dirname(file), from))),
  ];
}

/** Whoever passes on all names of a module would run it to know them: each is passed on by its name. */
const named = (code, dist, file) =>
  code.replaceAll(ALL_PASSED, (_, from) => {
    const names = new Set(namesOf(dist, fileOf(dist, dirname(file), from)));
    return `export { ${[...names].join(', ')} } from '${from}';`;
  });

/**
 * As a module of CommonJS that asks for others when it uses them. A default of a foreign package is what the package calls so, or all of
 * it where it calls nothing so.
 */
function late(code, { dist, file, outFile }) {
  const written = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
  const text = named(code, dist, file);
  const { code: contents, map } = transformSync(text, {
    ...AS_WRITTEN,
    filename: file,
    sourceMaps: true,
    inputSourceMap: JSON.stringify(written),
    module: {
      type: 'commonjs',
      lazy: [...new Set([...text.matchAll(FROM)].map(([, from]) => from))],
      ignoreDynamic: true,
    },
  });
  const sources = written.sources.map((source) => relative(dirname(outFile), resolve(dirname(file), source)));
  const ours = btoa(JSON.stringify({ ...JSON.parse(map), sources, sourceRoot: undefined, sourcesContent: undefined }));
  return `${contents}\n//# sourceMappingURL=data:application/json;base64,${ours}`;
}

/** For esbuild: `load` is what reads a module, and `outFile` what is made of all. They have names of their own, for in a package of modules nothing else is CommonJS. */
export const loadsLate = (dist, outFile, load) => ({
  name: 'loads-late',
  setup({ onLoad, onResolve, resolve: resolveForeign }) {
    const isOurs = (file) => file.startsWith(`${dist}/`);
    const ours = (file) => (isOurs(file) ? { path: relative(dist, file), namespace: NAMESPACE } : undefined);
    onResolve({ filter: /^(?:\.{0,2}\/|#)/ }, ({ path, resolveDir, namespace, kind }) => {
      if (kind !== 'entry-point' && namespace !== NAMESPACE) return undefined;
      return ours(fileOf(dist, resolveDir, path));
    });
    // Asked for by `require`, a package may be another one than who imports it gets.
    onResolve({ filter: /^[^./#]/, namespace: NAMESPACE }, ({ path, resolveDir, kind }) =>
      kind === 'require-call' ? resolveForeign(path, { resolveDir, kind: 'import-statement' }) : undefined,
    );
    onLoad({ filter: /\.js$/, namespace: NAMESPACE }, ({ path }) => {
      const file = join(dist, path);
      const { contents, ...more } = load({ path: file });
      return { ...more, contents: late(contents, { dist, file, outFile }) };
    });
  },
});
