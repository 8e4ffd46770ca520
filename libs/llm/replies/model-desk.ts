import type { Logger } from 'pino';
import type { z } from 'zod';
import type { ArtifactRef, ModelCall, Prompt } from '#proto';
import type { ChatModel, ModelAnswer, ModelRequest } from '../models/index.js';
import { withImages } from './prompt-images.js';
import { askStructured, type CallRefusal, type StructuredReply } from './structured-reply.js';

/** Bytes of a reply that stand in the event; of a longer one only the head does, and the whole lies in ARTIFACTS. */
const REPLY_BYTES_MAX = 64 * 1024;
const HEAD_CHARS = 8 * 1024;

export interface ModelQuestion<T> {
  readonly agent: string;
  readonly prompt: Prompt;
  readonly schema: z.ZodType<T>;
  /** What is wrong with a reply that the schema lets through. */
  readonly check?: (value: T) => readonly string[];
  /** Tries after the first; `LIMITS.replyRepairsMax` when absent. */
  readonly repairsMax?: number;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly turn: string;
  /** Asked before every request, with those made for this question so far. */
  readonly mayCall: (calls: readonly ModelCall[]) => CallRefusal | null;
  readonly onText?: (soFar: string) => void;
}

/** Asks models, and keeps what was asked and answered where it does not fit into an event. */
export interface ModelDesk {
  ask<T>(question: ModelQuestion<T>): Promise<StructuredReply<T>>;
}

export interface ModelDeskParts {
  readonly model: ChatModel;
  /** Where prompts and long replies are kept, by the hash of their content. */
  readonly artifacts: {
    put(content: Uint8Array): Promise<ArtifactRef>;
    /** Whoever shows pictures reads them here; throws when one is not kept any more. */
    get?(sha256: string): Promise<Uint8Array>;
  };
  readonly keepPrompts: boolean;
  readonly logger: Logger;
}

/** By the hash of the messages, as the record of a call names them. */
type Kept = Map<string, ArtifactRef>;

export class StoringModelDesk implements ModelDesk {
  readonly #parts: ModelDeskParts;

  constructor(parts: ModelDeskParts) {
    this.#parts = parts;
  }

  async ask<T>({ prompt, ...question }: ModelQuestion<T>): Promise<StructuredReply<T>> {
    const kept: Kept = new Map();
    const { messages } = prompt;
    const schemaName = `${question.agent}_reply`.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(-64);
    const model: ChatModel = { ask: (request) => this.#askAndKeep(request, kept) };
    const answered = await askStructured(model, { ...question, messages, schemaName });
    const calls = await Promise.all(answered.calls.map((call) => this.#bounded(call, kept)));
    return { ...answered, calls };
  }

  /** The prompt is stored while the model thinks; that it could not be stored keeps nobody from working. */
  async #askAndKeep(request: ModelRequest, kept: Kept): Promise<ModelAnswer[]> {
    const keeping = this.#parts.keepPrompts ? this.#keep(JSON.stringify(request.messages)) : null;
    const messages = await withImages(request.messages, (sha256) => this.#picture(sha256));
    const answers = await this.#parts.model.ask({ ...request, messages });
    const artifact = await keeping;
    if (artifact !== null) for (const { promptHash } of answers) kept.set(promptHash, artifact);
    return answers;
  }

  async #picture(sha256: string): Promise<Uint8Array | null> {
    try {
      return (await this.#parts.artifacts.get?.(sha256)) ?? null;
    } catch (error) {
      this.#parts.logger.warn({ err: error, sha256 }, 'a picture for a prompt could not be read');
      return null;
    }
  }

  async #bounded(call: ModelCall, kept: Kept): Promise<ModelCall> {
    const prompt = kept.get(call.promptHash);
    const named = prompt === undefined ? call : { ...call, prompt };
    if (call.reply === null || Buffer.byteLength(JSON.stringify(call.reply)) <= REPLY_BYTES_MAX) return named;
    const replyArtifact = await this.#keep(call.reply);
    const head = { ...named, reply: call.reply.slice(0, HEAD_CHARS).toWellFormed() };
    return replyArtifact === null ? head : { ...head, replyArtifact };
  }

  async #keep(text: string): Promise<ArtifactRef | null> {
    try {
      return await this.#parts.artifacts.put(new TextEncoder().encode(text));
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'a prompt or a reply could not be stored');
      return null;
    }
  }
}
