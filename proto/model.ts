import { z } from 'zod';
import { Instant, Json, Sha256 } from './ids.js';
import { ArtifactRef, MediaType } from './result.js';

/**
 * One part of a message to a model that can see. `url` of an image is a `data:` URL. `image`: a picture by its hash in ARTIFACTS,
 * which is put in when the model is asked, and nowhere before: what is recorded of a prompt names it.
 */
export const ContentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), ref: ArtifactRef, mediaType: MediaType }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) }),
]);
export type ContentPart = z.infer<typeof ContentPart>;

export const ChatMessage = z.strictObject({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.union([z.string(), z.array(ContentPart)]),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** What a model is sent. `templates`: which texts of ours it was made of, by id, with the hash of their content. */
export interface Prompt {
  readonly messages: readonly ChatMessage[];
  readonly templates: readonly { readonly id: string; readonly hash: string }[];
}

/** One call of a model: everything that is needed to say later what was asked, what it said and what it cost. */
export const ModelCall = z.strictObject({
  model: z.string().max(256),
  endpoint: z.enum(['main', 'backup']),
  /** SHA-256 of the canonical JSON of the messages; the messages themselves may lie in ARTIFACTS under another hash. */
  promptHash: Sha256,
  prompt: ArtifactRef.optional(),
  parameters: z.record(z.string(), Json),
  /** As it came, up to the limit for replies; null when there was none. A longer one lies in `replyArtifact`, here is its head. */
  reply: z.string().nullable(),
  replyArtifact: ArtifactRef.optional(),
  /** Why the reply could not be used, as it was said to the model in the next call; empty when it could. */
  problems: z.array(z.string().max(1_000)).max(20),
  /** Why there was no reply. */
  error: z.strictObject({ code: z.string().max(64), message: z.string().max(1_000) }).nullable(),
  tokens: z.strictObject({ prompt: z.int().min(0), completion: z.int().min(0) }),
  /** Null when the price of the model is not known. */
  costUsd: z.number().min(0).nullable(),
  startedAt: Instant,
  durationMs: z.number().min(0),
});
export type ModelCall = z.infer<typeof ModelCall>;

/** A fact that an agent wants to keep in mind and to share with the other agents of its run. */
export const Note = z.string().min(1).max(500);
export type Note = z.infer<typeof Note>;
