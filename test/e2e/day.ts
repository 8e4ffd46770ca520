import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectBus } from '#libs/messaging';
import { familiesOf, requestRun, samplesOf, valueOf } from '#libs/testing';
import {
  RunRequest,
  type AccessEntry,
  type AccessKind,
  type ApprovalView,
  type FiguresAnswer,
  type SearchAnswer,
} from '#proto';
import { Browser } from '../../services/console/login/browser.testing.js';
import { CLIENT_ID, CLIENT_SECRET, type TestProvider } from '../../services/console/login/provider.testing.js';
import { CAUSED_ELSEWHERE } from '../monitoring/caused-elsewhere.js';
import { documentedMetrics, seriesOf } from '../monitoring/metrics-page.js';
import { run, until, type Ran, type TestSystem } from './system.js';
import { writeRequest } from './requests.js';

/*
 * A day of three people and one external system, each through the door that is theirs: anna asks at a terminal with a key of her own,
 * bert decides in a browser, carla looks after the devices, billing asks over NATS. In the evening an auditor says who did what.
 */

/** Where the day is: a system whose people log in with somebody else, in its first hours. */
interface Given {
  readonly system: TestSystem;
  readonly provider: TestProvider;
  /** Of its console. */
  readonly base: string;
}

let base: string;
let provider: TestProvider;
let system: TestSystem;
let billing: NatsConnection;
/** In reverse order. */
const closers: (() => Promise<unknown>)[] = [];
const bert = new Browser();

/** What lies in the home of a system whose people log in there, and what it is told. */
export async function prepareForPeople(
  home: string,
  { provider: { issuer }, base: url }: Pick<Given, 'provider' | 'base'>,
): Promise<NodeJS.ProcessEnv> {
  const secretFile = join(home, 'oidc-client-secret');
  await writeFile(secretFile, CLIENT_SECRET, { mode: 0o600 });
  return {
    ORRERY_CONSOLE_PORT: new URL(url).port,
    ORRERY_CONSOLE_URL: url,
    ORRERY_OIDC_ISSUER: issuer,
    ORRERY_OIDC_CLIENT_ID: CLIENT_ID,
    ORRERY_OIDC_CLIENT_SECRET_FILE: secretFile,
    ORRERY_METRICS_LABELS: 'team',
  };
}

const seedFileOf = (id: string): string => join(system.home, 'keys/people', `${id}.seed`);

/** The administrator of the installation, who gives and takes and has no part in the work. */
const administer = async (...words: string[]): Promise<string> => {
  const { code, stdout, stderr } = await system.cli(...words);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: expect.any(String) });
  return stdout;
};
/** At a terminal, with a key of one's own. */
const as = (seedFile: string, ...words: string[]): Promise<Ran> =>
  system.cliWith({ ORRERY_NATS_SEED_FILE: seedFile }, ...words);
const anna = (...words: string[]): Promise<Ran> => as(seedFileOf('anna'), ...words);
const carla = (...words: string[]): Promise<Ran> => as(seedFileOf('carla'), ...words);

