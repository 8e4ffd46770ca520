import { z } from 'zod';

/** The environment, or what it leads to, cannot be used as it is; one sentence per bad variable, without any value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Parses an environment; throws ConfigError. An empty variable counts as absent, as in compose files. */
export function parseConfig<T>(schema: z.ZodType<T>, environment: Environment): T {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  throw new ConfigError(parsed.error.issues.map((issue) => sentence(issue, present)).join(' '));
}

/** Parses `process.env`; a bad one ends the process with status 1 and a sentence that names the variable and what would be valid. */
export function loadConfig<T>(schema: z.ZodType<T>): T {
  try {
    return parseConfig(schema, process.env);
  } catch (error) {
    if (error instanceof ConfigError) return refuse(error);
    throw error;
  }
}

function refuse({ message }: ConfigError): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function sentence({ path, message }: z.core.$ZodIssue, environment: Environment): string {
  const [variable] = path;
  if (variable === undefined) return `${message}.`;
  const missing = environment[String(variable)] === undefined;
  return `${String(variable)} ${missing ? `is not set; it ${message}` : message}.`;
}

/** A whole number in a variable. */
export function envInt({ min, max }: { min: number; max: number }): z.ZodType<number> {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string({ error })
    .regex(/^-?\d{1,15}$/u, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

/** A URL in a variable, with one of these protocols. */
export function envUrl(...protocols: [string, ...string[]]): z.ZodType<string> {
  const error = `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
  return z.string({ error }).refine((text) => protocols.includes(protocolOf(text) ?? ''), { error });
}

/** A choice in a variable. */
export function envChoice<const T extends readonly [string, ...string[]]>(choices: T): z.ZodType<T[number]> {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` });
}

/** `1` or `true`, `0` or `false`. */
export const envFlag: z.ZodType<boolean> = z
  .enum(['1', 'true', '0', 'false'], { error: 'must be 1 or 0' })
  .transform((text) => text === '1' || text === 'true');

function protocolOf(text: string): string | undefined {
  return URL.canParse(text) ? new URL(text).protocol : undefined;
}
