// What a program would do at each start because somebody else wrote it so: done when it is first needed, or once. Whoever writes it in
// another way one day is told by the build, which knows it no more.

/** What is changed in files of packages. */
const FOREIGN = [
  // Nest makes two of these to write times with, which no logger of ours does: a fortieth of a start each.
  {
    file: /\/@nestjs\/common\/services\/logger\.service\.js$/u,
    from: /const dateTimeFormatter = (new Intl\.DateTimeFormat\([^)]*\));/gu,
    to: (_, made) => `let made; const dateTimeFormatter = { format: (time) => (made ??= ${made}).format(time) };`,
  },
  // Two tables of all types of media that there are, for who asks for one: a thousand entries, of a list that is read for nothing else.
  {
    file: /\/mime-types\/index\.js$/u,
    from: /^populateMaps\(exports\.extensions, exports\.types\)$/gmu,
    to: () => `let isFilled = false
for (const name of ['extensions', 'types']) {
  const map = exports[name]
  const get = () => {
    if (!isFilled) {
      isFilled = true
      populateMaps(exports.extensions, exports.types)
    }
    return map
  }
  Object.defineProperty(exports, name, { get })
}`,
  },
  {
    file: /\/mime-types\/index\.js$/u,
    from: /^var db = (require\('mime-db'\))$/gmu,
    to: (_, db) => `const all = () => ${db}`,
  },
  { file: /\/mime-types\/index\.js$/u, from: /\bdb\b(?=\[|\))/gu, to: () => 'all()' },
  // Nest has it ready for forms that somebody uploads, with a list of all types of media that there were; no service takes any.
  {
    file: /\/multer\/index\.js$/u,
    from: /^[^]+$/u,
    to: () => `module.exports = () => { throw new Error('no service takes uploaded forms: see tools/quicker.mjs') };`,
  },
  // A schema of objects writes a function of its own to read them with: dear, and worth it to who reads more of them than a start does.
  {
    file: /\/zod\/v4\/core\/schemas\.js$/u,
    from: /^(\s*)if \(!fastpass\)(?=\s*fastpass = generateFastpass\(def\.shape\);$)/gmu,
    to: (_, margin) =>
      `${margin}if (!fastpass && ++reads <= 8) return superParse(payload, ctx);\n${margin}if (!fastpass)`,
  },
  { file: /\/zod\/v4\/core\/schemas\.js$/u, from: /^\s*let fastpass;$/gmu, to: (text) => `${text} let reads = 0;` },
];

/** What is changed in what esbuild writes before a program. */
const HELPERS = [
  // Each time that a function is made, it is given the name that it had before it was renamed: most still have theirs, and to ask is quicker.
  {
    used: '__name(',
    from: /__name\s*=\s*\(target,\s*value\)\s*=>\s*(?=__defProp\()/u,
    to: '__name=(target,value)=>target.name===value?target:',
  },
  // Each module that imports one of CommonJS has a copy of all its names, rxjs alone 31 times: one is enough.
  {
    used: '__toESM(',
    from: /__toESM\s*=\s*(?=\(mod,)/u,
    to:
      '__seen=[new WeakMap,new WeakMap],__toESM=(mod,isNodeMode)=>{if(Object(mod)!==mod)return __asESM(mod,isNodeMode);' +
      'let seen=__seen[+!!isNodeMode],made=seen.get(mod);if(!made)seen.set(mod,made=__asESM(mod,isNodeMode));return made},__asESM=',
  },
];

function changed(text, { from, to }, of) {
  const after = text.replace(from, to);
  if (after === text) throw new Error(`${of} is written in another way than is known here: ${from}`);
  return after;
}

/** A module of a package. */
export const quicker = (path, text) =>
  FOREIGN.filter(({ file }) => file.test(path)).reduce((before, change) => changed(before, change, path), text);

/** A program that esbuild has made. */
export const withQuickerHelpers = (path, text) =>
  HELPERS.filter(({ used }) => text.includes(used)).reduce((before, change) => changed(before, change, path), text);
