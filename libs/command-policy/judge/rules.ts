import type { PolicyDecision } from '#proto';
import type { Call } from '../calls/index.js';
import {
  DECISIONS,
  floor,
  worseClass,
  type CommandFinding,
  canMeet,
  glyphsOf,
  patternGlyphs,
  pathSet,
  type PathSet,
  viewsIn,
} from '../words/index.js';
import { type RuleMatch, type Settings, decisionOf } from '../policy/index.js';

export interface RuledFindings {
  readonly name: string;
  readonly call: Call;
}

/** What a policy's own rules make of the findings about one command: the floor and what is not understood stay. */
export function ruled(
  findings: readonly CommandFinding[],
  about: RuledFindings,
  settings: Settings,
): readonly CommandFinding[] {
  const floors = settings.floor
    .filter(({ match }) => matches(match, findings, about))
    .map(({ id, reason }) => floor(`policy.${id}`, reason ?? `The policy forbids it (${id}).`));
  const rule = settings.rules.find(({ match }) => matches(match, findings, about));
  if (rule === undefined) return [...floors, ...findings];
  const { decision, id, match, reason } = rule;
  // Of a command that starts another one a rule must name the other one too.
  const isKnown =
    about.call.args.every(({ dynamic }) => !dynamic) && !(about.call.startsOthers && match.args === undefined);
  const kept = findings.filter((finding) => {
    if (DECISIONS.indexOf(decisionOf(finding, settings.defaults)) <= DECISIONS.indexOf(decision)) return false;
    // A rule that lets more happen gives way to all that it does not speak of.
    if (finding.kind === 'floor' || finding.kind === 'syntax') return true;
    return !isKnown || (finding.kind === 'path' && match.paths === undefined);
  });
  const of = findings.map((finding) => finding.class).reduce(worseClass, 'read');
  const said = decided(`policy.${id}`, reason ?? `The policy says so (${id}).`, { of, decision });
  return [...floors, ...kept, { ...said, views: viewsIn(findings) }];
}

const decided = (
  rule: string,
  reason: string,
  { of, decision }: { of: CommandFinding['class']; decision: PolicyDecision },
): CommandFinding => ({
  kind: decision === 'deny' ? 'floor' : 'program',
  class: of,
  decided: decision,
  rule,
  reason,
  ...(decision === 'deny' ? { grantable: false } : {}),
});

function matches(match: RuleMatch, findings: readonly CommandFinding[], { name, call }: RuledFindings): boolean {
  const program = match.program === undefined || [match.program].flat().some((one) => fits(one, name));
  const args =
    match.args === undefined ||
    match.args.every((one, at) => call.args[at]?.text !== undefined && fits(one, call.args[at].text));
  const of = findings.map((finding) => finding.class).reduce(worseClass, 'read');
  const isClass = match.class === undefined || [match.class].flat().includes(of);
  return program && args && isClass && (match.paths === undefined || allIn(match.paths, call));
}

function allIn(paths: readonly string[], call: Call): boolean {
  const set = setOf(paths);
  return call.allPaths.length > 0 && call.allPaths.every((path) => set.covers(path));
}

const sets = new WeakMap<readonly string[], PathSet>();

function setOf(paths: readonly string[]): PathSet {
  const known = sets.get(paths);
  if (known !== undefined) return known;
  const made = pathSet(paths);
  sets.set(paths, made);
  return made;
}

/** `*` stands for any text. */
const fits = (pattern: string, text: string): boolean =>
  canMeet(glyphsOf(text), patternGlyphs(pattern.replace(/\*+/gu, '**')));
