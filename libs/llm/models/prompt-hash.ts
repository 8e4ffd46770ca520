import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ChatMessage, ContentPart } from '#proto';

/** As they are sent and hashed: text that is no Unicode (half a surrogate pair of a device's output) has no canonical form. */
export function sendable(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? content.toWellFormed() : content.map(sendablePart),
  }));
}

function sendablePart(part: ContentPart): ContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text.toWellFormed() };
  // Whoever asks an endpoint has put the picture in before; a name of it would tell a model nothing.
  if (part.type === 'image') return { type: 'text', text: `[A picture is left out here: SHA-256 ${part.ref.sha256}]` };
  return { type: 'image_url', image_url: { url: part.image_url.url.toWellFormed() } };
}

/** SHA-256 of the canonical JSON (RFC 8785) of the messages, in lower-case hex. */
export function promptHash(messages: readonly ChatMessage[]): string {
  return createHash('sha256')
    .update(canonicalize(sendable(messages)) ?? '')
    .digest('hex');
}
