/** An embedded server that could not be started: the message is one sentence for a person, the details are in `cause`. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
}
