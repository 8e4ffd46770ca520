import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { readOffer } from '#libs/device-offer';
import type { Clock } from '#libs/platform';
import { OFFER_FILE } from '#proto';
import { AddressRates, urlOf } from '../identity/index.js';

export interface OfferHttpOptions {
  readonly offerDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A machine asks for two files, a rack of machines behind one address for as many as it has places. */
const RATES = {
  perAddress: { perSecond: 5, burst: 60 },
  inTotal: { perSecond: 50, burst: 200 },
  addressesMax: 10_000,
};
/** At the same time: sockets that nobody has proven anything on, each for as long as a slow line takes. */
const DOWNLOADS_MAX = 32;
const DOWNLOAD_MS_MAX = 15 * 60 * 1_000;

/**
 * Gives out the files of the offer, which are as public as the program is. No token: who asks is not a device yet. A file is found by its
 * name in the offer, never by a path.
 */
export class OfferHttp {
  readonly #options: OfferHttpOptions;
  readonly #rates: AddressRates;
  #downloads = 0;

  constructor(options: OfferHttpOptions) {
    this.#options = options;
    this.#rates = new AddressRates(RATES, options.clock.now());
  }

  /** False: the request is about something else. `takesLong`: the socket will be needed for longer than a handshake. */
  handle(request: IncomingMessage, response: ServerResponse, takesLong: () => void): boolean {
    const [, file] = /^\/device\/([^/]*)$/u.exec(urlOf(request)?.pathname ?? '') ?? [];
    if (file === undefined) return false;
    void this.#serve(file, { request, response, takesLong });
    return true;
  }

  async #serve(
    name: string,
    {
      request: { method, socket },
      response,
      takesLong,
    }: { request: IncomingMessage; response: ServerResponse; takesLong: () => void },
  ): Promise<void> {
    const { offerDir, clock, logger } = this.#options;
    const refuse = (status: number, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { Connection: 'close', 'Content-Length': 0, ...headers }).end();
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, { Allow: 'GET, HEAD' });
    const waitMs = this.#rates.take(socket.remoteAddress ?? '', clock.now());
    if (waitMs > 0) return refuse(429, { 'Retry-After': String(Math.ceil(waitMs / 1_000)) });
    const offer = await readOffer(offerDir);
    const offered = [offer?.script, ...Object.values(offer?.archives ?? {})].find((one) => one?.file === name);
    if (offer === undefined || (offered === undefined && name !== OFFER_FILE)) return refuse(404);
    if (offered === undefined) {
      const text = JSON.stringify(offer);
      response.writeHead(200, { ...HEADERS, 'Content-Type': 'application/json', 'Content-Length': text.length });
      return void response.end(method === 'HEAD' ? undefined : text);
    }
    if (this.#downloads >= DOWNLOADS_MAX) return refuse(503, { 'Retry-After': '10' });
    response.writeHead(200, {
      ...HEADERS,
      'Content-Type': 'application/octet-stream',
      'Content-Length': offered.bytes,
    });
    if (method === 'HEAD') return void response.end();
    this.#downloads += 1;
    takesLong();
    try {
      const signal = AbortSignal.timeout(DOWNLOAD_MS_MAX);
      await pipeline(createReadStream(join(offerDir, offered.file)), response, { signal });
      logger.info({ file: name, remoteAddress: socket.remoteAddress }, 'a file of the offer was fetched');
    } catch (error) {
      // It left, or was too slow: what it has of the file has another SHA-256.
      logger.info({ err: error, file: name }, 'a file of the offer was not fetched whole');
    } finally {
      this.#downloads -= 1;
    }
  }
}

const HEADERS = { Connection: 'close', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
