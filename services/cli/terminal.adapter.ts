import { wantsColor, type Terminal } from './terminal.js';

const COLUMNS_WITHOUT_TERMINAL = 100;

/** The real standard output and error. A reader that went away (`orrery runs | head`) ends the printing, it is no error. */
export function processTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  const isTerminal = stdout.isTTY === true;
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    isTerminal,
    color: wantsColor(env, isTerminal),
    columns: stdout.columns ?? COLUMNS_WITHOUT_TERMINAL,
  };
}
