import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { freePort } from '#libs/embedded';
import { connectBus } from '#libs/messaging';
import { requestRun } from '#libs/testing';
import { RunRequest, type AccessEntry, type AccessKind, type ApprovalView } from '#proto';
import { Browser } from '../../services/console/login/browser.testing.js';
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from '../../services/console/login/provider.testing.js';
import { StoryModel } from './agent-model.js';
import { STORIES } from './agent-stories.js';
import { run, TestSystem, until, type Ran } from './system.js';
import { writeRequest } from './requests.js';

/*
 * A day of three people and one external system, each through the door that is theirs: anna asks at a terminal with a key of her own,
 * bert decides in a browser, carla looks after the devices, billing asks over NATS. In the evening an auditor says who did what.
 */

let base: string;
let model: StoryModel;
let provider: TestProvider;
let system: TestSystem;
let billing: NatsConnection;
const bert = new Browser();
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  model = await StoryModel.start(STORIES);
  closers.push(() => model.stop());
  provider = await TestProvider.start(`${base}/login/callback`);
  closers.push(() => provider.stop());
  const prepare = async (home: string): Promise<NodeJS.ProcessEnv> => {
    const secretFile = join(home, 'oidc-client-secret');
    await writeFile(secretFile, CLIENT_SECRET, { mode: 0o600 });
    return {
      ORRERY_CONSOLE_PORT: String(port),
      ORRERY_CONSOLE_URL: base,
      ORRERY_OIDC_ISSUER: provider.issuer,
      ORRERY_OIDC_CLIENT_ID: CLIENT_ID,
      ORRERY_OIDC_CLIENT_SECRET_FILE: secretFile,
    };
  };
  system = await TestSystem.startWith({ env: model.env, prepare }, '--devices', '2');
  closers.push(() => system.stop());
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

const seedFileOf = (id: string): string => join(system.home, 'keys/people', `${id}.seed`);

/** The administrator of the installation, who gives and takes and has no part in the work. */
const administer = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await system.cli(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: expect.any(String) });
  return stdout;
};
/** At a terminal, with a key of one's own. */
const as = (seedFile: string, ...words: string[]): Promise<Ran> =>
  run(words, { ...system.env, ORRERY_NATS_SEED_FILE: seedFile });
const anna = (...words: string[]): Promise<Ran> => as(seedFileOf('anna'), ...words);
const carla = (...words: string[]): Promise<Ran> => as(seedFileOf('carla'), ...words);

