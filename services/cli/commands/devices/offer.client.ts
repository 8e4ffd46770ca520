import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { request as askHttp } from 'node:http';
import { request as askHttps } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installationRoot, offerDir, readOffer } from '#libs/device-offer';
import { DeviceOffer, parseJson } from '#proto';
import { EXIT, failure, tell, type CliContext, type ExitCode } from '../../terminal/index.js';
import { offeredAt } from './enroll-block.js';

const MAKING_MS_MAX = 300_000;
const ANSWER_MS = 3_000;
const run = promisify(execFile);

/** What this installation offers, made of its build where it can make it; undefined: nobody has made anything. */
export async function offerOf(
  { env, signal }: Pick<CliContext, 'env' | 'signal'>,
  platforms: readonly string[] = [],
): Promise<DeviceOffer | undefined> {
  const maker = join(installationRoot(), 'tools/device-archive.mjs');
  const canMake = await access(maker).then(
    () => true,
    () => false,
  );
  // An image has what was made with it.
  if (!canMake) return readOffer(offerDir(env['ORRERY_DEVICE_OFFER']));
  try {
    const { stdout } = await run(process.execPath, [maker, ...platforms], { env, signal, timeout: MAKING_MS_MAX });
    return DeviceOffer.safeParse(parseJson(stdout)).data;
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw failure(said === '' ? 'The archive of the device client cannot be made.' : said, error);
  }
}

/** `orrery devices archive`: makes what machines install, also for other platforms than this one. */
export async function makeArchive(context: CliContext, platforms: readonly string[]): Promise<ExitCode> {
  const offer = await offerOf(context, platforms);
  if (offer === undefined) throw failure('This installation cannot make archives: make them where its image is built.');
  if (context.json) return tell(context, { offer });
  context.terminal.out(`release ${offer.release}`);
  for (const { file, sha256, bytes } of [offer.script, ...Object.values(offer.archives)]) {
    context.terminal.out(`  ${sha256}  ${file}  ${bytes}`);
  }
  return EXIT.ok;
}

/** Why the script of the offer cannot be fetched under this address, as seen from here; undefined: it can. */
export async function whyNotServed(
  url: string,
  offer: DeviceOffer,
  ca: string | undefined,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const address = offeredAt(url, offer.script.file);
  const options = { method: 'HEAD', agent: false, signal: AbortSignal.timeout(ANSWER_MS) } as const;
  const request = address.startsWith('https:')
    ? askHttps(address, { ...options, ...(ca !== undefined && { ca }) })
    : askHttp(address, options);
  request.once('error', (error) =>
    resolve(error.name === 'TimeoutError' ? 'nobody answers' : error.message || error.name),
  );
  request.once('response', ({ statusCode }) =>
    resolve(statusCode === 200 ? undefined : `it answers HTTP ${statusCode}`),
  );
  request.end();
  return promise;
}
