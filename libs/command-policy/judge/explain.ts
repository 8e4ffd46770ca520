import type { CommandCall, CommandClass, PolicyDecision, PolicyVerdict } from '#proto';
import { type CommandFinding, type Invocation, showWord } from '../words/index.js';
import { judgeCommand } from './judge-command.js';
import { innerOf } from './open-policy.js';
import { type CommandPolicy, type JudgedDevice, decisionOf, verdictOf, type Wall, wallOf } from '../policy/index.js';

/** One thing that was found. */
export interface ExplainedFinding {
  readonly class: CommandClass;
  readonly decision: PolicyDecision;
  readonly rule: string;
  readonly reason: string;
}

/** One program that would be started, however deep it hides; its rule and reason are those of its worst finding. */
export interface ExplainedCommand extends ExplainedFinding {
  /** As it is written, its beginning. */
  readonly text: string;
  /** The words that the program would get; `…` for what is known only when it runs. */
  readonly words?: readonly string[];
  readonly findings?: readonly ExplainedFinding[];
}

export interface Explanation {
  readonly verdict: PolicyVerdict;
  readonly hash: string;
  /** What it would be held to, and what it would be let see. */
  readonly wall: Wall;
  /** In the order in which they were judged: what another command starts comes before it. */
  readonly commands: readonly ExplainedCommand[];
  /** About the text itself, not about one command in it. */
  readonly findings?: readonly ExplainedFinding[];
}

/** Why a policy that `openPolicy` made decides as it does: every command that would run, and what was found in it. */
export function explain(policy: CommandPolicy, command: CommandCall, device?: JudgedDevice): Explanation {
  const inner = innerOf(policy);
  if (inner === undefined)
    return {
      verdict: policy.judge(command, device),
      hash: policy.hash,
      wall: policy.wall(command, device),
      commands: [],
    };
  const settings = inner.settings(device);
  const commands: ExplainedCommand[] = [];
  const told = new Set<string>();
  const explained = (finding: CommandFinding): ExplainedFinding => {
    told.add(keyOf(finding));
    const { class: of, rule, reason } = finding;
    return { class: of, decision: decisionOf(finding, settings.defaults), rule, reason };
  };
  const trace = ({ text, words }: Invocation, all: readonly CommandFinding[]) => {
    const { class: of, decision, rule, reasons } = verdictOf(all, settings.defaults);
    const reason = reasons[0] ?? '';
    commands.push({
      text,
      words: words.map(showWord),
      class: of,
      decision,
      rule,
      reason,
      findings: all.map(explained),
    });
  };
  const all = judgeCommand(command, { settings, parser: inner.parser, links: inner.links, trace });
  const findings = all.filter((finding) => !told.has(keyOf(finding))).map(explained);
  const verdict = verdictOf(all, settings.defaults);
  return { verdict, hash: policy.hash, wall: wallOf(all, verdict.decision), commands, findings };
}

const keyOf = ({ rule, reason }: CommandFinding): string => `${rule}\n${reason}`;
