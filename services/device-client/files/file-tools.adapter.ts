import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { FILE_ABORTS, type FileFailure, type FileSource } from '#libs/aip';
import { ToolFailure, type ListedTool, type ToolAnswer } from '#libs/mcp';
import { AIP_LIMITS, LIMITS, parseWith, sentenceOf, type ArtifactRef, type Json } from '#proto';
import { z } from 'zod';
import { diskFailure, type FileErrand, type FileLink } from './file-link.client.js';
import { FilePlaces, type FilePlacesOptions } from './file-places.adapter.js';
import { FileTarget } from './file-target.adapter.js';
import { FILE_GET, FILE_PUT, FILE_TOOL_LIMITS, type FileGetInput, type FilePutInput } from './file-tools.js';
import { RedactedStream, type Redactor, type SecretStore } from '../secrets/index.js';
import type { BuiltInTools, ToolCall } from '../tools/index.js';

export interface FileToolsOptions extends FilePlacesOptions {
  readonly link: Pick<FileLink, 'store' | 'fetch'>;
  /** No file with one of them is given away: changed it would be another file. */
  readonly secrets?: Pick<SecretStore, 'refresh'> | undefined;
}

const FILE_MODE = 0o600;
const NO_COMMAND = 'This server takes and gives no files.';

/** Tools of the client itself: they need the connection to the server, which the process of the other tools has not. */
export class FileTools implements BuiltInTools {
  readonly name = 'device';
  readonly tools: readonly ListedTool[] = [listed(FILE_GET), listed(FILE_PUT)];
  readonly #link: FileToolsOptions['link'];
  readonly #places: FilePlaces;
  readonly #secrets: FileToolsOptions['secrets'];

  constructor(options: FileToolsOptions) {
    this.#secrets = options.secrets;
    this.#link = options.link;
    this.#places = new FilePlaces(options);
  }

  /** Never rejects. */
  async call(tool: string, args: Readonly<Record<string, Json>>, call: ToolCall): Promise<ToolAnswer> {
    if (tool === FILE_GET.name) return run(FILE_GET.input, args, call, (input, errand) => this.#get(input, errand));
    return run(FILE_PUT.input, args, call, (input, errand) => this.#put(input, errand));
  }

  async #get({ path }: FileGetInput, errand: FileErrand): Promise<z.infer<typeof FILE_GET.output>> {
    const { handle, path: real } = await this.#places.openFile(path);
    try {
      for (let readings = 1; ; readings++) {
        const redactor = await this.#secrets?.refresh();
        const { artifact, hasSecret } = await measuredFile(handle, errand.signal, redactor);
        if (hasSecret) throw new ToolFailure(`${path} contains a secret of this device, and does not leave it.`);
        const { mtime } = await handle.stat();
        const failure = await this.#link.store(artifact, () => fileSourceOf(handle), errand);
        if (failure === null) return { artifact, path: real, bytes: artifact.bytes, modified: mtime.toISOString() };
        if (!CHANGED.has(failure.code)) throw failed(failure);
        if (readings === FILE_TOOL_LIMITS.readingsMax) throw new ToolFailure(`${path} changes while it is read.`);
      }
    } finally {
      await handle.close();
    }
  }

  async #put(
    { artifact, path, mode, overwrite }: FilePutInput,
    errand: FileErrand,
  ): Promise<z.infer<typeof FILE_PUT.output>> {
    const place = await this.#places.openPlace(path);
    try {
      const occupant = await place.occupant();
      if (occupant !== null && !overwrite) throw new ToolFailure(`${place.path} is there already.`);
      const bits = mode === undefined ? (occupant?.mode ?? FILE_MODE) : Number.parseInt(mode, 8);
      const file = { place, mode: bits, overwrite };
      const failure = await this.#link.fetch(artifact, (events) => FileTarget.open({ ...file, ...events }), errand);
      if (failure !== null) throw failed(failure);
      const written = { artifact, path: place.path, bytes: artifact.bytes, mode: bits.toString(8).padStart(3, '0') };
      return { ...written, replaced: occupant !== null };
    } finally {
      await place.close();
    }
  }
}

