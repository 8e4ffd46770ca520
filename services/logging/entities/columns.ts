import type { EntitySchemaColumnOptions } from 'typeorm';

/** Stands for NUL in a text column, which PostgreSQL cannot hold; itself escaped, so that what is read is what was written. */
const ESCAPE = '\u{f0000}';

function escapeNul(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll('\u0000', `${ESCAPE}0`);
}

function unescapeNul(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  return text.replaceAll(/\u{f0000}([01])/gu, (_, kind) => (kind === '1' ? ESCAPE : '\u0000'));
}

/** An id of ours: short, safe characters. */
export const id = (name: string, primary = false): EntitySchemaColumnOptions => ({ name, type: 'varchar', primary });

/** Text that may come from outside. */
export const text = (name: string, nullable = false): EntitySchemaColumnOptions => ({
  name,
  type: 'text',
  nullable,
  transformer: { to: escapeNul, from: unescapeNul },
});

export const int = (name: string, options: Partial<EntitySchemaColumnOptions> = {}): EntitySchemaColumnOptions => ({
  name,
  type: 'int',
  ...options,
});

/** A position in a stream: within what a JavaScript number holds exactly. */
export const position = (name: string, primary = false): EntitySchemaColumnOptions => ({
  name,
  type: 'bigint',
  primary,
  transformer: { to: (value: unknown) => value, from: (value: unknown) => (value === null ? null : Number(value)) },
});

/** RFC 3339 in UTC with milliseconds on our side. */
export const instant = (name: string, nullable = false): EntitySchemaColumnOptions => ({
  name,
  type: 'timestamptz',
  nullable,
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value instanceof Date ? value.toISOString() : value),
  },
});

/** `json`, not `jsonb`: it keeps the document as it is, NUL characters and order of keys included. */
export const json = (name: string, nullable = false): EntitySchemaColumnOptions => ({ name, type: 'json', nullable });
