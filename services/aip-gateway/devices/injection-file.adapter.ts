import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { parseDocument } from 'yaml';
import { ConfigError } from '#libs/platform';
import { parseWith, sentenceOf, type CommandCall, type CommandOutcome, type DeviceId, type ToolInfo } from '#proto';
import {
  InjectedParameters,
  NO_INJECTION,
  parameterInjection,
  type ParameterInjection,
} from './parameter-injection.js';

const VARIABLE = 'ORRERY_AIP_INJECT_FILE';

/** How often the file is looked at. It is compared by content: whatever replaced it, however. */
const LOOK_EVERY_MS = 2_000;

/** What the file says now: a changed one counts for the next command. One that is not right leaves the last one in use. */
export class InjectionFile implements ParameterInjection {
  readonly #file: string;
  readonly #logger: Logger;
  #used: string;
  #refused = '';
  #current: ParameterInjection;
  /** What was injected before the last change may still come back in an answer. */
  #previous = NO_INJECTION;
  #looking: NodeJS.Timeout | undefined;

  private constructor(file: string, logger: Logger, text: string) {
    this.#file = file;
    this.#logger = logger;
    this.#used = text;
    this.#current = injectionOf(file, text, 1);
  }

  /** Throws ConfigError with the place of what is wrong, never with what stands there: it holds secrets. */
  static async open(file: string, logger: Logger): Promise<InjectionFile> {
    return new InjectionFile(file, logger, await textOf(file));
  }

  begin(): void {
    this.#looking = setInterval(() => void this.lookAgain(), LOOK_EVERY_MS);
  }

  end(): void {
    clearInterval(this.#looking);
  }

  /** Never rejects. */
  async lookAgain(): Promise<void> {
    try {
      const text = await textOf(this.#file);
      if (text === this.#used) return;
      const next = injectionOf(this.#file, text, this.#current.version + 1);
      [this.#previous, this.#current, this.#used, this.#refused] = [this.#current, next, text, ''];
      this.#logger.info({ file: this.#file }, 'the changed file of injected parameters is in use');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#refused) this.#logger.warn({ reason }, 'the injected parameters in use stay');
      this.#refused = reason;
    }
  }

  get version(): number {
    return this.#current.version;
  }

  shown(deviceId: DeviceId, tools: readonly ToolInfo[]): ToolInfo[] {
    return this.#current.shown(deviceId, tools);
  }

  injected(deviceId: DeviceId, command: CommandCall): CommandCall {
    return this.#current.injected(deviceId, command);
  }

  masked(deviceId: DeviceId, outcome: CommandOutcome): CommandOutcome {
    return this.#previous.masked(deviceId, this.#current.masked(deviceId, outcome));
  }

  secretsOf(deviceId: DeviceId): readonly string[] {
    return [...this.#current.secretsOf(deviceId), ...this.#previous.secretsOf(deviceId)];
  }

  maskedText(deviceId: DeviceId, text: string): string {
    return this.#previous.maskedText(deviceId, this.#current.maskedText(deviceId, text));
  }
}

function injectionOf(file: string, text: string, version: number): ParameterInjection {
  const parsed = parseWith(InjectedParameters, yamlOf(file, text));
  if (parsed.ok) return parameterInjection(parsed.value, version);
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
