import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { encodingFor, isFilePath, isHashed, isText, mediaTypeOf } from './app-paths.js';
import { APP_PERMISSIONS, APP_POLICY } from './app-policy.js';

const FILES_MAX = 1_000;
const BYTES_MAX = 64 * 1024 * 1024;
/** How long a reader may take for a file. */
const SENDING_MS_MAX = 30_000;
const INDEX = '/index.html';
const NOT_BUILT =
  'The web application of this console is not built: run "npm run build" and start the console again.\n';

/** Of what the build has not made small: more saves one byte in a hundred, and takes five times as long and three times the memory. */
const BROTLI_QUALITY = 6;

const packed = {
  br: (bytes: Buffer): Promise<Buffer> => {
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
    const params = { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
    return promisify(brotliCompress)(bytes, { params });
  },
  gzip: (bytes: Buffer): Promise<Buffer> => promisify(gzip)(bytes),
};

/** Beside a file of the build: the same made small, so that it costs nothing when somebody asks for it. */
const MADE_SMALL = '.br';

/** One file as it is sent: read once, and made small once for each way in which browsers take it. */
class AppFile {
  readonly mediaType: string;
  readonly etag: string;
  readonly #bytes: Buffer;
  readonly #packed = new Map<keyof typeof packed, Promise<Buffer>>();

  constructor(path: string, bytes: Buffer, small: Buffer | undefined) {
    if (small !== undefined) this.#packed.set('br', Promise.resolve(small));
    this.mediaType = mediaTypeOf(path);
    this.etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
    this.#bytes = bytes;
  }

  async as(accepted: string | undefined): Promise<{ readonly bytes: Buffer; readonly encoding?: string }> {
    const encoding = isText(this.mediaType) ? encodingFor(accepted) : undefined;
    if (encoding === undefined) return { bytes: this.#bytes };
    const bytes = this.#packed.get(encoding) ?? packed[encoding](this.#bytes);
    this.#packed.set(encoding, bytes);
    return { bytes: await bytes, encoding };
  }
}

/** Beside the other programs of the build, wherever this one lies. */
export function appFolder(): string {
  for (let place = dirname(fileURLToPath(import.meta.url)); place !== dirname(place); place = dirname(place)) {
    if (existsSync(join(place, 'package.json'))) return join(place, 'dist/services/console/web');
  }
  return '';
}

/**
 * The files of the web application, from memory: what was built when this process first served it, so that its parts fit together. They are
 * for anybody, and say nothing about this system; what is shown in them needs a login.
 */
export class AppFiles {
  readonly #folder: string;
  #files: Promise<ReadonlyMap<string, AppFile>> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Answers a GET or HEAD for an address of the application. Never rejects. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let late: NodeJS.Timeout | undefined;
    response.once('prefinish', () => {
      if (!response.destroyed) late = setTimeout(() => response.destroy(), SENDING_MS_MAX).unref();
    });
    response.once('close', () => clearTimeout(late));
    try {
      await this.#answer(request, response);
    } catch {
      response.destroy();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const files = await this.#read();
    const found = files.get(path) ?? (isFilePath(path) ? undefined : files.get(INDEX));
    if (files.size === 0) return plain(response, 503, NOT_BUILT);
    if (found === undefined) return plain(response, 404, 'There is nothing here.\n');
    const { bytes, encoding } = await found.as(request.headers['accept-encoding']);
    response.setHeader('Content-Security-Policy', APP_POLICY);
    response.setHeader('Permissions-Policy', APP_PERMISSIONS);
    response.setHeader('Cache-Control', isHashed(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
    response.setHeader('Vary', 'Accept-Encoding');
    response.setHeader('ETag', found.etag);
    if (request.headers['if-none-match'] === found.etag) return void response.writeHead(304).end();
    response.setHeader('Content-Type', found.mediaType);
    response.setHeader('Content-Length', bytes.length);
    if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
    response.writeHead(200).end(request.method === 'HEAD' ? undefined : bytes);
  }

  /** What is not there is looked for again by the next who asks. */
  async #read(): Promise<ReadonlyMap<string, AppFile>> {
    this.#files ??= read(this.#folder);
    const reading = this.#files;
    const files = await reading.catch(() => new Map<string, AppFile>());
    if (!files.has(INDEX) && this.#files === reading) this.#files = undefined;
    return files.has(INDEX) ? files : new Map();
  }
}

/** Throws when it is more than an application has. */
async function read(folder: string): Promise<ReadonlyMap<string, AppFile>> {
  const files = new Map<string, AppFile>();
  let bytes = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const file = join(folder, name);
    if (name.endsWith(MADE_SMALL) || !(await stat(file)).isFile()) continue;
    const content = await readFile(file);
    const small = existsSync(file + MADE_SMALL) ? await readFile(file + MADE_SMALL) : undefined;
    bytes += content.length + (small?.length ?? 0);
    if (files.size >= FILES_MAX || bytes > BYTES_MAX) throw new Error(`${folder} holds more than an application`);
    const path = `/${name.replaceAll('\\', '/')}`;
    files.set(path, new AppFile(path, content, small));
  }
  return files;
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}
