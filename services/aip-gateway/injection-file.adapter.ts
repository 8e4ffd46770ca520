import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { ConfigError } from '#libs/platform';
import { parseWith, sentenceOf } from '#proto';
import {
  InjectedParameters,
  NO_INJECTION,
  parameterInjection,
  type ParameterInjection,
} from './parameter-injection.js';

const VARIABLE = 'ORRERY_AIP_INJECT_FILE';

/** Reads the file, once. Throws ConfigError with the place of what is wrong, never with what stands there: it holds secrets. */
export async function readInjection(file: string | undefined): Promise<ParameterInjection> {
  if (file === undefined) return NO_INJECTION;
  const parsed = parseWith(InjectedParameters, yamlOf(file, await textOf(file)));
  if (parsed.ok) return parameterInjection(parsed.value);
  throw new ConfigError(`${VARIABLE}: ${file}: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${VARIABLE}: ${file} cannot be read.`, { cause });
  }
}

function yamlOf(file: string, text: string): unknown {
  const document = parseDocument(text, { version: '1.2', merge: false });
  const [error] = document.errors;
  if (error === undefined) return plainOf(file, document);
  // The message of the parser shows the line itself.
  const [at] = error.linePos ?? [];
  const place = at === undefined ? '' : ` in line ${at.line}, column ${at.col}`;
  throw new ConfigError(`${VARIABLE}: ${file} is not YAML (${error.code}${place}).`);
}

function plainOf(file: string, document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 }) as unknown;
  } catch {
    throw new ConfigError(`${VARIABLE}: ${file} must not have aliases.`);
  }
}
