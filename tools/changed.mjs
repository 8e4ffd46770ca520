// What a change can break: the specs that import a changed file, directly or through others. An import of a package names what it takes,
// and is followed to the file where that is made: a package's index would otherwise tie everything to everything.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const FOLDERS = ['proto', 'libs', 'services', 'test'];
/** A change of these can break anything. */
const OF_EVERYTHING = /^(?:package(?:-lock)?\.json|jest\.config\.mjs|tsconfig\.json|\.swcrc|orrery|tools\/.*)$/u;
/** They read the tree instead of importing it. The static checks take longer than all else: they belong to a whole run. */
const OF_THE_TREE = /^test\/architecture\/(?!static).*\.spec\.ts$/u;
const FROM = /^(import|export)\s+(type\s+)?([^;]*?)\s*from\s+'([^']+)';/gmu;
const LOOSE = /(?:^import\s+|\bimport\()'([^']+)'/gmu;
/** A program that is started by its path: of the source, or of what is built from it. */
const PROGRAM = /'(?:dist\/)?((?:proto|libs|services|test)\/[\w./-]+)\.(?:ts|js)'/gu;
const QUOTED = /['"`]([\w.$@{}/-]+)['"`]/gu;
const MADE =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+([\w$]+)/gmu;
const ALL = '*';
/** Pages of the web application are named `.tsx`, and imported as `.js` like all others. */
const SOURCE = /\.tsx?$/u;

/** Of `{ a, type B, c as d }`: what the other file calls them, and what they are called here. Types break no test that runs. */
function namesOf(clause) {
  const braces = /\{([^}]*)\}/u.exec(clause);
  if (braces === null) return [{ there: ALL, here: /as\s+([\w$]+)/u.exec(clause)?.[1] ?? ALL }];
  const inBraces = braces[1].split(',').map((name) => name.trim());
  return inBraces
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/u))
    .map(([there, here = there]) => ({ there, here }));
}

/** The tree as a graph: `importersOf(file)`, by paths relative to the root. Who imports what is gone is known by that file's name. */
export function readGraph(root, gone = []) {
  const files = new Map(gone.map((file) => [file, undefined]));
  for (const folder of FOLDERS.filter((name) => existsSync(join(root, name)))) {
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (SOURCE.test(name)) files.set(join(folder, name), undefined);
    }
  }
  const target = (from, specifier) => {
    if (specifier === '#proto') return files.has('proto/index.ts') ? 'proto/index.ts' : undefined;
    const path = specifier.startsWith('#libs/')
      ? `libs/${specifier.slice(6)}/index.ts`
      : relative(root, resolve(root, dirname(from), specifier.replace(/\.js$/u, '.ts')));
    return [path, `${path}x`].find((one) => files.has(one));
  };
  for (const file of files.keys())
    files.set(
      file,
      readFile(
        gone.includes(file) ? '' : readFileSync(join(root, file), 'utf8'),
        (to) => target(file, to),
        (path) => (files.has(path) && path !== file ? path : undefined),
      ),
    );

  /** Where a name of a file is made: the file itself, or those it passes the name on from. */
  const makersOf = (file, name, seen = new Set()) => {
    const { made, passed } = files.get(file);
    if (seen.has(file) || made.has(name)) return [file];
    seen.add(file);
    const through = passed.filter(({ here }) => name === ALL || here === name || here === ALL);
    const found = through.flatMap(({ to, there, here }) => makersOf(to, here === ALL ? name : there, seen));
    return name === ALL || found.length === 0 ? [file, ...found] : found;
  };
  const importers = new Map();
  for (const [file, { taken, passed }] of files) {
    const own = [...taken, ...passed.map(({ to, there }) => ({ to, there }))];
    const sources = new Set(own.flatMap(({ to, there }) => makersOf(to, there)));
    for (const source of sources) if (source !== file) importers.set(source, [...(importers.get(source) ?? []), file]);
  }
  // Whoever only passes names on is no station on the way: its importers are linked to the makers.
  const passesOnly = (file) =>
    files.get(file).made.size === 0 && files.get(file).passed.length > 0 && files.get(file).taken.length === 0;
  return {
    files: [...files.keys()],
    importersOf: (file) => (importers.get(file) ?? []).filter((importer) => !passesOnly(importer)),
  };
}

