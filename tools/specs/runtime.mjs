// Jest's runtime for specs that are modules of Node itself: the runner, reporters and assertions are Jest's, the loader is Node's.
import { createRequire, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { quick } from './expect.mjs';
import { setCurrent } from './globals.mjs';
import { sourceMaps } from './sources.mjs';

const require = createRequire(import.meta.url);
/** What a file can set for itself, kept by Jest on the global object of its realm. */
const OF_ONE_FILE = [Symbol.for('EVENT_HANDLERS'), Symbol.for('TEST_TIMEOUT_SYMBOL'), Symbol.for('RETRY_TIMES')];
/** Between two frames of a stack. */
const AT = '\n    at ';

/**
 * Jest copies every frame of a stack to say where it stands in a source: so does this, for frames of what was compiled. Who notes a stack
 * for each of its calls, as the driver of a browser does, has no others.
 */
function stackWith(mapped) {
  const isCompiled = (frame) => sourceMaps.has(frame.getFileName());
  return ({ name, message }, frames) => {
    const compiled = frames.filter(isCompiled);
    const places = compiled.length === 0 ? [] : mapped({}, compiled).split(AT).slice(1);
    const lines = frames.map((frame) => (isCompiled(frame) ? places.shift() : String(frame)));
    return [`${name ?? 'Error'}: ${message ?? ''}`, ...lines].join(AT);
  };
}

/** The parts of `jest` that specs use. There is no mocking of modules: they are shared. */
function jestObject(environment) {
  const { moduleMocker: mocker, fakeTimersModern: timers } = environment;
  const jest = {
    fn: (implementation) => mocker.fn(implementation),
    spyOn: (...args) => mocker.spyOn(...args),
    useFakeTimers: (settings) => (timers.useFakeTimers(settings), jest),
    useRealTimers: () => (timers.useRealTimers(), jest),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    runOnlyPendingTimers: () => timers.runOnlyPendingTimers(),
    clearAllTimers: () => timers.clearAllTimers(),
    getTimerCount: () => timers.getTimerCount(),
    setTimeout: (ms) => ((globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms), jest),
  };
  return jest;
}

export default class SharedRuntime {
  #environment;
  #url;

  constructor(_config, environment, _resolver, _transformer, _cache, _coverage, testPath) {
    this.#environment = environment;
    this.#url = pathToFileURL(testPath).href;
    for (const name of OF_ONE_FILE) delete globalThis[name];
  }

  /** Jest's own state of a file: its tests, hooks and handlers. Evaluated anew for each. */
  requireInternalModule(file) {
    delete require.cache[file];
    return require(file);
  }

  requireModule(file) {
    return require(file);
  }

  setGlobalsForRuntime(globals) {
    const [jest, expect] = [jestObject(this.#environment), quick(globals.expect)];
    // Jest has set its own for this file.
    Error.prepareStackTrace = stackWith(Error.prepareStackTrace.bind(Error));
    setCurrent({ ...globals, jest, expect, url: this.#url });
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(file) {
    return import(pathToFileURL(file).href);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {
    flushCompileCache();
  }
}
