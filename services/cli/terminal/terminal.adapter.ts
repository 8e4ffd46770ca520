import { wantsColor, type Terminal } from './terminal.js';

const COLUMNS_WITHOUT_TERMINAL = 100;

/** A pipe that nobody reads any more, a terminal window that was closed. */
const READER_GONE = new Set(['EPIPE', 'EIO']);

/** The real standard output and error. A reader that went away (`orrery runs | head`) ends the printing, it is no error. */
export function processTerminal(env: NodeJS.ProcessEnv): Terminal {
  const { stdout, stderr } = process;
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!READER_GONE.has(error.code ?? '')) throw error;
    });
  }
  const isTerminal = stdout.isTTY;
  return {
    out: (text) => void stdout.write(`${text}\n`),
    bytes: (data) => new Promise((resolve) => void stdout.write(data, () => resolve())),
    err: (text) => void stderr.write(`${text}\n`),
    isTerminal,
    color: wantsColor(env, isTerminal),
    columns: stdout.columns ?? COLUMNS_WITHOUT_TERMINAL,
  };
}
