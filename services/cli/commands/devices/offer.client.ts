import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { request as askHttp } from 'node:http';
import { request as askHttps } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GatewayUrl, installationRoot, offerDir, offeredAt, readOffer } from '#libs/device-offer';
import { DeviceOffer, OFFER_FILE, parseJson } from '#proto';
import { homeOf, parseEndpoints } from '../../home/index.js';
import { EXIT, failure, tell, type CliContext, type ExitCode } from '../../terminal/index.js';

const MAKING_MS_MAX = 300_000;
const ANSWER_MS = 3_000;
const OFFER_BYTES_MAX = 64 * 1024;
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

/** Of the system that runs in this home; undefined when none does. */
export const endpointsHere = async ({ env }: Pick<CliContext, 'env'>) =>
  parseEndpoints(await readFile(homeOf(env).endpointsFile, 'utf8').catch(() => ''));

/**
 * The release that the system which is asked offers to its devices, as one of its gateways says: this program may be of another installation.
 * Where no gateway can be asked, what this installation offers counts, if the system is its own. Undefined: nothing, or nobody knows.
 */
export async function releaseOffered(context: Pick<CliContext, 'env'>): Promise<string | undefined> {
  const { env } = context;
  const isElsewhere = (env['ORRERY_NATS_URL'] ?? '') !== '';
  const said = (isElsewhere ? undefined : (await endpointsHere(context))?.aip) ?? env['ORRERY_AIP_URL'];
  const url = GatewayUrl.safeParse(said).data;
  const told = url === undefined ? undefined : await toldBy(offeredAt(url, OFFER_FILE));
  if (told !== undefined) return told.release;
  const own = env['ORRERY_DEVICE_OFFER'];
  return isElsewhere && !own ? undefined : (await readOffer(offerDir(own)))?.release;
}

/** What a gateway offers, `{}` when that is nothing; undefined when it does not say. */
async function toldBy(address: string): Promise<{ readonly release?: string } | undefined> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    if (answer.status === 404) return {};
    const length = Number(answer.headers.get('content-length') ?? OFFER_BYTES_MAX);
    return answer.ok && length < OFFER_BYTES_MAX ? DeviceOffer.safeParse(await answer.json()).data : undefined;
  } catch {
    return undefined;
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
