export * from './ids.js';
export * from './limits.js';
export * from './actors.js';
export * from './policy.js';
export * from './walls.js';
export * from './budget.js';
export * from './usage.js';
export * from './fan-out.js';
export * from './constellation.js';
export * from './constellation-tools.js';
export * from './edits.js';
export * from './planner-replies.js';
export * from './final-answer.js';
export * from './labels.js';
export * from './request.js';
export * from './issue-words.js';
export * from './parse.js';
export * from './same-json.js';
export * from './json.js';
export * from './path.js';
export * from './files.js';
export * from './result.js';
export * from './task-files.js';
export * from './model.js';
export * from './agent-replies.js';
export * from './screen-replies.js';
export * from './screen-pages.js';
export * from './screen-tools.js';
export * from './approvals.js';
export * from './commit.js';
export * from './tool-arguments.js';
export { schemaVersionOf, unknownFact, UPCASTERS } from './upcasters.js';
export * from './run-events.js';
export * from './attempt-events.js';
export * from './plan-events.js';
export * from './runbooks.js';
export * from './runbook-file.js';
export * from './device-profile.js';
export * from './agent-profile.js';
export * from './desktop.js';
export * from './device-offer.js';
export * from './mobile.js';
export * from './fleet-events.js';
export * from './actor-events.js';
export * from './access.js';
export * from './attention.js';
export * from './grants.js';
export * from './commands.js';
export * from './run-note.js';
export * from './words.js';
export * from './board.js';
export * from './conversation.js';
export * from './verb-bodies.js';
export * from './verbs.js';
export * from './members.js';
export * from './view.js';
export * from './search.js';
export * from './secret-ref.js';
export * from './figures.js';
export * from './settings.js';
export * from './answers.js';
export * from './queries.js';
export * from './roles.js';
export * from './feed.js';
export {
  DeviceAtWork,
  LIVE_CLOSE,
  LIVE_LIMITS,
  ListMessage,
  LiveErrorCode,
  LiveTopic,
  LiveWord,
  OutputCursor,
} from './live.js';
export * from './live-messages.js';
export * from './dead-letter.js';
export * from './version.js';
export { asyncApiDocument } from './asyncapi.js';
export * from './subjects.js';
export * from './run-name.js';
export * from './similar.js';
export * from './streams.js';
export * from './aip/limits.js';
export * from './aip/frames.js';
export * from './aip/client-messages.js';
export * from './aip/server-messages.js';
