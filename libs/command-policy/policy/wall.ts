import type { AskedWall, CommandClass, PolicyDecision } from '#proto';
import { type CommandFinding, viewsIn, worseClass } from '../words/index.js';

/**
 * How much of the machine a command may be given: enough for what it was judged to do, and for its answer to be the same as outside.
 * `read`: nothing can be changed. `write`: only where writing is ordinary, and in the places that it names. `none`: what it is for lies
 * outside of both.
 */
export type Wall = Omit<AskedWall, 'runsAs'>;

/** Of these is said what a command is given, or how it is written, and not what it does to the machine. */
const BESIDE: readonly string[] = ['not-plain', 'uses-secret'];
/** They are other ones behind every wall, or all of the machine. */
const OTHERS = /^\/(?:(?:proc|sys|dev|tmp)(?:\/.*)?)?$/u;
const LITERAL = /^(?:\/|\.(?:\/|$))[^*?[\]…]*$/u;

/**
 * The wall that fits a judgement. What a rule of the operator lets run unasked although it is more than a write is held to nothing: such
 * a rule says nothing about what it does.
 */
export function wallOf(findings: readonly CommandFinding[], decision: PolicyDecision): Wall {
  const about = findings.filter(({ rule }) => !BESIDE.includes(rule));
  const of: CommandClass = about.map((finding) => finding.class).reduce(worseClass, 'read');
  const views = viewsIn(findings);
  if (of === 'read' || of === 'write') return { kind: of, views };
  const none = (reason: string): Wall => ({ kind: 'none', views, reason });
  if (decision === 'allow' || decision === 'log') return none('A rule of the policy lets it run as it is.');
  const worst = about.find((finding) => finding.class === of)?.reason ?? '';
  if (of === 'privileged') return none(`No wall fits: ${worst}`.slice(0, REASON_MAX));
  const known = new Set(about.flatMap(({ changes, rule }) => (changes === undefined ? [] : [rule])));
  const unnamed = about.find(({ rule, class: what }) => what === 'destructive' && !known.has(rule));
  if (unnamed !== undefined)
    return none(`What it takes away is no place that it names: ${unnamed.reason}`.slice(0, REASON_MAX));
  const places = [...new Set(about.flatMap(({ changes }) => changes ?? []))];
  const strange = places.find((place) => !LITERAL.test(place) || OTHERS.test(place));
  if (strange !== undefined && of === 'destructive')
    return none(`Behind a wall ${strange} is another place, or is not known beforehand.`.slice(0, REASON_MAX));
  const writable = places.filter((place) => place.startsWith('/') && place !== strange).slice(0, PLACES_MAX);
  const internet = about.some(({ class: what }) => what === 'network');
  return { kind: 'write', views, ...(internet && { internet }), ...(writable.length > 0 && { writable }) };
}
const REASON_MAX = 500;
const PLACES_MAX = 64;
