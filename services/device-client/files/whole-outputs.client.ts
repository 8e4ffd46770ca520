import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ToolAnswer } from '#libs/mcp';
import type { ArtifactRef, Json } from '#proto';
import { diskFailure, type FileLink } from './file-link.client.js';
import { fileSourceOf } from './file-tools.adapter.js';
import { OUTPUT_FILES_META, OUTPUT_LIMITS, OutputFiles, type OutputFile } from '../output/index.js';
import type { ToolCall } from '../tools/index.js';

export interface WholeOutputsOptions {
  /** Where the process of the tools puts them. */
  readonly dir: string;
  readonly link: Pick<FileLink, 'store'>;
  readonly logger: Logger;
}

type Stream = 'stdout' | 'stderr';

/** What is known of one output in the end: where the whole is stored, and what is wrong with that. */
interface Kept {
  readonly artifact: ArtifactRef | undefined;
  readonly error: string | undefined;
}

/** Stores outputs that a result does not hold as artifacts, before the result is told: who reads it finds them. */
export class WholeOutputs {
  readonly #options: WholeOutputsOptions;

  constructor(options: WholeOutputsOptions) {
    this.#options = options;
  }

  /** The answer of the device's own tools with its outputs stored, or with the reason why they are not. Never rejects. */
  async settle(answer: ToolAnswer, call: ToolCall): Promise<ToolAnswer> {
    if (answer.kind !== 'answered') return answer;
    const { meta: { [OUTPUT_FILES_META]: given, ...meta } = {}, ...rest } = answer;
    const plain = Object.keys(meta).length === 0 ? rest : { ...rest, meta };
    const files = OutputFiles.safeParse(given);
    const { value } = plain;
    if (!files.success || value === null || typeof value !== 'object' || Array.isArray(value)) return plain;
    const added: Record<string, Json> = {};
    const errors: string[] = [];
    for (const stream of ['stdout', 'stderr'] as const) {
      const output = files.data[stream];
      const { artifact, error } = output === undefined ? NOTHING : await this.#keep(stream, output, call);
      if (artifact !== undefined) added[`${stream}_artifact`] = { ...artifact };
      if (error !== undefined) errors.push(`${stream}: ${error}`);
    }
    if (errors.length > 0) added['artifact_error'] = errors.join('; ');
    return { ...plain, value: { ...value, ...added } };
  }

  async #keep(stream: Stream, { file, error }: OutputFile, call: ToolCall): Promise<Kept> {
    if (file === null) return { artifact: undefined, error: error ?? 'it is not kept' };
    const path = join(this.#options.dir, file.name);
    const artifact = { sha256: file.sha256, bytes: file.bytes };
    try {
      const failure = await this.#store(path, artifact, call);
      return failure === undefined ? { artifact, error: error ?? undefined } : { artifact: undefined, error: failure };
    } catch (cause) {
      return { artifact: undefined, error: diskFailure(cause).message };
    } finally {
      await unlink(path).catch((reason: unknown) => this.#options.logger.warn({ err: reason, stream }, 'output stays'));
    }
  }

  /** Undefined: it is stored. */
  async #store(path: string, artifact: ArtifactRef, { commandId, signal }: ToolCall): Promise<string | undefined> {
    if (commandId === null) return 'this server takes no files';
    const handle = await open(path, 'r');
    try {
      const errand = { commandId, signal, patienceMs: OUTPUT_LIMITS.patienceMs };
      const failure = await this.#options.link.store(artifact, () => fileSourceOf(handle), errand);
      return failure?.message;
    } finally {
      await handle.close();
    }
  }
}

const NOTHING: Kept = { artifact: undefined, error: undefined };