/** What a sender learns of a file that was written to meanwhile. */
const CHANGED: ReadonlySet<string> = new Set([FILE_ABORTS.wrongChecksum, FILE_ABORTS.changed]);

const failed = ({ message }: FileFailure): ToolFailure => new ToolFailure(message);

/** One call: arguments, time and stop as for every other tool, and an answer in every case. */
async function run<I extends { readonly timeout: number }>(
  schema: z.ZodType<I>,
  args: Readonly<Record<string, Json>>,
  { signal, commandId }: ToolCall,
  work: (input: I, errand: FileErrand) => Promise<Record<string, Json>>,
): Promise<ToolAnswer> {
  const parsed = parseWith(schema, args);
  if (!parsed.ok) return refused(parsed.issues.map(sentenceOf).join('; '));
  if (commandId === null) return refused(NO_COMMAND);
  const stop = new AbortController();
  const cancel = (): void => stop.abort();
  const timer = setTimeout(cancel, parsed.value.timeout * 1_000);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return { kind: 'answered', isError: false, value: await work(parsed.value, { commandId, signal: stop.signal }) };
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled', value: null };
    if (stop.signal.aborted) return { kind: 'timed_out' };
    return refused(error instanceof ToolFailure ? error.message : diskFailure(error).message);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

const refused = (reason: string): ToolAnswer => ({ kind: 'answered', isError: true, value: reason });

interface Measured {
  readonly artifact: ArtifactRef;
  readonly hasSecret: boolean;
}

/** Its checksum and size as it is now. Throws ToolFailure when it is too long. */
export async function measuredFile(
  handle: FileHandle,
  signal: AbortSignal,
  redactor: Redactor | undefined,
): Promise<Measured> {
  const hash = createHash('sha256');
  const redacted = redactor && new RedactedStream(redactor);
  // In turn: the disk fills one while the other is hashed.
  const memory = Array.from({ length: 2 }, () => Buffer.allocUnsafe(AIP_LIMITS.fileChunkBytes));
  const readAt = (offset: number, turn: number): ReturnType<FileHandle['read']> => {
    const buffer = memory[turn % memory.length] ?? Buffer.alloc(0);
    const reading = handle.read(buffer, 0, buffer.length, offset);
    // Whoever still wants it hears of it.
    reading.catch(() => undefined);
    return reading;
  };
  let bytes = 0;
  let coming = readAt(0, 0);
  for (let turn = 1; ; turn++) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await coming;
    if (bytesRead === 0) {
      redacted?.end();
      return { artifact: { sha256: hash.digest('hex'), bytes }, hasSecret: redacted?.found === true };
    }
    const piece = (buffer as Buffer).subarray(0, bytesRead);
    bytes += bytesRead;
    if (bytes > LIMITS.fileBytesMax) throw new ToolFailure(`A file has at most ${LIMITS.fileBytesMax} bytes.`);
    coming = readAt(bytes, turn);
    hash.update(piece);
    redacted?.push(piece);
  }
}

/** Reads an open file; it stays open, for the next try. One piece at a time: the next one takes the memory of the last. */
export function fileSourceOf(handle: FileHandle): FileSource {
  let memory = Buffer.alloc(0);
  return {
    read: async (offset, bytes) => {
      if (memory.length < bytes) memory = Buffer.allocUnsafe(bytes);
      const buffer = memory;
      let length = 0;
      while (length < bytes) {
        const { bytesRead } = await handle.read(buffer, length, bytes - length, offset + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return buffer.subarray(0, length);
    },
    close: () => Promise.resolve(),
  };
}

interface Described {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly readOnly: boolean;
}

/** As a tool server would describe it. */
function listed({ name, title, description, input, output, readOnly }: Described): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: jsonSchema(input, 'input'),
    outputSchema: jsonSchema(output, 'output'),
    annotations: { readOnlyHint: readOnly, ...(readOnly ? {} : { destructiveHint: true }) },
    readOnly,
  };
}

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): Json =>
  JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io }))) as Json;
