import { jetstreamManager, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ARTIFACTS_STREAM, discardPieces, findObject, piecesSubject } from './artifact-upload.adapter.js';

/** An upload of ours is named after its content; those of other clients are theirs to keep. */
const OURS = /^([0-9a-f]{64})-/u;

export interface SweepOptions {
  readonly now: () => number;
  /** Pieces whose last one is younger may still become an object. */
  readonly olderThanMs: number;
}

/**
 * Takes away pieces of objects that never came about, because their writer died: everything else takes its own pieces
 * away. Returns how many uploads that were. Safe to do at the same time as others, and beside uploads.
 */
export async function sweepArtifacts(nc: NatsConnection, { now, olderThanMs }: SweepOptions): Promise<number> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await jsm.streams.info(ARTIFACTS_STREAM, { subjects_filter: piecesSubject('>') });
  const prefix = piecesSubject('').length;
  let swept = 0;
  for (const subject of Object.keys(state.subjects ?? {})) {
    const id = subject.slice(prefix);
    const sha256 = OURS.exec(id)?.[1];
    if (sha256 === undefined) continue;
    const last: StoredMsg | null = await jsm.streams.getMessage(ARTIFACTS_STREAM, { last_by_subj: subject });
    // An empty one is what is left of pieces that were taken away; it expires by itself.
    if (last === null || last.data.length === 0 || now() - last.time.getTime() < olderThanMs) continue;
    const object = await findObject(nc, sha256);
    if (object?.nuid === id && !object.deleted) continue;
    await discardPieces(nc, id);
    swept++;
  }
  return swept;
}
