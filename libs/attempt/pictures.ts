import { takesPicture, type ArtifactRef } from '#proto';
import type { Book, CommandRecord } from './book.js';

/** The pictures of screens that an attempt has recorded, each once. */
export interface AttemptPictures {
  /** What an act or a question rests on: the last look before it, and what a person was shown. */
  readonly ofActs: readonly ArtifactRef[];
  readonly others: readonly ArtifactRef[];
}

/** Of an attempt of several steps; the picture that an exact command was asked for is its result, and none of these. */
export function picturesOf({ commands }: Pick<Book, 'commands'>): AttemptPictures {
  const ofActs = new Map<string, ArtifactRef>();
  const all = new Map<string, ArtifactRef>();
  /** What was seen since the last act, in the last step that looked. */
  let seen: { readonly step: number; readonly pictures: readonly ArtifactRef[] } = { step: 0, pictures: [] };
  for (const record of commands.values()) {
    const pictures = answeredWith(record);
    for (const ref of pictures) all.set(ref.sha256, ref);
    if (pictures.length > 0) {
      const { step } = record;
      seen = { step, pictures: seen.step === step ? [...seen.pictures, ...pictures] : pictures };
    }
    if (!isAct(record)) continue;
    for (const ref of [...seen.pictures, ...shownIn(record)]) ofActs.set(ref.sha256, ref);
  }
  return { ofActs: [...ofActs.values()], others: [...all.values()].filter(({ sha256 }) => !ofActs.has(sha256)) };
}

function answeredWith({ issued, finished }: CommandRecord): ArtifactRef[] {
  if (issued === null || !takesPicture(issued.command.tool)) return [];
  const files = finished?.result?.files ?? [];
  return files.flatMap(({ artifact, mediaType }) =>
    artifact !== undefined && mediaType.startsWith('image/') ? [artifact] : [],
  );
}

const shownIn = ({ ask }: CommandRecord): ArtifactRef[] =>
  ask?.kind === 'approval' && ask.picture !== undefined ? [ask.picture] : [];

/** It was more than a look, whether it ran or not; or a person was asked. */
const isAct = ({ ask, judged }: CommandRecord): boolean => ask !== null || judged.some((one) => one.class !== 'read');
