// What every program of dist/ begins with. The functions are written into its main file, so they hold on to nothing of this one.

/**
 * Stacks name sources. A map is read when somebody reads the first stack; Node itself (`--enable-source-maps`) reads it at every start, which
 * takes a sixth of the time and memory of one.
 *
 * @param {string} dist where the maps lie, as the address of a folder
 * @param {typeof import('node:module').SourceMap} SourceMap
 */
export function nameSources(dist, SourceMap) {
  if (process.sourceMapsEnabled || Error.prepareStackTrace?.namesSources === true) return;
  const { fs, url } = { fs: process.getBuiltinModule('node:fs'), url: process.getBuiltinModule('node:url') };
  const maps = new Map();
  /** Where it can be forgotten: what a map becomes when it is read is many times its file (16 MiB of the console), and errors are rare. */
  const read = (file) => {
    try {
      return new SourceMap(JSON.parse(fs.readFileSync(new URL(`${file}.map`), 'utf8')));
    } catch {
      return undefined; // not ours, or shipped without: the place in the program is named
    }
  };
  const named = (place, file, line, column) => {
    if (!file.startsWith(dist)) return place;
    const map = maps.get(file)?.deref() ?? read(file);
    if (map !== undefined) maps.set(file, new WeakRef(map));
    const { originalSource, originalLine, originalColumn } = map?.findEntry(line - 1, column - 1) ?? {};
    if (!originalSource) return place;
    return `${url.fileURLToPath(new URL(originalSource, file))}:${originalLine + 1}:${originalColumn + 1}`;
  };
  const written =
    Error.prepareStackTrace?.bind(Error) ?? ((error, sites) => [error, ...sites].map(String).join('\n    at '));
  // The client of the bus takes a stack whenever it closes, and nobody reads it: to name its sources took a tenth of a service's whole life.
  const isRead = (error) => error?.message !== 'close trace';
  Error.prepareStackTrace = (error, sites) => {
    const stack = written(error, sites);
    return isRead(error) ? stack.replaceAll(/(file:[^\s()]+?\.c?js):(\d+):(\d+)/gu, named) : stack;
  };
  Error.prepareStackTrace.namesSources = true;
}

/**
 * Runs a program with V8's code of it. Node's own cache (NODE_COMPILE_CACHE, which says where ours lies, too) keeps what is compiled before
 * anything has run: the thousands of functions that a start calls are compiled at every start all the same, a third of its time. Ours is
 * made of a program that has run. Where it can be neither read nor written, everything is compiled as ever.
 *
 * What is kept is of one program, and of one command where the first argument is the name of one.
 */
export function startProgram({ fs, vm, require, url, main, dist, program: { name, digest, flags, cache } }) {
  /** By then a process that goes on has done what every start does, and nothing that V8 would have forgotten again. */
  const STARTED_MS = 10_000;
  const file = main.replace(/\.js$/u, '.cjs');
  const [command = ''] = process.argv.slice(2);
  const folder = process.env.NODE_COMPILE_CACHE ?? (cache && url.fileURLToPath(new URL(cache, dist)));
  const { crc32 } = require('node:zlib'); // Node 22.2
  const kept = folder && crc32 && `${folder}/${name}${/^[a-z][a-z-]{0,30}$/u.test(command) ? `-${command}` : ''}.code`;
  // They are part of what V8 compares.
  for (const [flag, since = 0] of flags.map((one) => [one].flat()))
    if (Number.parseInt(process.versions.v8, 10) >= since) require('node:v8').setFlagsFromString(flag);
  /** Before the code: of which text it is, whether it was made by a process that had started or by one that had ended sooner, and a checksum. */
  const headOf = (code, hasStarted) =>
    `${digest} ${hasStarted ? 'started' : 'ended  '} ${crc32(code).toString(16).padStart(8, '0')}\n`;
  const read = () => {
    try {
      const bytes = fs.readFileSync(kept);
      const at = bytes.indexOf('\n') + 1;
      const [head, code] = [bytes.toString('latin1', 0, at), bytes.subarray(at)];
      const hasStarted = [true, false].find((known) => headOf(code, known) === head);
      return hasStarted === undefined ? undefined : { hasStarted, code };
    } catch {
      return undefined;
    }
  };
  const found = kept ? read() : undefined;
  const emitWarning = process.emitWarning.bind(process);
  // Node tells whoever types a command about the loader below, when the program imports something later.
  process.emitWarning = (warning, ...rest) =>
    String(warning).startsWith('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER') || emitWarning(warning, ...rest);
  const script = new vm.Script(fs.readFileSync(new URL(file), 'latin1'), {
    filename: file,
    cachedData: found?.code,
    importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const isKept = found !== undefined && script.cachedDataRejected === false;
  const keep = (hasStarted) => {
    const next = `${kept}.${process.pid}`;
    try {
      fs.mkdirSync(folder, { recursive: true });
      const code = script.createCachedData();
      try {
        fs.writeFileSync(next, Buffer.concat([Buffer.from(headOf(code, hasStarted)), code]), { mode: 0o600 });
        fs.renameSync(next, kept);
      } finally {
        fs.rmSync(next, { force: true });
      }
    } catch {
      // the next start compiles
    }
  };
  if (kept && !(isKept && found.hasStarted)) {
    const timer = setTimeout(() => (process.off('exit', onExit), keep(true)), STARTED_MS).unref();
    const onExit = (status) => (clearTimeout(timer), status === 0 && !isKept && keep(false));
    process.once('exit', onExit);
  }
  const module = { exports: {} };
  const resolve = (specifier) => url.pathToFileURL(require.resolve(specifier)).href;
  script.runInThisContext()(require, module, module.exports, dist, resolve);
}
