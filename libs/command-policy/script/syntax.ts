/** A syntax tree as plain data. Positions count UTF-16 units of the parsed text. */
export interface SyntaxNode {
  /** The name of a rule of the grammar, or the token itself. */
  readonly type: string;
  readonly named: boolean;
  /** Where it stands in its parent, when the grammar names the place. */
  readonly field: string | null;
  readonly start: number;
  readonly end: number;
  readonly children: readonly SyntaxNode[];
}

export type ParsedScript =
  | { readonly ok: true; readonly root: SyntaxNode }
  /** Why the text has no tree, as a sentence. */
  | { readonly ok: false; readonly reason: string };

/** Reads shell text. Never throws: what it cannot read it says. */
export interface ShellParser {
  parse(text: string): ParsedScript;
}

/** Text beyond these is not read: a person could not read it either. */
export const SYNTAX_LIMITS = {
  charsMax: 16 * 1024,
  nodesMax: 8_000,
  depthMax: 120,
  /** Processor time, not time: what is read does not depend on what else the machine does. */
  parseCpuMsMax: 100,
  /** The parser asks whether to go on every hundred or so of its steps: some 150 characters of an everyday command. As many are always read. */
  parseStepsMin: 4,
} as const;

export const nodeText = (source: string, node: SyntaxNode): string => source.slice(node.start, node.end);
