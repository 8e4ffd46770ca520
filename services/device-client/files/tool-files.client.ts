import { createHash } from 'node:crypto';
import type { FileSource } from '#libs/aip';
import type { ResourceAnswer, ToolAnswer, ToolPart } from '#libs/mcp';
import { pngOfRun } from '#libs/picture';
import { attemptOfCommand, type ArtifactRef, type Json, type ResultFile, type RunId } from '#proto';
import type { FileErrand, FileLink } from './file-link.client.js';
import { OUTPUT_LIMITS } from '../output/index.js';
import { RedactedStream, type Redactor } from '../secrets/index.js';
import type { ToolCall } from '../tools/index.js';
import {
  answerPart,
  bytesOfContent,
  FileNames,
  quotedWord,
  resourcePart,
  TOOL_FILE_LIMITS,
  tooLong,
  type FilePart,
} from './tool-parts.js';

/** The server that gave the answer, as far as it is needed for the files of it. */
export interface AnsweringServer {
  /** Reads what it links to. Nobody else is asked: what is under an address is its business, and its right to read. */
  read(uri: string, signal: AbortSignal): Promise<ResourceAnswer>;
}

interface Answering {
  readonly server: AnsweringServer;
  readonly errand: FileErrand;
  /** All files of the answer together have taken too long. */
  readonly late: AbortSignal;
  readonly redactor: Redactor | undefined;
  /** The run that its pictures of a screen are taken for. */
  readonly screenOf: RunId | undefined;
  readonly names: FileNames;
  readonly files: ResultFile[];
  /** Files behind the last that is kept. */
  beyond: number;
  bytesLeft: number;
  /** Why nothing is stored any more: what failed once would fail, and let the command wait, for each of the others. */
  gaveUp: string | undefined;
}

/** Stores the images, sounds and resources of an answer as artifacts, before the answer is told: who reads it finds them. */
export class ToolFiles {
  readonly #link: Pick<FileLink, 'store'>;

  constructor(link: Pick<FileLink, 'store'>) {
    this.#link = link;
  }

  /** The answer with names in place of its files. Never rejects, and leaves nothing out without a word. */
  async settle(
    answer: ToolAnswer,
    { commandId, signal }: ToolCall,
    { server, redactor, hasScreen }: Pick<Answering, 'server' | 'redactor'> & { readonly hasScreen: boolean },
  ): Promise<ToolAnswer> {
    if (answer.kind !== 'answered' || answer.parts === undefined) return answer;
    const { parts, ...rest } = answer;
    // A server that takes no files gets the parts as they are, or none when there is a secret in them.
    if (commandId === null)
      return redactor !== undefined && parts.some((part) => tells(part, redactor)) ? rest : answer;
    const late = AbortSignal.timeout(TOOL_FILE_LIMITS.answerMs);
    const errand = { commandId, signal: AbortSignal.any([signal, late]), patienceMs: OUTPUT_LIMITS.patienceMs };
    const answering: Answering = {
      server,
      errand,
      late,
      redactor,
      screenOf: hasScreen ? attemptOfCommand(commandId)?.runId : undefined,
      names: new FileNames(),
      files: [],
      beyond: 0,
      bytesLeft: TOOL_FILE_LIMITS.answerBytesMax,
      gaveUp: undefined,
    };
    const lines: string[] = [];
    for (const part of parts) lines.push(...(await this.#line(part, answering)));
    const { files } = answering;
    if (answering.beyond > 0) files.push(beyondOf(answering));
    // Beside structured content the parts are not the answer.
    const value: Json = answer.value === (parts as readonly unknown[]) ? lines.join('\n') : answer.value;
    return { ...rest, value, ...(files.length > 0 && { files }) };
  }

  async #line(part: ToolPart, answering: Answering): Promise<string[]> {
    const found = answerPart(part);
    if (found.kind === 'text') return [found.text];
    const before = answering.files.length;
    await this.#file(found, answering);
    return answering.files.slice(before).map(({ name }) => `[file ${name}]`);
  }

  async #file(part: FilePart, answering: Answering): Promise<void> {
    const { content } = part;
    if (answering.files.length >= TOOL_FILE_LIMITS.filesMax) {
      answering.beyond++;
      return;
    }
    if (content.kind === 'link') return this.#linked(part, content, answering);
    if (content.kind === 'none') return add(part, answering, { why: content.why });
    const decoded = bytesOfContent(content);
    if ('why' in decoded) return add(part, answering, decoded);
    const { screenOf } = answering;
    const bytes = screenOf === undefined ? decoded.bytes : pngOfRun(decoded.bytes, screenOf);
    add(part, answering, await this.#kept(bytes, answering));
  }

  async #linked(
    part: FilePart,
    { uri, bytes }: { readonly uri: string; readonly bytes: number | null },
    answering: Answering,
  ): Promise<void> {
    const { server, errand } = answering;
    if (bytes !== null && bytes > TOOL_FILE_LIMITS.fileBytesMax) return add(part, answering, { why: tooLong(bytes) });
    const answer = await server.read(uri, errand.signal);
    const failed = (why: string): void => add(part, answering, { why: `${quotedWord(uri)} could not be read: ${why}` });
    if (answer.kind === 'failed') return failed(answering.late.aborted ? LATE : answer.reason);
    if (answer.contents.length === 0) return failed('its server has nothing there');
    for (const [index, content] of answer.contents.entries()) {
      const { mimeType = part.mediaType } = content;
      await this.#file(resourcePart({ ...content, mimeType }, index === 0 ? part.name : null), answering);
    }
  }

