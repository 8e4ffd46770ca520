import { CliCommand } from '../terminal/index.js';
import { defineCommands } from '../commands/index.js';

/** A command that does something, and words with which it gets as far as it can. */
export interface Verb {
  /** `dlq drop`. */
  readonly name: string;
  readonly words: readonly string[];
}

const RUN = 'a'.repeat(26);
const APPROVAL = `${RUN}.disk.1.1.1`;

/** By the name of an argument. */
const WORDS: Readonly<Record<string, string>> = {
  run: RUN,
  'run|file': RUN,
  task: 'disk',
  text: 'well',
  approval: APPROVAL,
  entry: '4kq7w2m9x0ab',
  id: 'web-1',
  device: 'web-1',
  token: 'f'.repeat(64),
  sha256: 'f'.repeat(64),
  name: 'fleet-health',
  service: 'console',
  words: 'disk',
  shell: 'bash',
  context: 'nowhere',
  key: 'free_gb',
  value: '120',
};

/** What a command needs besides its arguments; where it begins with no `-`, instead of them. */
const MORE: Readonly<Record<string, string>> = {
  'attention settle': '--reason well',
  submit: 'fleet-health --wait --output',
  fork: '--at 1',
  propose: '-f FILE',
  'devices hold': '--all',
  'devices release': '--all',
  'devices set': 'web-1 rack=r7',
  'clients enroll': '--id client-1',
  'people role': '--give operator',
  'people limits': '--open-runs 5',
  'people key': '--public-key KEY',
  'people login': '--issuer https://login.example.org --subject 1',
  'dlq show': '1',
  'dlq retry': '1',
  'dlq drop': '1',
  verify: RUN,
  'policy explain': 'ls --device web-1',
  'policy check': 'FILE',
  'settings prompt': 'device-agent/linux-agent.yaml',
  'runbooks check': 'FILE',
  'runbooks save': '--name saved',
  'runbooks approve': 'fleet-health',
  'experience demonstrate': '-f STEPS',
  'mcp revoke': '--all',
};

interface Given {
  /** A file with edits of a plan. */
  readonly file: string;
  /** A file with what somebody did by hand. */
  readonly steps: string;
  /** A public key of the bus. */
  readonly key: string;
}

/** Every command there is, from the table that the program itself is made of. Throws for an argument that nobody has words for. */
export function everyVerb(given: Given): Verb[] {
  const program = new CliCommand(async () => {}, 'orrery');
  defineCommands(program);
  return verbsBelow(program, []).map(({ name, words }) => ({
    name,
    words: words.map((word) => ({ FILE: given.file, STEPS: given.steps, KEY: given.key })[word] ?? word),
  }));
}

function verbsBelow(command: CliCommand, path: readonly string[]): Verb[] {
  const below = command.commands.flatMap((child) => verbsBelow(child as CliCommand, [...path, child.name()]));
  return path.length > 0 && command.isVerb ? [verbOf(command, path.join(' ')), ...below] : below;
}

function verbOf(command: CliCommand, name: string): Verb {
  const more = MORE[name] ?? '';
  const needed = command.registeredArguments.filter(({ required }) => required);
  const own = more === '' || more.startsWith('-') ? needed.map((argument) => wordFor(name, argument.name())) : [];
  const timeout = command.options.some(({ long }) => long === '--timeout') ? ['--timeout', '1'] : [];
  return { name, words: [...name.split(' '), ...own, ...more.split(' ').filter((word) => word !== ''), ...timeout] };
}

function wordFor(verb: string, argument: string): string {
  const word = WORDS[argument];
  if (word === undefined)
    throw new Error(`Which word is a <${argument}>, for "orrery ${verb}"? Say it in WORDS or MORE.`);
  return word;
}
