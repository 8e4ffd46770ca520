/** Scenarios of `@modelcontextprotocol/conformance` 0.1.16 that a server of tools alone, without sessions, has to pass. */
export const APPLICABLE = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'] as const;

const FIXTURES = 'calls tools of a test server that exist nowhere else (test_...)';
const STREAMS = 'is about streams that a server opens; ours answers every request with one JSON document';
const RESOURCES = 'this server offers no resources, and says so when it is connected to';
const PROMPTS = 'this server offers no prompts, and says so when it is connected to';

/** Every other one, and why it says nothing about this server. Those that call fixtures have counterparts in test/mcp. */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'logging-set-level': 'this server sends its host no log',
  'completion-complete': 'completion is for prompts and resources',
  'tools-call-simple-text': FIXTURES,
  'tools-call-image': FIXTURES,
  'tools-call-audio': FIXTURES,
  'tools-call-embedded-resource': FIXTURES,
  'tools-call-mixed-content': FIXTURES,
  'tools-call-with-logging': FIXTURES,
  'tools-call-error': FIXTURES,
  'tools-call-with-progress': FIXTURES,
  'tools-call-sampling': FIXTURES,
  'tools-call-elicitation': FIXTURES,
  'json-schema-2020-12': FIXTURES,
  'elicitation-sep1034-defaults': FIXTURES,
  'elicitation-sep1330-enums': FIXTURES,
  'server-sse-polling': STREAMS,
  'server-sse-multiple-streams': STREAMS,
  'resources-list': RESOURCES,
  'resources-read-text': RESOURCES,
  'resources-read-binary': RESOURCES,
  'resources-templates-read': RESOURCES,
  'resources-subscribe': RESOURCES,
  'resources-unsubscribe': RESOURCES,
  'prompts-list': PROMPTS,
  'prompts-get-simple': PROMPTS,
  'prompts-get-with-args': PROMPTS,
  'prompts-get-embedded-resource': PROMPTS,
  'prompts-get-with-image': PROMPTS,
};
