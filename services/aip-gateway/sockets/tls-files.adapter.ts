import { readFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { ConfigError } from '#libs/platform';

/** Paths of PEM files. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Given: only clients with a certificate of this authority get as far as HTTP. */
  readonly clientCaFile: string | undefined;
}

/** As `setSecureContext` takes it. */
interface PemContext {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
  readonly minVersion: typeof TLS_VERSION_MIN;
}

/** How often the files are looked at. They are compared by content: whatever replaced them, however. */
const LOOK_EVERY_MS = 5_000;
const TLS_VERSION_MIN = 'TLSv1.2';

/**
 * The certificate of a server that listens: a renewed one counts for new connections, without a restart. Files that do not
 * fit together, because they are just being replaced, leave the old ones in use.
 */
export class TlsCertificate {
  readonly #files: TlsFiles;
  readonly #logger: Logger;
  readonly #onHangUp = (): void => void this.#lookAgain();
  #server: Server | undefined;
  #used = '';
  #refused = '';
  #looking: NodeJS.Timeout | undefined;
  #busy = false;

  constructor(files: TlsFiles, logger: Logger) {
    this.#files = files;
    this.#logger = logger;
  }

  /** Throws ConfigError when the files cannot be used. */
  async start(server: Server): Promise<void> {
    const context = await this.#read();
    this.#server = server;
    server.setSecureContext(context);
    this.#used = fingerprint(context);
    this.#looking = setInterval(() => void this.#lookAgain(), LOOK_EVERY_MS);
    process.on('SIGHUP', this.#onHangUp);
  }

  stop(): void {
    clearInterval(this.#looking);
    process.off('SIGHUP', this.#onHangUp);
    this.#server = undefined;
  }

  async #lookAgain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const context = await this.#read();
      const found = fingerprint(context);
      if (found === this.#used || this.#server === undefined) return;
      this.#server.setSecureContext(context);
      this.#used = found;
      this.#refused = '';
      this.#logger.info('the renewed TLS certificate is in use');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#refused) this.#logger.warn({ reason }, 'the TLS certificate in use stays');
      this.#refused = reason;
    } finally {
      this.#busy = false;
    }
  }

  async #read(): Promise<PemContext> {
    const { certFile, keyFile, clientCaFile } = this.#files;
    const [cert, key, ca] = await Promise.all([
      pem(certFile, 'ORRERY_AIP_TLS_CERT_FILE'),
      pem(keyFile, 'ORRERY_AIP_TLS_KEY_FILE'),
      clientCaFile === undefined ? undefined : pem(clientCaFile, 'ORRERY_AIP_TLS_CLIENT_CA_FILE'),
    ]);
    const context = { cert, key, minVersion: TLS_VERSION_MIN, ...(ca !== undefined && { ca }) } as const;
    try {
      createSecureContext(context);
    } catch (cause) {
      const why = 'must be a PEM certificate with the key in ORRERY_AIP_TLS_KEY_FILE';
      throw new ConfigError(`ORRERY_AIP_TLS_CERT_FILE ${why}.`, { cause });
    }
    return context;
  }
}

const fingerprint = ({ cert, key, ca }: PemContext): string => [cert, key, ca ?? ''].join('\n');

async function pem(file: string, variable: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'unknown reason';
    throw new ConfigError(`${variable} names a file that cannot be read (${code}).`, { cause });
  });
  // An empty one, as it is for a moment while it is written, would pass for none at all.
  if (!text.includes('-----BEGIN ')) throw new ConfigError(`${variable} must name a PEM file.`);
  return text;
}
