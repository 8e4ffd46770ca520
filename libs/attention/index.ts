/**
 * ATTENTION, one of the six aggregates, and what it is about: which facts need somebody, derived from the logs of runs, attempts and devices, and
 * what people have said to an entry. Pure; logging projects, asks, stores and answers.
 */
export type { Attention } from './attention.js';
export { attentionOfComings, evolveComings, NO_COMINGS, type Comings } from './flapping.js';
export { attentionOfAttempt, attentionOfLetter, attentionOfSystem } from './other-attention.js';
export { attentionOfRun, KINDS_OF_RUNS } from './run-attention.js';
export {
  decideBefore,
  decideWord,
  evolveWords,
  type OrderedWord,
  type WordDecision,
  type WordOrder,
  type WordRefusal,
  type Words,
} from './words.js';
