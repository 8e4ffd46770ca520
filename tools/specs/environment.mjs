// Specs run in the realm of their worker, where what one of them loads is loaded for all. What a file sets and forgets is put back
// when it ends: the environment, the working directory, the console, listeners to signals, mocks and the clock.
import { createRequire } from 'node:module';
import { keepCost, secondsSoFar } from './costs.mjs';

const require = createRequire(import.meta.url);
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];

// A worker whose runner was killed would go on with its file, and keep every server that it has started: they end with it.
const endWithRunner = () => process.kill(process.pid, 'SIGKILL');
process.once('disconnect', endWithRunner);
// Who listens for that keeps the process alive. Where the runner is done with a worker nobody takes its messages any more.
process.on('removeListener', (event) => {
  if (event === 'message' && process.listenerCount('message') === 0) process.off('disconnect', endWithRunner);
});
const mocker = new ModuleMocker(globalThis);

export default class SharedEnvironment {
  global = globalThis;
  moduleMocker = mocker;
  fakeTimers = null;
  fakeTimersModern;
  #spec;
  #secondsBefore = secondsSoFar();
  #before = {
    cwd: process.cwd(),
    env: { ...process.env },
    console: globalThis.console,
    exit: Reflect.get(process, 'exit'),
    signals: new Map(SIGNALS.map((name) => [name, process.rawListeners(name)])),
  };

  constructor({ projectConfig }, { testPath }) {
    this.#spec = testPath;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    mocker.restoreAllMocks();
    const { cwd, env, console, exit, signals } = this.#before;
    globalThis.console = console;
    process.exit = exit;
    process.chdir(cwd);
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    for (const [name, value] of Object.entries(env)) if (process.env[name] !== value) process.env[name] = value;
    for (const [name, kept] of signals)
      for (const listener of process.rawListeners(name))
        if (!kept.includes(listener)) process.removeListener(name, listener);
    keepCost(this.#spec, secondsSoFar() - this.#secondsBefore);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Asked for, and used only where a file has a realm of its own. */
  getVmContext() {
    return null;
  }
}
