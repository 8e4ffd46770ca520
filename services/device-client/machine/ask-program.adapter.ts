import { execa } from 'execa';

const ANSWER_MS = 5_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * What a program that knows of the machine says; nothing of one that is not there, says too much, or nothing in time. It gets no more
 * than this time whatever becomes of it: what it has started may keep its output open, and who waits for a driver cannot even be killed.
 */
export async function programAnswer(program: string, words: readonly string[], withinMs = ANSWER_MS): Promise<string> {
  const asked = execa(program, words, {
    // A group of its own: what it has started ends with it.
    detached: true,
    maxBuffer: ANSWER_BYTES_MAX,
    stdin: 'ignore',
    stderr: 'ignore',
    reject: false,
  });
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), withinMs);
  try {
    const answer = await Promise.race([asked, late]);
    if (answer === undefined || answer.isMaxBuffer) endGroup(asked.pid);
    if (answer === undefined) asked.stdout.destroy();
    return answer?.stdout ?? '';
  } finally {
    clearTimeout(timer);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