  async #kept(bytes: Buffer, answering: Answering): Promise<Kept> {
    const { errand, redactor, gaveUp, bytesLeft } = answering;
    if (bytes.length > bytesLeft) {
      const { answerBytesMax } = TOOL_FILE_LIMITS;
      return { why: `it has ${bytes.length} bytes, and the files of one answer have at most ${answerBytesMax}` };
    }
    if (redactor !== undefined && hasSecret(bytes, redactor)) {
      return { why: 'it contains a secret of the device, and does not leave it' };
    }
    if (gaveUp !== undefined) return { why: gaveUp };
    const artifact = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
    const failure = await this.#link.store(artifact, () => sourceOf(bytes), errand);
    if (failure !== null) {
      answering.gaveUp = answering.late.aborted ? LATE : failure.message;
      return { why: answering.gaveUp };
    }
    answering.bytesLeft -= bytes.length;
    return { artifact };
  }
}

/** Whether a file that is in an answer has a secret in it; what it only links to is not told. */
function tells(part: ToolPart, redactor: Redactor): boolean {
  const found = answerPart(part);
  if (found.kind === 'text' || (found.content.kind !== 'base64' && found.content.kind !== 'text')) return false;
  const decoded = bytesOfContent(found.content);
  return 'bytes' in decoded && hasSecret(decoded.bytes, redactor);
}

const LATE = `the files of the answer took longer than ${TOOL_FILE_LIMITS.answerMs / 1_000} s`;

type Kept = { readonly artifact: ArtifactRef } | { readonly why: string };

function add(part: FilePart, { names, files, redactor }: Answering, kept: Kept): void {
  const clean = (text: string): string => redactor?.text(text) ?? text;
  const { name, mediaType, remarks } = names.describe({ ...part, name: part.name && clean(part.name) });
  const problem = clean(
    ['why' in kept ? `not kept: ${kept.why}` : '', ...remarks].filter((text) => text !== '').join('; '),
  );
  const where = 'artifact' in kept ? { artifact: kept.artifact } : {};
  files.push({ name, mediaType, ...where, ...(problem !== '' && { problem: clipped(problem) }) });
}

/** One name for all that is not kept because it is too much. */
function beyondOf({ beyond, names }: Answering): ResultFile {
  const nobody = {
    kind: 'file',
    noun: 'more',
    name: null,
    mediaType: null,
    content: { kind: 'none', why: '' },
  } as const;
  const { name, mediaType } = names.describe(nobody);
  const problem = `not kept: ${beyond} more; an answer has at most ${TOOL_FILE_LIMITS.filesMax} files`;
  return { name, mediaType, problem };
}

function clipped(text: string): string {
  const { problemCharsMax } = TOOL_FILE_LIMITS;
  return text.length <= problemCharsMax ? text : `${text.slice(0, problemCharsMax - 3).toWellFormed()}...`;
}

function hasSecret(bytes: Buffer, redactor: Redactor): boolean {
  const stream = new RedactedStream(redactor);
  stream.push(bytes);
  stream.end();
  return stream.found;
}

const sourceOf = (whole: Buffer): FileSource => ({
  read: (offset, bytes) => Promise.resolve(whole.subarray(offset, offset + bytes)),
  close: () => Promise.resolve(),
});
