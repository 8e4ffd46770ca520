import { fork } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { failure, EXIT, type ExitCode, type CliContext } from '../terminal/index.js';
import { homeOf, makeDir } from '../home/index.js';
import { withSecretFiles } from './given-secrets.adapter.js';
import { printReady, ReadyFacts } from './launch.runner.js';
import type { UpOptions } from '../processes/index.js';

const PRIVATE_DIR = 0o700;
const LAST_WORDS_CHARS = 1_000;

const Message = z.union([z.object({ say: z.string() }), z.object({ ready: ReadyFacts })]);

const main = fileURLToPath(new URL('../main.js', import.meta.url));

/** Starts `up` as a process of its own and returns when it is ready. Until then it speaks to us, afterwards to its log. */
export async function upDetached(context: CliContext, { devices, replicas, desktop }: UpOptions): Promise<ExitCode> {
  const { env, terminal, json, signal } = context;
  const home = homeOf(env);
  await makeDir(home.root, process.getuid?.() === 0 ? 0o711 : PRIVATE_DIR);
  await makeDir(home.logs, PRIVATE_DIR);
  const logFile = home.logFile('up');
  const log = openSync(logFile, 'w', 0o600);
  const replicaWords = Object.entries(replicas).flatMap(([name, count]) => ['--replicas', `${name}=${count}`]);
  const child = fork(main, ['up', '--devices', String(devices), ...replicaWords, ...(desktop ? ['--desktop'] : [])], {
    // The environment of a process that stays can be read as long as it runs.
    env: await withSecretFiles(home, env),
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const giveUp = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const facts = await new Promise<ReadyFacts>((resolve, reject) => {
      child.on('message', (message) => {
        const { data } = Message.safeParse(message);
        if (data === undefined) return;
        if ('ready' in data) resolve(data.ready);
        else if (json) terminal.err(data.say);
        else terminal.out(data.say);
      });
      child.once('error', reject);
      child.once('exit', () => resolve(Promise.reject(new Error('ended'))));
    });
    printReady(context, facts);
    child.disconnect();
    child.unref();
    return EXIT.ok;
  } catch (error) {
    const words = (await readFile(logFile, 'utf8').catch(() => '')).slice(-LAST_WORDS_CHARS).trim();
    throw failure(words.replace(/^orrery: /u, '') || `The system did not start; see ${logFile}.`, error);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