function readFile(text, target, program) {
  const [taken, passed] = [[], []];
  for (const [, kind, isType, clause, specifier] of text.matchAll(FROM)) {
    const to = isType === undefined ? target(specifier) : undefined;
    if (to === undefined) continue;
    const list = kind === 'export' ? passed : taken;
    for (const names of namesOf(clause)) list.push({ to, ...names });
  }
  for (const [, specifier] of text.matchAll(LOOSE)) {
    const to = target(specifier);
    if (to !== undefined) taken.push({ to, there: ALL });
  }
  for (const [, path] of text.matchAll(PROGRAM)) {
    const to = program(`${path}.ts`);
    if (to !== undefined) taken.push({ to, there: ALL });
  }
  return { taken, passed, made: new Set([...text.matchAll(MADE)].map(([, name]) => name)) };
}

/** The shortest way from a changed file to each spec that can see it: `{ spec, way }`, nearest first. */
export function specsOf(graph, changed) {
  const ways = new Map(changed.map((file) => [file, [file]]));
  for (const [file, way] of ways) {
    for (const importer of graph.importersOf(file)) if (!ways.has(importer)) ways.set(importer, [...way, importer]);
  }
  return [...ways].filter(([file]) => file.endsWith('.spec.ts')).map(([spec, way]) => ({ spec, way }));
}

/** Files that differ from where this branch left `main`, and files that are not committed. */
export function changedFiles(root) {
  const git = (...words) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const base =
    ['main', 'origin/main'].flatMap((branch) => {
      try {
        return [git('merge-base', 'HEAD', branch)];
      } catch {
        return [];
      }
    })[0] ?? 'HEAD';
  const listed = `${git('diff', '--name-only', '--no-renames', base)}\n${git('ls-files', '--others', '--exclude-standard')}`;
  return { base, files: [...new Set(listed.split('\n').filter((file) => file !== ''))].toSorted() };
}

const isSource = (file) => SOURCE.test(file) && FOLDERS.includes(file.split('/', 1)[0]);

/** What is in quotes in a source, but for what it imports. */
const wordsOf = (text) => [...text.matchAll(QUOTED)].map(([, word]) => word).filter((word) => !word.endsWith('.js'));

/** Whether this word of a source is a file, by its name or path, or a folder that it is in, by its whole path. */
function isNamedBy(file, word, reader) {
  if (word.split('/').at(-1) === basename(file)) return true;
  const path = file.startsWith(`${word}/`) ? word : relative('/', resolve('/', dirname(reader), word));
  return path !== '' && !FOLDERS.includes(path) && (path === file || file.startsWith(`${path}/`));
}

/** `{ all }` with the file that can break everything, or `{ chosen, read }`: specs with their ways, and those that read the tree. */
export function choose(root, changed) {
  const all = changed.find((file) => OF_EVERYTHING.test(file));
  if (all !== undefined || changed.length === 0) return { all, chosen: [] };
  const gone = changed.filter((file) => isSource(file) && !existsSync(join(root, file)));
  const graph = readGraph(root, gone);
  const known = changed.filter((file) => graph.files.includes(file));
  const chosen = specsOf(graph, known).filter(({ spec }) => !gone.includes(spec));
  const texts = graph.files
    .filter((file) => !gone.includes(file))
    .map((file) => ({ file, words: wordsOf(readFileSync(join(root, file), 'utf8')) }));
  // What is no module of a spec is read by its name: prompts, fixtures, documents, pages.
  for (const file of changed.filter((name) => !name.endsWith('.ts'))) {
    const readers = texts.filter((reader) => reader.words.some((word) => isNamedBy(file, word, reader.file)));
    const specs = specsOf(
      graph,
      readers.map((reader) => reader.file),
    );
    for (const { spec, way } of specs)
      if (!chosen.some((one) => one.spec === spec)) chosen.push({ spec, way: [file, ...way] });
  }
  const ofTheTree = graph.files
    .filter((file) => OF_THE_TREE.test(file))
    .map((spec) => ({ spec, way: ['the tree', spec] }));
  const isChosen = new Set(chosen.map(({ spec }) => spec));
  return { all: undefined, chosen: [...chosen, ...ofTheTree.filter(({ spec }) => !isChosen.has(spec))] };
}
