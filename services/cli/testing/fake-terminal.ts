import type { Terminal } from '../terminal/terminal.js';
import type { CliSurroundings } from '../program.js';

export interface FakeTerminal extends Terminal {
  readonly outLines: string[];
  readonly errLines: string[];
  readonly outBytes: Uint8Array[];
}

/** What a command says after a second without a connection, or without a word of the server: whether it does depends on how busy the machine is. */
const OF_A_BUSY_MACHINE =
  /^(?:connecting to NATS at \S+ for up to \d+ s|NATS at \S+ (?:does not answer; waiting for up to \d+ s|answers again))$/u;

/** What somebody reads, without what is there only because the machine is busy. */
export const unhurried = (text: string): string[] => text.split('\n').filter((line) => !OF_A_BUSY_MACHINE.test(line));

/** Keeps what is printed. A pipe unless told otherwise. */
export function fakeTerminal(overrides: Partial<Terminal> = {}): FakeTerminal {
  const outLines: string[] = [];
  const errLines: string[] = [];
  const outBytes: Uint8Array[] = [];
  return {
    out: (text) => void outLines.push(...text.split('\n')),
    bytes: async (data) => void outBytes.push(data),
    err: (text) => void errLines.push(...unhurried(text)),
    isTerminal: false,
    color: false,
    columns: 100,
    outLines,
    errLines,
    outBytes,
    ...overrides,
  };
}

export function surroundings(terminal: Terminal, env: NodeJS.ProcessEnv = {}): CliSurroundings {
  return { terminal, env, now: () => Date.parse('2026-11-20T12:00:00.000Z'), signal: new AbortController().signal };
}
