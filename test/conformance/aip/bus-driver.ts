import { Kvm, type KV } from '@nats-io/kv';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { connectBus } from '#libs/messaging';
import { BUCKETS, DeviceAnswer, OutputChunk, Presence, subjects } from '#proto';
import { CheckFailed } from './check.js';
import type { Driver, OutputWatch } from './driver.js';

/** A request is repeated like the device-agent's: who gave up the device a moment ago may have been the only one to hear it. */
const TRY_MS = 4_000;
const ASK_MS = 12_000;
/** Who has just registered may not be heard of yet. */
const RESPONDER_MS = 5_000;
const RESPONDER_AGAIN_MS = 20;
const OUTPUT_MS = 5_000;

export interface BusDriverOptions {
  readonly url: string;
  readonly seedFile?: string | undefined;
  /** User of the bus; has to have the rights of `admin`. */
  readonly user?: string;
}

/** Makes a gateway of ours send COMMANDs: asks on the bus as its device-agent does. */
export async function busDriver({ url, seedFile, user = 'admin' }: BusDriverOptions): Promise<Driver> {
  const nc = await connectBus({ url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
  const presence = await new Kvm(nc).open(BUCKETS.PRESENCE.bucket, { bindOnly: true });
  return {
    ask: (request) => {
      const subject = subjects.deviceCommand(request.deviceId);
      const answer = asked(nc, subject, JSON.stringify(request)).then((json) => DeviceAnswer.parse(json));
      // A check that has failed already waits for it no more.
      answer.catch(() => undefined);
      return answer;
    },
    settled: () => nc.flush(),
    sessionOf: (deviceId) => sessionOf(presence, deviceId),
    output: (commandId) => watch(nc, subjects.output(commandId)),
    close: () => nc.close(),
  };
}

async function asked(nc: NatsConnection, subject: string, body: string): Promise<unknown> {
  const began = performance.now();
  for (;;) {
    try {
      return (await nc.request(subject, body, { timeout: TRY_MS })).json();
    } catch (cause) {
      const elapsedMs = performance.now() - began;
      const nobody = cause instanceof errors.RequestError && cause.isNoResponders();
      if (nobody && elapsedMs > RESPONDER_MS) throw new CheckFailed('nobody takes requests for the device', { cause });
      if (elapsedMs > ASK_MS) throw new CheckFailed(`a request on the bus was not answered in ${ASK_MS} ms`, { cause });
      if (nobody) await new Promise((resolve) => setTimeout(resolve, RESPONDER_AGAIN_MS));
    }
  }
}

async function sessionOf(kv: KV, deviceId: string): Promise<string | null> {
  const entry = await kv.get(deviceId);
  return entry?.operation === 'PUT' ? Presence.parse(entry.json()).sessionId : null;
}

async function watch(nc: NatsConnection, subject: string): Promise<OutputWatch> {
  const pieces: OutputChunk[] = [];
  const waiting = new Set<() => void>();
  const subscription = nc.subscribe(subject, {
    callback: (error, message) => {
      if (error !== null) return;
      pieces.push(OutputChunk.parse(message.json()));
      for (const look of waiting) look();
    },
  });
  await nc.flush();
  return {
    pieces,
    until: async (count) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => (pieces.length >= count ? resolve() : undefined);
      const late = new CheckFailed(`${pieces.length} of ${count} pieces of output came in ${OUTPUT_MS} ms`);
      const timer = setTimeout(() => reject(late), OUTPUT_MS);
      waiting.add(look);
      look();
      await promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(look);
      });
    },
    stop: () => subscription.unsubscribe(),
  };
}
