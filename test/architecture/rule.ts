import type { Facts, Source } from './source.js';

export interface Rule {
  readonly name: string;
  /** Said with every offence: what the rule is good for. */
  readonly reason: string;
  /** The files that it is about. One that covers no file guards nothing. */
  readonly covers: (path: string) => boolean;
  /** Each as `path: what`. */
  readonly offences: (files: readonly Facts[]) => string[];
  /** Trees that break it, each in its own way. */
  readonly planted: readonly (readonly Source[])[];
}

/** Each of these files breaks a rule by itself. */
export const each = (...sources: Source[]): Source[][] => sources.map((source) => [source]);
