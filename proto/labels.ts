import { z } from 'zod';
import { LIMITS } from './limits.js';

const INSIDE_MAX = LIMITS.labelCharsMax - 2;
const WORD = `[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,${INSIDE_MAX}}[A-Za-z0-9])?`;
const RULE = `1 to ${LIMITS.labelCharsMax} characters out of A-Z, a-z, 0-9, ".", "_", "-" and "/", a letter or digit first and last`;

const word = (what: string) => z.string().regex(new RegExp(`^${WORD}$`, 'u'), `${what} has ${RULE}`);

/** The words by which whoever asks for a run finds it again, as Kubernetes has them; never a secret: everybody who sees the run sees them. */
export const RunLabels = z
  .record(word('the key of a label'), word('the value of a label'))
  .refine((labels) => Object.keys(labels).length <= LIMITS.labelsMax, `must have at most ${LIMITS.labelsMax} labels`);
export type RunLabels = z.infer<typeof RunLabels>;

/** `team=db`: the label with this value; `team`: the label, whatever its value. */
export const LabelSelector = z
  .string()
  .regex(new RegExp(`^${WORD}(?:=${WORD})?$`, 'u'), `must be a key, or key=value, each of ${RULE}`);
export type LabelSelector = z.infer<typeof LabelSelector>;

/** Its key, and its value where it has one. */
export function partsOfLabel(selector: LabelSelector): { readonly key: string; readonly value: string | undefined } {
  const [key = '', value] = selector.split('=');
  return { key, value };
}

/** `env=prod team=db`, by key: the same labels are the same text. */
export function labelsText(labels: RunLabels): string {
  const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return words.toSorted().join(' ');
}
