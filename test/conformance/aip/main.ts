import { readFile } from 'node:fs/promises';
import { isChosen, parseArguments, USAGE, UsageError, type ConformanceArguments } from './arguments.js';
import { busDriver } from './bus-driver.js';
import { CATALOGUE } from './catalogue.js';
import type { Check } from './check.js';
import type { Account } from './lab.js';
import { sumsOf, tableOf } from './report.js';
import { runChecks, type Result, type RunOptions } from './run-checks.js';

const BAD_INPUT = 3;

const out = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(argv: readonly string[]): Promise<number> {
  const given = parseArguments(argv);
  const checks = chosenOf(given);
  switch (given.mode) {
    case 'help':
      out(USAGE);
      return 0;
    case 'list':
      out(given.json ? JSON.stringify(checks.map(factsOf), null, 2) : checks.map(lineOf).join('\n'));
      return 0;
    case 'url':
      return atUrl(given, checks);
    case 'stand':
      return onStand(given, checks);
    case 'mutants': {
      const { killAll } = await import('./mutants/kill.js');
      return killAll(given.checks, out);
    }
  }
}

function chosenOf({ profiles, checks: names }: ConformanceArguments): Check[] {
  const chosen = CATALOGUE.filter(({ id, profile }) => profiles.includes(profile) && isChosen(id, names));
  if (chosen.length === 0) throw new UsageError(`no check is called "${names.join(',')}"; --list shows them all`);
  return chosen;
}

async function atUrl(given: ConformanceArguments, checks: readonly Check[]): Promise<number> {
  const devices = await Promise.all(given.devices.map(({ id, tokenFile }) => accountOf(id, tokenFile)));
  const clients = given.constellationTokenFiles.map((file, index) => accountOf(`client-${index + 1}`, file));
  const { natsUrl: url, natsSeedFile: seedFile, natsUser: user } = given;
  const driver =
    url === undefined ? undefined : await busDriver({ url, seedFile, ...(user !== undefined && { user }) });
  const { answerMs, taskMs } = given;
  const target = { url: given.url, answerMs, taskMs, driver };
  try {
    const options = { target, devices, constellations: await Promise.all(clients), executes: given.executes };
    return report(given, await runChecks(checks, watched(given, options)));
  } finally {
    await driver?.close();
  }
}

async function onStand(given: ConformanceArguments, checks: readonly Check[]): Promise<number> {
  const { startStand } = await import('./stand/stand.js');
  const stand = await startStand({ executes: checks.some(({ needs }) => needs?.includes('execution') === true) });
  try {
    const gateway = await stand.gateway(given);
    try {
      return report(given, await runChecks(checks, watched(given, gateway.options)));
    } finally {
      await gateway.stop();
    }
  } finally {
    await stand.stop();
  }
}

/** A person who waits sees what fails as it fails. */
const watched = ({ json }: ConformanceArguments, options: RunOptions): RunOptions => ({
  ...options,
  onResult: ({ id, outcome, reason }) => {
    if (!json && outcome === 'failed') process.stderr.write(`${id}: ${reason ?? ''}\n`);
  },
});

function report({ json }: ConformanceArguments, results: readonly Result[]): number {
  out(json ? JSON.stringify(results, null, 2) : tableOf(results));
  if (json) process.stderr.write(`${sumsOf(results)}\n`);
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}

async function accountOf(id: string, tokenFile: string): Promise<Account> {
  try {
    return { id, token: (await readFile(tokenFile, 'utf8')).trim() };
  } catch (cause) {
    throw new UsageError(`the token file ${tokenFile} cannot be read`, { cause });
  }
}

const factsOf = ({ id, profile, what, source, needs = [], waitsMs = 0 }: Check) => ({
  id,
  profile,
  what,
  source,
  needs,
  waitsMs,
});

const lineOf = ({ id, profile, what, source }: Check): string => `${id} (${profile}): ${what}. From ${source}.`;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = BAD_INPUT;
}
