import type { ActionName, LiveTopic } from '#proto';
import type { AccessReading } from '../access/index.js';

/** What has to be allowed to who follows it. */
export const TOPIC_ACTIONS = {
  run: 'WATCH',
  attempts: 'READ_OUTPUT',
  plans: 'READ_OUTPUT',
  output: 'READ_OUTPUT',
  runs: 'logging.runs',
  fleet: 'registry.devices',
  attention: 'logging.attention',
} as const satisfies Readonly<Record<LiveTopic['kind'], ActionName>>;

/** What is recorded of who follows it; undefined for lists, which tell of no outputs. */
export function readingOf(topic: LiveTopic): AccessReading | undefined {
  switch (topic.kind) {
    case 'run':
      return { what: 'EVENTS_READ', runId: topic.run };
    case 'attempts':
    case 'plans':
      return { what: 'OUTPUT_READ', runId: topic.run };
    case 'output':
      return { what: 'OUTPUT_READ', runId: topic.run, taskId: topic.task };
    default:
      return undefined;
  }
}
