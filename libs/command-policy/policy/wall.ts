import type { CommandClass } from '#proto';
import { type CommandFinding, type View, viewsIn, worseClass } from '../words/index.js';

/**
 * How much of the machine a command may be given: enough for what it was judged to do, and for its answer to be the same as outside.
 * `read`: nothing can be changed. `write`: only where writing is ordinary. `none`: what it is for lies outside of both, so a person,
 * or a rule of the operator, has let it through as it is.
 */
export interface Wall {
  readonly kind: 'read' | 'write' | 'none';
  /** What of the machine it must see. */
  readonly views: readonly View[];
}

/** The wall that fits a judgement. A rule that lets a command through says nothing about what it does: its class stays. */
export function wallOf(findings: readonly CommandFinding[]): Wall {
  const of: CommandClass = findings.map((finding) => finding.class).reduce(worseClass, 'read');
  return { kind: of === 'read' || of === 'write' ? of : 'none', views: viewsIn(findings) };
}
