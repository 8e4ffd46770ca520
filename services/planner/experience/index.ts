/**
 * What was learnt from runs that ended: stored, searched, embedded. What is worth learning is decided in learning.
 */
export { ExampleEmbeddings } from './example-embeddings.runner.js';
export { examplesFrom } from './examples.adapter.js';
export {
  EMBEDDED_MAX,
  EXAMPLES_MAX,
  ExperiencesAwayError,
  LISTED_DEFAULT,
  LISTED_MAX,
  RANKED_MAX,
  bounded,
  searchedPart,
} from './experience-store.js';
export type { ExperienceSearch, ExperienceStore, LearntExperience, Nearness, Unembedded } from './experience-store.js';
export { LIKENESS_MIN, TIP_WEIGHT, WEIGHT, WORDS_MAX } from './likeness.js';
export { meteredEmbedder } from './metered-embedder.adapter.js';
export { exampleWithoutSecrets } from './secret-looking.js';
export type { Origin } from './secret-looking.js';