/** In the browser of somebody who has logged in. */
async function inBrowser(path: string, body?: object): Promise<Response> {
  if (body === undefined) return bert.ask(`${base}${path}`);
  const { csrf } = (await (await bert.ask(`${base}/v1/me`)).json()) as { csrf: string };
  const headers = { 'content-type': 'application/json', 'x-orrery-csrf': csrf, origin: base };
  return bert.ask(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** What bert sees waiting in his browser. */
const waitingIn = (runId: string): Promise<ApprovalView> =>
  until(`an approval in ${runId}`, async () => {
    const { approvals } = (await (await inBrowser('/v1/approvals?state=open')).json()) as { approvals: ApprovalView[] };
    return approvals.find((approval) => approval.runId === runId);
  });

/** A task in words on web-1, for an agent. */
const inWords = (requestId: string, story: string) => ({
  requestId,
  constellation: {
    name: requestId,
    tasks: [{ id: 'task', name: story, description: `story-${story}`, target: { device: 'web-1' } }],
  },
});
/** A plain command on db-1. */
const plainly = (requestId: string) => ({
  requestId,
  constellation: {
    name: requestId,
    tasks: [
      {
        id: 'task',
        name: 'task',
        target: { device: 'db-1' },
        command: { tool: 'EXEC_CLI', arguments: { command: 'echo invoices' } },
      },
    ],
  },
});

async function askedByAnna(requestId: string, story: string): Promise<string> {
  const file = await writeRequest(system.home, inWords(requestId, story));
  const { code, stdout, stderr } = await anna('submit', '-f', file, '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return (JSON.parse(stdout) as { runId: string }).runId;
}

it('in the morning the administrator says who is there', async () => {
  await administer('people', 'add', 'anna', '--roles', 'viewer,requester,approver', '--key');
  await administer('people', 'add', 'bert', '--roles', 'viewer,approver');
  await administer('people', 'login', 'bert', '--issuer', provider.issuer, '--subject', 'bert-7');
  await administer('people', 'add', 'carla', '--roles', 'viewer,operator', '--key');
  await administer('people', 'add', 'billing', '--system', '--key');

  provider.who = 'bert-7';
  await until('bert to be let in', async () => {
    await bert.go(`${base}/login/start`);
    return (await bert.ask(`${base}/v1/me`)).ok || undefined;
  });
  const { nats: url } = await system.endpoints();
  billing = await connectBus({ url, seedFile: seedFileOf('billing'), name: 'billing' });
  closers.push(() => billing.close());
});

it('anna asks, may not approve what she has asked for herself, and bert approves it', async () => {
  const runId = await askedByAnna('anna-cleans-up', 'approve');
  const { approvalId } = await waitingIn(runId);
  const own = await anna('approve', approvalId);
  expect(own).toMatchObject({ code: 1, stderr: expect.stringContaining('anna') });
  expect((await system.show(runId)).approvals).toMatchObject([{ state: 'open' }]);

  expect((await inBrowser('/v1/approvals', { approvalId, decision: 'approve' })).status).toBe(200);
  const view = await system.untilEnd(runId);
  expect(view).toMatchObject({ outcome: 'succeeded', requestedBy: 'anna' });
  expect(view.approvals).toMatchObject([{ state: 'approved', by: { id: 'bert' } }]);
});

it('billing asks over NATS, and waits while carla holds the device; she cancels what is not wanted any more', async () => {
  expect((await carla('devices', 'hold', 'db-1', '--reason', 'new disk')).code).toBe(0);
  const seed = (await readFile(seedFileOf('billing'), 'utf8')).trim();
  const ask = (requestId: string) => requestRun(billing, RunRequest.parse(plainly(requestId)), seed);
  const [wanted, unwanted] = [await ask('invoices'), await ask('invoices-again')];
  expect((await system.show(wanted)).tasks).toMatchObject([{ status: 'PENDING' }]);

  expect((await carla('cancel', unwanted, '--reason', 'asked for twice')).code).toBe(0);
  expect((await carla('devices', 'release', 'db-1')).code).toBe(0);
  expect(await system.untilEnd(wanted)).toMatchObject({ outcome: 'succeeded', requestedBy: 'billing' });
  expect(await system.untilEnd(unwanted)).toMatchObject({ status: 'CANCELLED' });
  expect((await carla('submit', 'fleet-health')).stderr).toContain('requester');

  // What it is told is of its own runs, though it has been listening since before anna's.
  expect(await ends(billing, 2)).toEqual([
    [unwanted, 'orrery.RUN_CANCELLED'],
    [wanted, 'orrery.RUN_COMPLETED'],
  ]);
});

/** How the first runs end that an external system is told of, with their ids. */
async function ends(nc: NatsConnection, count: number): Promise<[string, string][]> {
  const { consumers } = jetstream(nc, { domain: 'orrery' });
  const feed = await until('its durable', async () => consumers.get('FEED', 'external-billing').catch(() => undefined));
  const ended: [string, string][] = [];
  for await (const message of await feed.consume()) {
    const { type, orreryrunid } = message.json<{ type: string; orreryrunid: string }>();
    if (/RUN_(?:COMPLETED|FAILED|CANCELLED)$/u.test(type)) ended.push([orreryrunid, type]);
    message.ack();
    if (ended.length === count) break;
  }
  return ended;
}

it('a token that is revoked lets nobody in any more', async () => {
  const issued = JSON.parse(await administer('tokens', 'issue', 'bert', '--scopes', 'viewer', '--json')) as {
    token: string;
    tokenId: string;
  };
  const look = async () =>
    (await fetch(`${base}/v1/runs`, { headers: { authorization: `Bearer ${issued.token}` } })).status;
  await until('the token to count', async () => (await look()) === 200 || undefined);
  await administer('tokens', 'revoke', issued.tokenId);
  await until('the token to count no more', async () => (await look()) === 401 || undefined);
  expect(await look()).toBe(401);
});

it('bert is no approver any more while something waits for him: his word is refused, and another one counts', async () => {
  const runId = await askedByAnna('anna-moves-on', 'refuse');
  const { approvalId } = await waitingIn(runId);
  await administer('people', 'role', 'bert', '--take', 'approver');
  await until('the console to have heard of it', async () => {
    const { roles } = (await (await inBrowser('/v1/me')).json()) as { roles: string[] };
    return !roles.includes('approver') || undefined;
  });
  const refused = await inBrowser('/v1/approvals', { approvalId, decision: 'approve' });
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('approver')]);
  expect((await system.show(runId)).approvals).toMatchObject([{ state: 'open' }]);
  await administer('reject', approvalId, '--note', 'it is precious');
  expect((await system.untilEnd(runId)).approvals).toMatchObject([{ state: 'rejected', by: { id: 'cli' } }]);
});

it('in the evening the auditor says who did what, from the log and from a file, and finds nothing wrong', async () => {
  const auditor = (...words: string[]) => as(join(system.home, 'keys/auditor.seed'), ...words);
  const { code, stdout } = await auditor('verify', '--all', '--json');
  const { runs } = JSON.parse(stdout) as { runs: Verified[] };
  const total = { code, findings: 0, signed: 0, vouched: 0, unsigned: 0 };
  for (const { findings, proofs } of runs) {
    total.findings += findings.length;
    total.signed += proofs.signed;
    total.vouched += proofs.vouched;
    total.unsigned += proofs.unsigned.published + proofs.unsigned.old;
  }
  // Four requests, carla's cancel and the last no, each with a key of its own; of bert the console says that he had logged in.
  expect({ runs: runs.length, ...total }).toEqual({
    runs: 4,
    code: 0,
    findings: 0,
    signed: 6,
    vouched: 1,
    unsigned: 0,
  });

  const approved = runs.find(({ proofs }) => proofs.vouched > 0)?.runId ?? '';
  const file = join(system.home, 'approved.jsonl');
  expect((await auditor('export', approved, '-o', file)).code).toBe(0);
  expect((await run(['verify', file])).stdout).toContain('who did it: 1 signed, 1 vouched for, 0 unsigned');
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll('bert-7', 'anna-1'));
  expect((await run(['verify', file])).code).toBe(1);
});