/** In the browser of somebody who has logged in. */
async function inBrowser(path: string, body?: object): Promise<Response> {
  if (body === undefined) return bert.ask(`${base}${path}`);
  const { csrf } = (await (await bert.ask(`${base}/v1/me`)).json()) as { csrf: string };
  const headers = { 'content-type': 'application/json', 'x-orrery-csrf': csrf, origin: base };
  return bert.ask(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The names of series that were more than 0 when somebody collected. */
const moved = new Set<string>();

/** What every service tells now. */
async function collected(): Promise<ReadonlyMap<string, string>> {
  const { health } = JSON.parse(await readFile(join(system.home, 'endpoints.json'), 'utf8')) as {
    health: Record<string, string>;
  };
  const asked = Object.entries(health).map(async ([service, url]) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const { name, value } of samplesOf(text)) if (value > 0) moved.add(name);
    return [service, text] as const;
  });
  return new Map(await Promise.all(asked));
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
  labels: { team: 'web' },
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

/** Runs of billing that were done before the hold counted. */
let early = 0;

/** It counts what happened in all its life: nothing else has happened in this system yet. */
export function testsOfDay(given: () => Given): void {
  beforeAll(() => {
    ({ system, provider, base } = given());
  });
  afterAll(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
    // Who comes after finds the devices as they were, and is the only approver again.
    await system.cli('devices', 'release', 'db-1');
    for (const id of ['anna', 'bert']) await system.cli('people', 'role', id, '--take', 'approver');
  });

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
    await collected();
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
    // The orchestrator follows the registry: what it begins before it has heard of the hold is done, and asked for once more.
    const wanted = await until('a run that waits', async () => {
      const runId = await ask(`invoices-${early}`);
      const [task] = (await system.show(runId)).tasks;
      if (task?.status === 'PENDING') return runId;
      early += 1;
      return undefined;
    });
    const unwanted = await ask('invoices-again');
    expect((await system.show(unwanted)).tasks).toMatchObject([{ status: 'PENDING' }]);
    await collected();

    expect((await carla('cancel', unwanted, '--reason', 'asked for twice')).code).toBe(0);
    expect((await carla('devices', 'release', 'db-1')).code).toBe(0);
    expect(await system.untilEnd(wanted)).toMatchObject({ outcome: 'succeeded', requestedBy: 'billing' });
    expect(await system.untilEnd(unwanted)).toMatchObject({ status: 'CANCELLED' });
    expect((await carla('submit', 'fleet-health')).stderr).toContain('requester');

    // What it is told is of its own runs, though it has been listening since before anna's.
    expect((await ends(billing, early + 2)).slice(-2)).toEqual([
      [unwanted, 'orrery.RUN_CANCELLED'],
      [wanted, 'orrery.RUN_COMPLETED'],
    ]);
  });

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

  it('carla finds what billing had done, by what it printed', async () => {
    const { stdout, json } = await until('it to be projected', async () => {
      const words = ['search', 'echo invoices', '--device', 'db-1', '--by', 'billing', '--exit', '0', '--since', '1h'];
      const json = JSON.parse((await carla(...words, '--json')).stdout) as SearchAnswer;
      return json.commands.length > early ? { json, stdout: (await carla(...words)).stdout } : undefined;
    });
    const [command] = json.commands;
    expect(json.commands).toHaveLength(early + 1);
    expect(command).toMatchObject({ taskId: 'task', exitCode: 0, by: 'billing', found: { of: 'command' } });
    expect(stdout).toContain('command: «echo invoices»');
    expect(stdout).toContain(`orrery output ${command?.runId ?? ''} task --attempt 1 --step 0.0`);
    const browsed = await inBrowser(`/v1/search?words=invoices&run=${command?.runId ?? ''}`);
    expect(await browsed.json()).toMatchObject({ commands: [{ commandId: command?.commandId }] });
  });

  it('anna looks what the runs of the day came to, and bert sees the same in his browser', async () => {
    const figures = async (...words: string[]): Promise<FiguresAnswer> => {
      const { code, stdout } = await anna('metrics', ...words, '--json');
      expect(code).toBe(0);
      return JSON.parse(stdout) as FiguresAnswer;
    };
    const answer = await until('all of them to be measured', async () => {
      const now = await figures('--by', 'team');
      return now.upTo.behind === 0 ? now : undefined;
    });
    const { runs, ratios, groups } = answer;
    const listed = JSON.parse((await anna('runs', '--json')).stdout) as { runs: { outcome: string | null }[] };
    const succeeded = listed.runs.filter(({ outcome }) => outcome === 'succeeded').length;
    expect(runs).toEqual({
      matching: listed.runs.length,
      counted: listed.runs.length,
      open: 0,
      behind: 0,
      unreadable: 0,
    });
    expect(ratios.requestSuccessRatio.meanOfRatios).toBeCloseTo(succeeded / listed.runs.length, 9);
    expect(ratios.parallelismRatio).toMatchObject({ meanOfRatios: 1, ratioOfMeans: 1, skewed: 0 });
    expect(new Set(groups.map(({ value }) => value))).toEqual(new Set(['web', null]));
    expect(await (await inBrowser('/v1/metrics?by=team')).json()).toEqual(answer);

    const { stdout } = await anna('metrics', '--label', 'team=web');
    expect(stdout).toContain('runs match');
    expect(stdout).toMatch(/^task success rate \(TSR\) +\d/mu);
    const csv = (await anna('metrics', '--csv')).stdout.split('\r\n');
    expect([csv[0]?.split(',').slice(0, 3), csv.length]).toEqual([['group_key', 'group_value', 'quantity'], 70]);
    const none = await anna('metrics', '--label', 'taem');
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('did you mean team?') });
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
      runs: early + 4,
      code: 0,
      findings: 0,
      signed: early + 6,
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
    expect({ code, stderr }).toMatchObject({ code: 0 });
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
    const searched = of('SEARCHED');
    expect([searched.at(-2), searched.at(-1)]).toEqual([
      ['SEARCHED', 'carla', 'key'],
      ['SEARCHED', 'bert', 'vouched'],
    ]);
    expect(stdout).not.toContain('invoices');
    const taken = entries.find((entry) => entry.what === 'ROLES_CHANGED' && entry.subject === 'bert');
    expect(taken).toMatchObject({ taken: ['approver'], actor: { id: 'cli' } });
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
    // Nobody else may read that, and no secret is in it.
    expect(await carla('access')).toMatchObject({ code: 1, stderr: expect.stringContaining('auditor') });
    expect(stdout).not.toContain(CLIENT_SECRET);
  });

  it('what was counted meanwhile is what the table of metrics says, service by service', async () => {
    const exposed = await collected();
    const table = documentedMetrics();
    for (const [service, text] of exposed) {
      const ours = familiesOf(text).filter(({ name }) => name.startsWith('orrery_'));
      const told = table.filter(({ services }) => services.includes(service));
      const documented = told.map(({ name, help, type }) => ({ name, help, type }));
      expect({ service, metrics: byName(ours) }).toEqual({ service, metrics: byName(documented) });
      for (const { name, labels } of samplesOf(text)) {
        const row = told.find((metric) => seriesOf(metric).includes(name));
        if (row === undefined) continue;
        const own = Object.keys(labels).filter((label) => label !== 'service' && label !== 'le');
        expect({ name, labels: own.toSorted() }).toEqual({ name, labels: row.labels.toSorted() });
      }
    }

    const of = (service: string, name: string, labels: Record<string, string> = {}): number | undefined =>
      valueOf(exposed.get(service) ?? '', `orrery_${name}`, labels);
    expect(of('orchestrator', 'runs_begun_total')).toBe(early + 4);
    expect(of('orchestrator', 'runs_ended_total', { status: 'CANCELLED' })).toBe(1);
    expect(of('orchestrator', 'facts_total', { type: 'APPROVAL_DECIDED' })).toBe(2);
    expect(of('orchestrator', 'task_seconds_count', { outcome: 'completed' })).toBeGreaterThanOrEqual(2);
    expect(of('device-agent', 'policy_decisions_total', { decision: 'approve' })).toBeGreaterThanOrEqual(2);
    expect(of('device-agent', 'model_calls_total')).toBeGreaterThan(0);
    expect(of('registry', 'devices', { status: 'connected' })).toBe(4);
    expect(of('logging', 'approvals_waiting')).toBe(0);
    expect([...exposed.values()].flatMap((text) => valueOf(text, 'orrery_look_failed') ?? 0)).not.toContain(1);

    const quiet = table.filter((metric) => !seriesOf(metric).some((name) => moved.has(name))).map(({ name }) => name);
    expect(quiet.filter((name) => !(name in CAUSED_ELSEWHERE))).toEqual([]);
  });
}

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

interface Verified {
  readonly runId: string;
  readonly findings: readonly unknown[];
  readonly proofs: {
    readonly signed: number;
    readonly vouched: number;
    readonly unsigned: { published: number; old: number };
  };
}

const byName = <T extends { readonly name: string }>(metrics: readonly T[]): T[] =>
  metrics.toSorted((left, right) => (left.name < right.name ? -1 : 1));
