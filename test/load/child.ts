import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** One of our small programs beside this file, which Node runs as it is. It ends with us. */
export function start(program: string): ChildProcess {
  return fork(join(import.meta.dirname, program), {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Its next message. */
export async function said<T>(child: ChildProcess): Promise<T> {
  const gone = once(child, 'exit').then(([code]) => Promise.reject(new Error(`a helper ended with ${String(code)}`)));
  const [message] = (await Promise.race([once(child, 'message'), gone])) as [T];
  gone.catch(() => undefined);
  return message;
}
