import { Kvm, type KV } from '@nats-io/kv';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { connectBus } from '#libs/messaging';
import { BUCKETS, DeviceAnswer, OutputChunk, Presence, subjects } from '#proto';
import { CheckFailed } from './check.js';
import type { Driver, OutputWatch } from './driver.js';

/** A request is repeated like the device-agent's: who gave up the device a moment ago may have been the only one to hear it. */
const TRY_MS = 4_000;
/** Without an answer for so long there will be none. */
const ASK_MS = 12_000;
/** Who has just registered may not be heard of yet, and output is on its way: no longer than this. */
const SOON_MS = 5_000;
const RESPONDER_AGAIN_MS = 20;

export interface BusDriverOptions {
  readonly url: string;
  readonly seedFile?: string | undefined;
  /** User of the bus; has to have the rights of `admin`. */
  readonly user?: string;
  /** How long everything may take on a machine that is busy; when absent what an idle one needs is enough. */
  readonly patienceMs?: number | undefined;
}

interface Patience {
  readonly askMs: number;
  readonly soonMs: number;
}

/** Makes a gateway of ours send COMMANDs: asks on the bus as its device-agent does. */
export async function busDriver({ url, seedFile, user = 'admin', patienceMs = 0 }: BusDriverOptions): Promise<Driver> {
  const patience = { askMs: Math.max(ASK_MS, patienceMs), soonMs: Math.max(SOON_MS, patienceMs) };
  const nc = await connectBus({ url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
  const presence = await new Kvm(nc).open(BUCKETS.PRESENCE.bucket, { bindOnly: true });
  return {
    ask: (request) => {
      const subject = subjects.deviceCommand(request.deviceId);
      const answer = asked(nc, { subject, body: JSON.stringify(request) }, patience).then((json) =>
        DeviceAnswer.parse(json),
      );
      // A check that has failed already waits for it no more.
      answer.catch(() => undefined);
      return answer;
    },
    settled: () => nc.flush(),
    sessionOf: (deviceId) => sessionOf(presence, deviceId),
    output: (commandId) => watch(nc, subjects.output(commandId), patience),
    close: () => nc.close(),
  };
}

interface Question {
  readonly subject: string;
  readonly body: string;
}

async function asked(nc: NatsConnection, { subject, body }: Question, { askMs, soonMs }: Patience): Promise<unknown> {
  const began = performance.now();
  for (;;) {
    try {
      return (await nc.request(subject, body, { timeout: TRY_MS })).json();
    } catch (cause) {
      const elapsedMs = performance.now() - began;
      const nobody = cause instanceof errors.RequestError && cause.isNoResponders();
      if (nc.isClosed()) throw new CheckFailed('the connection to the bus is closed', { cause });
      if (nobody && elapsedMs > soonMs) throw new CheckFailed('nobody takes requests for the device', { cause });
      if (elapsedMs > askMs) throw new CheckFailed(`a request on the bus was not answered in ${askMs} ms`, { cause });
      if (nobody) await new Promise((resolve) => setTimeout(resolve, RESPONDER_AGAIN_MS));
    }
  }
}

async function sessionOf(kv: KV, deviceId: string): Promise<string | null> {
  const entry = await kv.get(deviceId);
  return entry?.operation === 'PUT' ? Presence.parse(entry.json()).sessionId : null;
}

async function watch(nc: NatsConnection, subject: string, { soonMs }: Patience): Promise<OutputWatch> {
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
      const late = new CheckFailed(`${pieces.length} of ${count} pieces of output came in ${soonMs} ms`);
      const timer = setTimeout(() => reject(late), soonMs);
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
