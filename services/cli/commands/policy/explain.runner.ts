import { addAbortSignal } from 'node:stream';
import { explain, type CommandPolicy, type ExplainedCommand } from '#libs/command-policy';
import { query } from '#libs/messaging';
import { type AskedWall, DeviceId, type PolicyVerdict } from '#proto';
import { visibleText } from '#libs/visible';
import { withBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  failure,
  messageOf,
  EXIT,
  type ExitCode,
  paintFor,
  printJson,
  type CliContext,
} from '../../terminal/index.js';
import { findPolicy, policyOf } from './policy-file.adapter.js';
import { explainedJson, explainedRow, explainedText, shellCall } from './policy-text.js';

export interface ExplainOptions {
  readonly line?: string | undefined;
  readonly stdin?: boolean | undefined;
  readonly device?: string | undefined;
  readonly policy?: string | undefined;
  /** Where lines come from; standard input when absent. */
  readonly input?: AsyncIterable<string>;
}

/** What answers: a policy in this process, or the service. */
interface Judge {
  readonly name: string;
  judge(command: string): Promise<Explained>;
}

interface Explained {
  readonly verdict: PolicyVerdict;
  readonly policyHash: string;
  /** What it would be given; undefined where the service does not say. */
  readonly wall: AskedWall | undefined;
  /** What was found in the command; the service does not tell. */
  readonly commands: readonly ExplainedCommand[];
}

/** What the policy would do with command lines, and why. */
export async function explainPolicy(context: CliContext, options: ExplainOptions): Promise<ExitCode> {
  const { line, stdin, device, policy } = options;
  if ((line === undefined) === !stdin) throw badInput('Give one command line in quotes or --stdin, one of them.');
  if (device === undefined) {
    const found = await findPolicy(context.env, policy);
    return explainAll(context, options, judgeHere(found.name, await policyOf(found)));
  }
  if (policy !== undefined) throw badInput('--device asks the running system, --policy a file: give one of them.');
  const parsed = DeviceId.safeParse(device);
  if (!parsed.success) throw badInput(`"${cleanLine(device)}": ${parsed.error.issues[0]?.message ?? 'no device id'}.`);
  return withBus(context, (nc) =>
    explainAll(context, options, {
      name: `the policy of the running system for ${parsed.data}`,
      judge: async (command) => {
        const request = { deviceId: parsed.data, command: shellCall(command) };
        const { wall, ...judged } = await query(nc, 'device-agent', 'explain', request);
        return { ...judged, wall, commands: [] };
      },
    }),
  );
}

function judgeHere(name: string, policy: CommandPolicy): Judge {
  return {
    name,
    judge: async (command) => {
      const { verdict, hash, wall, commands } = explain(policy, shellCall(command));
      return { verdict, policyHash: hash, wall, commands };
    },
  };
}

async function explainAll(context: CliContext, options: ExplainOptions, judge: Judge): Promise<ExitCode> {
  const { terminal, json, signal } = context;
  const paint = paintFor(terminal);
  if (options.line !== undefined) {
    const command = options.line;
    const { verdict, policyHash, wall, commands } = await judge.judge(command);
    const said = { command, verdict };
    const more = { grantable: verdict.grantable, policyHash, ...(wall !== undefined && { wall }), commands };
    if (json) printJson(context, { ...explainedJson(said), ...more });
    else for (const text of explainedText(said, { wall, commands, policy: judge.name, paint })) terminal.out(text);
    return EXIT.ok;
  }
  for await (const command of options.input ?? standardInput(signal)) {
    const { verdict } = await judge.judge(command);
    const said = { command, verdict };
    terminal.out(json ? visibleText(JSON.stringify(explainedJson(said))) : explainedRow(said, paint));
  }
  return signal.aborted ? EXIT.failure : EXIT.ok;
}

/** Only a line feed ends a line: any other end of a line in a file is a character of the command, and not a harmless one. */
async function* standardInput(signal: AbortSignal): AsyncGenerator<string> {
  let rest = '';
  process.stdin.setEncoding('utf8');
  addAbortSignal(signal, process.stdin);
  try {
    for await (const chunk of process.stdin) {
      const lines = `${rest}${String(chunk)}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (signal.aborted) return;
    throw failure(`Standard input cannot be read: ${messageOf(error)}`, error);
  }
  if (rest !== '') yield rest;
}
