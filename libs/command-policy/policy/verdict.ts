import type { CommandClass, PolicyDecision, PolicyVerdict } from '#proto';
import { DECISIONS, stricterDecision, worseClass, type CommandFinding } from '../words/index.js';

export type Defaults = Readonly<Record<CommandClass, PolicyDecision>>;

const REASONS_MAX = 20;
const REASON_CHARS_MAX = 500;

export const decisionOf = (
  { class: of, atLeast = 'allow', decided }: CommandFinding,
  defaults: Defaults,
): PolicyDecision => decided ?? stricterDecision(defaults[of], atLeast);

/** The worst finding decides; what it says comes first. */
export function verdictOf(findings: readonly CommandFinding[], defaults: Defaults): PolicyVerdict {
  const judged = findings.map((finding) => ({ finding, decision: decisionOf(finding, defaults) }));
  // Stable: of findings that are equally bad the first one speaks.
  judged.sort((a, b) => DECISIONS.indexOf(b.decision) - DECISIONS.indexOf(a.decision));
  const [first] = judged;
  if (first === undefined)
    return { class: 'read', decision: defaults.read, rule: 'nothing', reasons: ['It runs nothing.'], grantable: false };
  const reasons = [...new Set(judged.map(({ finding }) => cut(finding.reason)))].slice(0, REASONS_MAX);
  return {
    class: findings.map((finding) => finding.class).reduce(worseClass),
    decision: first.decision,
    rule: first.finding.rule.slice(0, 128),
    reasons,
    grantable: first.decision !== 'deny' && findings.every(({ grantable }) => grantable !== false),
  };
}

/** Reasons are shown to people: what a command put into them must not move their terminal, and they end. */
function cut(reason: string): string {
  const harmless = reason.replace(/[^\P{C} ]|[\p{Zl}\p{Zp}]/gu, '?');
  return harmless.length <= REASON_CHARS_MAX ? harmless : `${harmless.slice(0, REASON_CHARS_MAX - 1).toWellFormed()}…`;
}
