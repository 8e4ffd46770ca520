/** What was learnt from runs that ended: stored, searched, embedded. What is worth learning is decided in learning. */
export * from './example-embeddings.runner.js';
export * from './examples.adapter.js';
export {
  EMBEDDED_MAX,
  EXAMPLES_MAX,
  ExperiencesAwayError,
  LISTED_DEFAULT,
  LISTED_MAX,
  RANKED_MAX,
  bounded,
  searchedPart,
  type ExperienceSearch,
  type ExperienceStore,
  type LearntExperience,
  type Nearness,
  type Unembedded,
} from './experience-store.js';
export { LIKENESS_MIN, TIP_WEIGHT, WEIGHT, WORDS_MAX } from './likeness.js';
export * from './metered-embedder.adapter.js';
export { exampleWithoutSecrets, type Origin } from './secret-looking.js';
