import type { Logger } from 'pino';
import { delayMs, RECONNECT, Unwelcome, type Credentials } from '#libs/aip';
import { makeRenewAssertion, type DeviceSecret } from '#libs/keys';
import type { DeviceId } from '#proto';
import type { IdentityAnswer, IdentityClient } from './identity.client.js';

/** What this device proves itself with, whenever it connects. */
export interface CredentialSource extends Credentials {
  /** A connection is open; from now on it hears of each renewed credential. */
  connected(tell: (credential: string) => void): void;
  stop(): void;
}

export interface KeyCredentialsOptions {
  readonly client: IdentityClient;
  /** Aborted by `stop`: ends what the client still waits for. */
  readonly ended: AbortController;
  readonly deviceId: DeviceId;
  readonly secret: DeviceSecret;
  /** The one that came with joining. */
  readonly first: Issued | undefined;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly logger: Logger;
}

type Issued = Extract<IdentityAnswer, { kind: 'issued' }>;

/** A third is left for all that can go wrong. */
const RENEW_AFTER = 2 / 3;
/** A credential that is over before the handshake is would be refused. */
const USED_WITHIN_MS = 2_000;
/** Who is not believed again within this, with a new one, gains nothing by a newer one. */
const DISBELIEF_MS = 60_000;
/** A timer of the runtime holds no longer. */
/** When the clocks are so far apart that what was just given seems to be over. */
const TIMER_MS_MIN = 1_000;
const TIMER_MS_MAX = 24 * 60 * 60 * 1_000;

/** Short-lived credentials of a device that has joined, each got with its key; a week without one loses nothing. */
export class KeyCredentials implements CredentialSource {
  readonly #options: KeyCredentialsOptions;
  #current: { readonly text: string; readonly untilMs: number } | undefined;
  /** What the open connection knows, and how it is told more. */
  #told: { readonly text: string; readonly tell: (credential: string) => void } | undefined;
  #used = '';
  #asking: Promise<IdentityAnswer> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #disbelievedAtMs = -Infinity;
  #complaint = '';

  constructor(options: KeyCredentialsOptions) {
    this.#options = options;
    if (options.first !== undefined) this.#take(options.first);
  }

  async credential(): Promise<string> {
    const current = this.#current;
    if (current === undefined || this.#options.monotonicMs() + USED_WITHIN_MS > current.untilMs) await this.#renew();
    this.#used = this.#current?.text ?? '';
    return this.#used;
  }

  disbelieved(): boolean {
    const nowMs = this.#options.monotonicMs();
    if (nowMs - this.#disbelievedAtMs < DISBELIEF_MS) return false;
    this.#disbelievedAtMs = nowMs;
    // Perhaps there is a newer one than the one that was not believed.
    if (this.#current?.text === this.#used) this.#current = undefined;
    return true;
  }

  connected(tell: (credential: string) => void): void {
    this.#told = { text: this.#used, tell };
    this.#tell();
  }

  stop(): void {
    this.#options.ended.abort();
    clearTimeout(this.#timer);
    this.#told = undefined;
  }

  async #renew(): Promise<void> {
    const answer = await this.#ask();
    if (answer.kind === 'issued') return;
    throw answer.kind === 'refused' ? new Unwelcome(this.#sentence(answer.message)) : new Error(answer.reason);
  }

  /** One question at a time for all callers. */
  #ask(): Promise<IdentityAnswer> {
    const { client, deviceId, secret } = this.#options;
    const body = async (now: number) => ({ assertion: await makeRenewAssertion(secret, { deviceId, now }) });
    this.#asking ??= client
      .ask({ path: 'credential', body })
      .then((answer) => {
        if (answer.kind === 'issued') this.#take(answer);
        else if (answer.kind === 'refused') this.#complain(this.#sentence(answer.message));
        return answer;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #take({ credential, lifeMs }: Issued): void {
    const { monotonicMs, logger } = this.#options;
    this.#current = { text: credential, untilMs: monotonicMs() + lifeMs };
    if (this.#complaint !== '') logger.info('the server accepts this device again');
    [this.#failures, this.#complaint] = [0, ''];
    this.#renewIn(lifeMs * RENEW_AFTER);
    this.#tell();
  }

  #tell(): void {
    const [told, current] = [this.#told, this.#current];
    if (told === undefined || current === undefined || told.text === current.text) return;
    this.#told = { text: current.text, tell: told.tell };
    told.tell(current.text);
  }

  #renewIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#renewInTime(), Math.min(Math.max(ms, TIMER_MS_MIN), TIMER_MS_MAX));
    // It keeps a connection alive, not the process.
    this.#timer.unref();
  }

  /** Before the old one is over; after that the next connection asks. */
  async #renewInTime(): Promise<void> {
    const answer = await this.#ask();
    const { monotonicMs, random, logger } = this.#options;
    const current = this.#current;
    if (answer.kind === 'issued' || current === undefined || monotonicMs() >= current.untilMs) return;
    this.#failures++;
    if (answer.kind === 'away') logger.debug({ reason: answer.reason }, 'the credential is not renewed yet');
    this.#renewIn(delayMs(RECONNECT, this.#failures, random()));
  }

  /** Once, however often it is tried. */
  #complain(sentence: string): void {
    if (sentence === this.#complaint) return;
    this.#complaint = sentence;
    this.#options.logger.error(sentence);
  }

  #sentence(reason: string): string {
    return (
      `The server does not accept this device, ${this.#options.deviceId}, any more: ${reason} ` +
      'Have it enrolled again and join with the new token (--token-file); until then it is tried every 10 s.'
    );
  }
}

/** A token that does not change by itself: from a file, read at every connection, or from standard input. */
export function staticToken(read: () => Promise<string>): CredentialSource {
  return { credential: read, disbelieved: () => false, connected: () => undefined, stop: () => undefined };
}
