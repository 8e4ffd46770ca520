import { feedDurable, LIMITS, subjects, type GivenLimits } from '#proto';

/** What an external system may take, with what each has where it was given nothing. */
export function limitsText(given: GivenLimits): string {
  const { requestsPerMinute = LIMITS.externalRequestsPerMinute, bytesPerMinute = LIMITS.externalBytesPerMinute } =
    given;
  const { openRuns = LIMITS.externalOpenRuns, connections = LIMITS.externalConnectionsMax, feed = 'own' } = given;
  return [
    `${requestsPerMinute} requests and ${bytesPerMinute} bytes a minute`,
    `${openRuns} open runs`,
    `${connections} connections`,
    feed === 'own' ? 'the feed of its own runs' : 'the feed of all runs',
  ].join(', ');
}

/** What another system has to know to connect. */
export function connectionText(
  id: string,
  { key, seedFile }: { readonly key: string; readonly seedFile?: string | undefined },
): string[] {
  const example = 'node deploy/examples/publish/publish.ts deploy/examples/fleet-health.json';
  return [
    '',
    `${id} lives in an account of its own on the bus:`,
    `  signs, asks     ${subjects.submit}, answered at once`,
    `  or publishes    ${subjects.requestsOf(id)}, answered on ${subjects.answersTo(id).replace('*', '<requestId>')}`,
    `  follows         the durable ${feedDurable(id).durable} of FEED: JetStream domain orrery (prefix $JS.orrery.API)`,
    `  hears replies   _INBOX_${key}.>`,
    `  may take        ${limitsText({})}; more: orrery people limits ${id} --help`,
    '',
    `  ORRERY_ACTOR=${id} ORRERY_NATS_SEED_FILE=${seedFile ?? `${id}.seed`} ${example}`,
  ];
}
