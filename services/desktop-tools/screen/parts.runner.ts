import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Part } from './display-server.js';

/** That of util-linux: others of this name know less. */
const SETPRIV = '/usr/bin/setpriv';
const END_MS_MAX = 4_000;

interface RunningPart {
  readonly program: string;
  readonly child: ChildProcess;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
}

/** The programs of one screen: they end together. */
export class Parts {
  readonly #running: RunningPart[] = [];

  /** With this environment. It ends when we do, however we end. */
  start({ program, args }: Part, env: NodeJS.ProcessEnv, cwd = env['HOME']): RunningPart {
    const child = spawn(SETPRIV, ['--pdeathsig', 'KILL', '--', program, ...args], {
      env,
      cwd,
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    const ended = Promise.race([
      once(child, 'exit').then(([code, by]) => `${program} has ended (${String(by ?? code)})`),
      once(child, 'error').then(([error]) => `${program} could not be started: ${String(error)}`),
    ]);
    ended.catch(() => undefined);
    const part = { program, child, ended };
    this.#running.push(part);
    return part;
  }

  /** Starts a program that says in a line on its descriptor 3 where it is. Throws when it ends before, or something else does. */
  async told(part: Part, env: NodeJS.ProcessEnv): Promise<string> {
    const { child } = this.start(part, env);
    const line = firstLine(child.stdio[3] as NodeJS.ReadableStream);
    const text = await Promise.race([line, this.ended().then((words) => Promise.reject(new Error(words)))]);
    if (text === undefined) throw new Error(await this.ended());
    return text;
  }

  /** Resolves with the words about the first that ends. */
  ended(): Promise<string> {
    return Promise.race(this.#running.map(({ ended }) => ended));
  }

  /** The last one first: what is worked with before what it works on. */
  async end(): Promise<void> {
    for (const { child, ended } of this.#running.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
      child.kill('SIGTERM');
      await ended;
      clearTimeout(late);
    }
  }
}

/** Undefined when the stream ends without one. */
async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  let text = '';
  stream.setEncoding('utf8');
  for await (const piece of stream) {
    text += String(piece);
    const [line, ...more] = text.split('\n');
    if (more.length > 0) return line;
  }
  return undefined;
}
