import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeviceOffer, OFFER_FILE, parseJson } from '#proto';
import type { Output } from '../cli/index.js';
import { InputError } from '../faults/index.js';
import { ownInstallation, readSettings, releaseAt } from './installed.adapter.js';

const ANSWER_MS = 10_000;
const FILE_BYTES_MAX = 256 * 1024;

/**
 * `orrery-device upgrade`: runs the script of the server's offer, as a person would; it leaves alone what is there already. Who could change
 * the offer on its way could as well give this device commands: both are kept from him by TLS.
 */
export async function upgradeClient({ out, err }: Output): Promise<number> {
  const { places } = await ownInstallation();
  const { url: urls } = await readSettings(places);
  const isPinned = await access(places.caFile).then(
    () => true,
    () => false,
  );
  const ca = isPinned ? await readFile(places.caFile, 'utf8') : undefined;
  const { url, text, fetchFile } = await fromFirst(urls, ca);
  const { data: offer } = DeviceOffer.safeParse(parseJson(text));
  if (offer === undefined) throw new InputError(`${url} offers no client.`);
  if (offer.release === (await releaseAt(places.current))) {
    out(`orrery-device: ${offer.release} is installed, and is what the server offers\n`);
    return 0;
  }
  const script = await fetchFile(offer.script.file);
  if (createHash('sha256').update(script).digest('hex') !== offer.script.sha256) {
    throw new InputError(`${offer.script.file} is not what was offered (SHA-256 differs); it is not used.`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'orrery-device-'));
  try {
    const file = join(folder, offer.script.file);
    await writeFile(file, script);
    const pinned = isPinned ? ['--ca-file', places.caFile] : [];
    const child = spawn('sh', [file, url, '--dir', places.dir, ...pinned], { stdio: ['ignore', 'inherit', 'inherit'] });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) err('orrery-device: not upgraded\n');
    return code ?? 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface FirstOffer {
  /** Of the server that answered. */
  readonly url: string;
  readonly text: string;
  readonly fetchFile: (name: string) => Promise<string>;
}

async function fromFirst(urls: readonly string[], ca: string | undefined): Promise<FirstOffer> {
  let reason = '';
  for (const url of urls) {
    const fetchFile = (name: string): Promise<string> =>
      fetchText(new URL(`device/${name}`, url.replace(/^ws/u, 'http')), ca);
    try {
      return { url, text: await fetchFile(OFFER_FILE), fetchFile };
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new InputError(`No server says what it offers: ${reason}.`);
}

async function fetchText(url: URL, ca: string | undefined): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { signal: AbortSignal.timeout(ANSWER_MS), agent: false } as const;
  const request =
    url.protocol === 'https:' ? httpsGet(url, { ...options, ...(ca !== undefined && { ca }) }) : httpGet(url, options);
  request.once('error', reject);
  request.once('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    if (response.statusCode !== 200) request.destroy(new Error(`${url.href} answers with HTTP ${response.statusCode}`));
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= FILE_BYTES_MAX) chunks.push(chunk);
      else request.destroy(new Error(`${url.href} is too long`));
    });
    response.once('error', reject);
    response.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
  return promise;
}
