import { z } from 'zod';
import { printJson, tellNext, type CliContext, type NextStep } from '../terminal/index.js';
import { Endpoints } from '../home/index.js';

export const ReadyFacts = z.object({
  home: z.string(),
  pid: z.int(),
  endpoints: Endpoints,
  /** On the first start only. */
  adminToken: z.string().optional(),
});
export type ReadyFacts = z.infer<typeof ReadyFacts>;

const FIRST_STEPS: readonly NextStep[] = [
  { words: 'orrery console', what: 'see all of it in your browser: a link that logs you in' },
  { words: 'orrery submit fleet-health --wait', what: 'a first run; "orrery runbooks" lists more' },
  { words: 'orrery status', what: 'how it is, and what needs somebody' },
  { words: 'orrery devices enroll --help', what: 'another machine becomes a device' },
];

/** How a system tells its launcher how far it is. */
interface Launch {
  readonly say: (text: string) => void;
  readonly ready: (facts: ReadyFacts) => void;
}

/** Says things here, or to the process that started us detached: then our own output is a log file. */
export function launchOf(context: CliContext): Launch {
  const { terminal, json } = context;
  const sayHere = (text: string): void => (json ? terminal.err(text) : terminal.out(text));
  const parent = process.send === undefined ? undefined : process;
  return {
    say: (text) => {
      if (parent?.connected === true) parent.send?.({ say: text });
      else sayHere(text);
    },
    ready: (facts) => {
      if (parent?.connected === true) parent.send?.({ ready: facts });
      else printReady(context, facts);
    },
  };
}

export function printReady(context: CliContext, facts: ReadyFacts): void {
  const { terminal, json } = context;
  if (json) return printJson(context, facts);
  const { endpoints, home } = facts;
  terminal.out('');
  terminal.out(`ready in ${home}`);
  for (const name of ['console', 'aip', 'mcp', 'nats', 'postgres'] as const) {
    const address = endpoints[name];
    if (address !== undefined) terminal.out(`  ${name.padEnd(9)} ${address}`);
  }
  tellNext(context, FIRST_STEPS);
  terminal.out('');
}
