import { Call, type CallJudging, plainCallFindings } from '../calls/index.js';
import {
  dynamic,
  floor,
  type CommandFinding,
  type Invocation,
  type Redirect,
  variableFindings,
  showWord,
  type Word,
} from '../words/index.js';
import { PROGRAMS } from '../programs/index.js';
import { ruled } from './rules.js';

/** All that is to be said about one command, and about the commands that it starts. */
export function judgeInvocation(invocation: Invocation, judging: CallJudging): readonly CommandFinding[] {
  judging.budget.left -= 1;
  const [program, ...args] = invocation.words;
  const name = program === undefined ? undefined : nameOf(program, judging);
  const shown = name?.known ?? (program === undefined ? 'the shell' : showWord(program));
  const call = new Call(shown, args, invocation, judging);
  const own = [
    ...assignmentFindings(invocation),
    ...invocation.redirects.flatMap((redirect) => redirectFindings(redirect, call)),
    ...(name === undefined || program === undefined ? [] : programFindings(name, program, call)),
  ];
  own.push(...plainCallFindings(call));
  const findings = ruled(own, { name: shown, call }, judging.settings);
  judging.trace?.(invocation, findings);
  return findings;
}

function assignmentFindings({ assignments }: Invocation): CommandFinding[] {
  return assignments.flatMap(({ name, value, exported }) => [
    ...variableFindings(name, exported),
    ...(value?.text !== undefined && /\$\(|`/u.test(value.text)
      ? [dynamic('hidden-command', `The text of ${name} holds a command that arithmetic would run.`)]
      : []),
  ]);
}

/** A redirection is the shell's doing: a rule about the program says nothing about it. */
function redirectFindings({ operator, target }: Redirect, call: Call): CommandFinding[] {
  const isCopy = operator.endsWith('&') && /^(?:\d+-?|-)$/u.test(target.text ?? '');
  if (isCopy) return [];
  if (/[$`(=]/u.test(target.text ?? ''))
    return [dynamic('strange-path', `${showWord(target)} is a strange name for a file.`)];
  const isRead = operator === '<' || operator === '<&';
  if (isRead && /^\/dev\/(?:tcp|udp)\//u.test(target.text ?? ''))
    return [floor('shell-socket', 'A shell would open a connection by a path.')];
  const found = isRead ? call.read(target) : call.write(target);
  return found.map((finding) => (finding.kind === 'program' ? { ...finding, kind: 'path' } : finding));
}

type Name = { readonly known: string } | { readonly known?: undefined; readonly finding: CommandFinding };

/** A program is known by its name only where nobody else can put another one. */
function nameOf(word: Word, { settings }: CallJudging): Name {
  const { text } = word;
  if (text === undefined)
    return { finding: dynamic('dynamic-program', `Which program runs is known only when it runs: ${showWord(word)}.`) };
  if (!text.includes('/')) {
    if (/^[\w.+:[\]!@-]+$/u.test(text)) return { known: text };
    return { finding: dynamic('strange-program', `${text} is a strange name for a program.`) };
  }
  const at = text.lastIndexOf('/');
  const [directory, base] = [text.slice(0, at), text.slice(at + 1)];
  if (settings.programDirectories.has(directory) && /^[\w.+[-]+$/u.test(base)) return { known: base };
  return {
    finding: {
      kind: 'program',
      class: 'privileged',
      atLeast: 'approve',
      rule: 'program-path',
      reason: `${text} is not one of the system's programs.`,
    },
  };
}

/** Programs whose options do harm: the name of a file must not become one. */
const CAREFUL = new Set(
  'sort uniq date git rsync tar sed awk gawk mawk find zip unzip xxd less more curl wget ssh scp rg jq split csplit ip env xargs install ln tcpdump dpkg rpm kubectl docker systemctl journalctl sysctl hostname mount dmesg file shuf iconv tree cp mv chmod diff'.split(
    ' ',
  ),
);

function globFindings(call: Call): CommandFinding[] {
  const isOption = call.args.some(
    ({ glyphs, dynamic: isDynamic }) => !isDynamic && (glyphs[0] ?? 0) < 0 && glyphs.length <= 2,
  );
  return CAREFUL.has(call.name) && isOption
    ? [dynamic('dynamic-argument', `The name of a file could be an option of ${call.name}.`)]
    : [];
}

/** Programs that do no harm whatever their arguments are. */
const INERT = new Set('echo printf : true false sleep basename dirname seq expr'.split(' '));

function splitFindings(call: Call): CommandFinding[] {
  const word = INERT.has(call.name) ? undefined : call.args.find(({ splits }) => splits === true);
  return word === undefined
    ? []
    : [dynamic('dynamic-argument', `Without quotes ${showWord(word)} can become several arguments of ${call.name}.`)];
}

function programFindings(name: Name, program: Word, call: Call): readonly CommandFinding[] {
  if (name.known === undefined) return [name.finding, ...call.floorsIn(call.args)];
  const judge = PROGRAMS.get(name.known);
  if (call.invocation.functions.has(name.known) && program.text === name.known) {
    if (judge === undefined)
      return [
        { kind: 'program', class: 'read', rule: 'function', reason: `${name.known} is a function of this text.` },
      ];
    return [dynamic('shadowed-program', `The text gives ${name.known} another meaning.`), ...judge(call)];
  }
  if (judge !== undefined) return [...globFindings(call), ...splitFindings(call), ...judge(call)];
  return [
    call.ask('privileged', 'is not a program that the policy knows.', { rule: 'unknown-program' }),
    ...call.floorsIn(call.args),
  ];
}
