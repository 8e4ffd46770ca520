import { lookAtPostgres } from '#libs/embedded';
import { readSecret } from '#libs/keys';
import type { Endpoints, Home } from '../../home/index.js';
import { messageOf } from '../../terminal/index.js';
import { bad, ok, warn, type Diagnosis } from './finding.js';

const MAJOR_MIN = 14;
const BYTES_PER_MIB = 1024 ** 2;
const USER = 'orrery';

/** The database that the projections are in: the one of the environment, or that of the home. */
export async function checkDatabase(
  home: Home,
  { env, endpoints }: { readonly env: NodeJS.ProcessEnv; readonly endpoints: Endpoints | undefined },
): Promise<Diagnosis[]> {
  const url = await addressOf(home, env, endpoints);
  if (url === undefined) return [warn('postgres', 'nobody says where it is', 'it is looked at where the system runs')];
  try {
    const { version, bytes } = await lookAtPostgres(url);
    const what = `PostgreSQL ${version}, ${Math.ceil(bytes / BYTES_PER_MIB)} MiB`;
    if (Number.parseInt(version, 10) >= MAJOR_MIN) return [ok('postgres', what)];
    return [warn('postgres', what, `it is older than ${MAJOR_MIN}, with which nothing is tested`)];
  } catch (error) {
    const remedy = 'lists and reports wait for it; runs go on';
    return [bad('postgres', `does not answer: ${messageOf(error).replaceAll(url, 'its address')}`, remedy)];
  }
}

async function addressOf(
  home: Home,
  env: NodeJS.ProcessEnv,
  endpoints: Endpoints | undefined,
): Promise<string | undefined> {
  const given = env['ORRERY_DATABASE_URL'] ?? '';
  const address = given === '' ? (endpoints?.postgres ?? '') : given;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username === '') url.username = USER;
  const file = given === '' ? home.secretFile('postgres.password') : (env['ORRERY_DATABASE_PASSWORD_FILE'] ?? '');
  if (url.password === '' && file !== '') url.password = encodeURIComponent((await readSecret(file)) ?? '');
  return url.href;
}
