import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';

/** The server refused a write because somebody else wrote first: what it was decided on is not the last there is. */
export function isWrongSequence(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return (
    error.code === JetStreamApiCodes.StreamWrongLastSequence ||
    error.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown
  );
}
