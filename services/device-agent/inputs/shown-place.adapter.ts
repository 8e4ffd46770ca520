import type { ShownPlace } from '#libs/device-agent';
import { ArtifactError } from '#libs/messaging';
import { markedPlace, pngOfRun } from '#libs/picture';
import type { ArtifactRef, RunId } from '#proto';
import type { Artifacts } from './inputs.adapter.js';

const LIMITS = {
  bytesMax: 8 * 1024 * 1024,
  /** As many as a screen of 3840x2160 has: reading one holds up all other attempts meanwhile. */
  pointsMax: 8_294_400,
} as const;

/**
 * The place as a person is shown it, kept by its hash: the same every time it is made of the same picture. Undefined where the
 * picture is gone or is none: what is asked is asked in words then, too.
 */
export async function shownPicture(
  { picture, box }: ShownPlace,
  { runId, artifacts }: { readonly runId: RunId; readonly artifacts: Pick<Artifacts, 'get' | 'put'> },
): Promise<ArtifactRef | undefined> {
  if (picture.bytes > LIMITS.bytesMax) return undefined;
  try {
    const shown = markedPlace(await artifacts.get(picture.sha256), box, LIMITS.pointsMax);
    return shown === undefined ? undefined : await artifacts.put(pngOfRun(shown, runId));
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    return undefined;
  }
}
