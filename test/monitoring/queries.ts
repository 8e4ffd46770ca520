/** A metric in a query, and the labels that it is asked by. */
export interface Asked {
  readonly name: string;
  readonly labels: readonly string[];
}

const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'atan2', 'inf', 'nan', 'start', 'end']);
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/gu;

/** The metrics that a PromQL expression names, with the labels of their selectors. What is a function or a word of the language is none. */
export function askedIn(expression: string): Asked[] {
  const bare = expression.replaceAll(/"[^"]*"|'[^']*'/gu, '""').replaceAll(GROUPING, ' ');
  const asked = bare.matchAll(/(?<![\w:.])([a-z_:][\w:]*)(?!\s*\()(?![\w:])(?:\s*\{([^}]*)\})?/giu);
  return [...asked].flatMap(([, name = '', selector = '']) => {
    if (WORDS.has(name.toLowerCase())) return [];
    return [{ name, labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/gu)].map(([, label = '']) => label) }];
  });
}

/** The labels that it groups by. */
export function groupedBy(expression: string): string[] {
  return [...expression.matchAll(GROUPING)].flatMap(([, labels = '']) =>
    labels
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
  );
}