it('and who looked at what: each with his own name, in the order of the day', async () => {
  const auditor = (...words: string[]) => as(join(system.home, 'keys/auditor.seed'), ...words);
  const { code, stdout, stderr } = await auditor('access', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { entries } = JSON.parse(stdout) as { entries: AccessEntry[] };
  const of = (...kinds: AccessKind[]) =>
    entries.filter(({ what }) => kinds.includes(what)).map(({ what, actor, proof }) => [what, actor?.id, proof]);

  // His login in the browser, and the token that was his until it was revoked.
  expect(of('LOGGED_IN')).toEqual([
    ['LOGGED_IN', 'bert', 'vouched'],
    ['LOGGED_IN', 'bert', 'vouched'],
  ]);
  expect(of('VERIFIED', 'EXPORTED').slice(-2)).toEqual([
    ['VERIFIED', 'auditor', 'key'],
    ['EXPORTED', 'auditor', 'key'],
  ]);
  const taken = entries.find((entry) => entry.what === 'ROLES_CHANGED' && entry.subject === 'bert');
  expect(taken).toMatchObject({ taken: ['approver'], actor: { id: 'cli' } });
  expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
  // Nobody else may read that, and no secret is in it.
  expect(await carla('access')).toMatchObject({ code: 1, stderr: expect.stringContaining('auditor') });
  expect(stdout).not.toContain(CLIENT_SECRET);
});

interface Verified {
  readonly runId: string;
  readonly findings: readonly unknown[];
  readonly proofs: {
    readonly signed: number;
    readonly vouched: number;
    readonly unsigned: { published: number; old: number };
  };
}
