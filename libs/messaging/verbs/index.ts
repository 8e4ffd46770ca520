/** What is asked and ordered over the bus with one answer: queries of services, verbs of people, dead letters again. */
export { handAgain, type StreamHandlers } from './hand-again.adapter.js';
export {
  QueryRefusedError,
  QueryUnavailableError,
  query,
  serveQueries,
  type QueryAnswer,
  type QueryHandlers,
  type QueryName,
  type QueryRequest,
  type QueryService,
  type ServeOptions,
  type Served,
} from './queries.adapter.js';
export {
  VERB_DEADLINE_MS,
  parseVerbFields,
  sendVerb,
  type UnknownOutcome,
  type VerbOutcome,
  type VerbRequest,
} from './verbs.client.js';
