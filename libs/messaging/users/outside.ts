import type { OutsideAccount } from '#libs/embedded';
import { feedDurable, FIRST_EXTERNAL, LIMITS, subjects, type ActorId, type DurableSpec } from '#proto';

/** The JetStream API of the services as it is called outside: that of the domain `orrery`, to any client of NATS. */
const API_OUTSIDE = '$JS.orrery.API';
const API = '$JS.API';

/** What an operator has given to an external system beyond what each has; only what its server has to know. */
export interface OutsideLimits {
  /** Connections at a time, of all its keys together. */
  readonly connections?: number | undefined;
}

interface OutsideUser {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly outside: OutsideAccount;
}

/**
 * An external system as the server has it: an account of its own, so that neither a subject nor a reply of it reaches anything but what
 * crosses the border. The first one asks, and is answered, where it was in version 0.1.0, too. It asks in its own name, hears what is answered to that, and follows its feed with the durable that is made for it.
 * Its users may do no more than the border lets through.
 */
export function outsideUser(
  actorId: ActorId,
  { connections = LIMITS.externalConnectionsMax }: OutsideLimits = {},
): OutsideUser {
  const isFirst = actorId === FIRST_EXTERNAL;
  const services = [
    ...(isFirst ? [{ subject: subjects.requests }] : []),
    { subject: subjects.requestsOf(actorId) },
    { subject: subjects.submit },
    ...followed(feedDurable(actorId)),
  ];
  const hears = [...(isFirst ? [subjects.anyAnswer] : []), subjects.answersTo(actorId)];
  return {
    publish: services.map(({ subject, as = subject }: { subject: string; as?: string }) => as),
    subscribe: hears,
    outside: {
      name: `EXTERNAL_${actorId}`,
      services,
      hears,
      connectionsMax: connections,
      subscriptionsMax: LIMITS.externalSubscriptionsMax,
      payloadBytesMax: LIMITS.externalPayloadBytesMax,
    },
  };
}

/** A durable is looked at, taken from and acknowledged. */
function followed({ stream, durable }: DurableSpec): OutsideAccount['services'] {
  const api = (call: string) => ({
    subject: `${API}.CONSUMER.${call}.${stream}.${durable}`,
    as: `${API_OUTSIDE}.CONSUMER.${call}.${stream}.${durable}`,
  });
  return [api('INFO'), { ...api('MSG.NEXT'), streams: true }, { subject: `$JS.ACK.${stream}.${durable}.>` }];
}

/**
 * A person as the server has him: he reads the streams of the services, and lives in an account of his own all the same. Where an answer is
 * to go says who asks, and the server does not look whether he may publish there: so it goes to a subject of his account, and never to one of theirs.
 */
export function personAccount(
  actorId: ActorId,
  { publish, subscribe }: Pick<OutsideUser, 'publish' | 'subscribe'>,
): OutsideAccount {
  return {
    name: `PERSON_${actorId}`,
    services: publish.map((subject) => ({ subject, streams: MANY_ANSWERS.test(subject) })),
    hears: subscribe.filter((subject) => !subject.startsWith('_INBOX_')),
    connectionsMax: LIMITS.personConnectionsMax,
    subscriptionsMax: LIMITS.personSubscriptionsMax,
    payloadBytesMax: LIMITS.personPayloadBytesMax,
  };
}

/** A page of a stream, and whoever is there. */
const MANY_ANSWERS = /\.DIRECT\.GET\.|^\$SRV\./u;
