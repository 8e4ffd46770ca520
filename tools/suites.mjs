// Runs suites with Jest. Those that wait for servers and processes leave a core idle for most of their time: those that calculate run
// beside them, with a lower priority, so that whoever has a deadline is not kept waiting. What suites say comes one suite after the other.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { setPriority, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dearestOf, secondsOfAll } from './specs/costs.mjs';
import { groupOf } from './specs/group.mjs';
import { warm } from './specs/warm.mjs';

const NEEDS_NATS = new Set(['int', 'e2e', 'load', 'record', 'screenshots']);
/** In this order: what leaves most room comes first, while there is something to run beside it. */
const WAITING = ['e2e', 'int'];
/** They have the machine for themselves. */
const ALONE = ['containers', 'load', 'record', 'screenshots', 'desktop'];
/** Two suites at once take up to this; with less memory they run one after the other. */
const BYTES_FOR_TWO = 7 * 2 ** 30;
/** Memory as a file system, where there is one. What tests store is synced piece by piece, a third of what those with servers cost on a disk. */
const MEMORY_DIR = '/dev/shm';
/** What suites keep at once, many times over; an engine for containers gives 64 MiB. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30;
const SUITE_MINUTES_MAX = 30;
/** It runs for some twenty minutes on two idle cores, tells how far it is, and can be gone on with: it is not to be ended by others. */
const CANARY_MINUTES_MAX = 480;
const KILL_AFTER_MS = 10_000;
/** For what a suite has said last; a process that it left behind may keep the pipe open for ever. */
const DRAIN_MS = 2000;
/** Of the times in /proc, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Steps towards the lowest priority, which is 19: two thirds of the share of whoever has the usual one. */
const NICER = 2;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const jest = join(dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin/jest.js');

/** What runs when: lists of which each runs in its order, two lists at once. `runs` are `{ suite, words }` with words for Jest. */
export function lanesOf(runs, bytes = totalmem()) {
  const calculating = runs.filter(({ suite }) => !WAITING.includes(suite) && !ALONE.includes(suite));
  const waiting = WAITING.flatMap((name) => runs.filter(({ suite }) => suite === name));
  const alone = runs.filter(({ suite }) => ALONE.includes(suite));
  const lanes = [calculating, waiting].filter((lane) => lane.length > 0);
  const first = bytes < BYTES_FOR_TWO ? lanes.map((lane) => [lane]) : [lanes];
  return [...first, ...alone.map((run) => [[run]])].filter((together) => together.length > 0);
}

/** Somebody has ended the run: what has not begun does not begin, and the run has failed. */
let isStopped = false;
const NOT_RUN = { passed: 0, failed: 1, skipped: 0 };

/** Runs all of them, whatever fails. Resolves with `{ passed, failed, skipped }` of each. */
export async function runSuites(runs, directory) {
  const stages = lanesOf(runs);
  const turns = new Turns(
    stages.flat(2).map(({ suite }) => suite),
    (stream, chunk) => process[stream].write(chunk),
  );
  const counts = [];
  const scratch = makeScratch();
  try {
    for (const lanes of stages) {
      const nicer = (index) => (lanes.length > 1 && index === 0 ? NICER : 0);
      const inOrder = async (lane, index) => {
        for (const run of lane) {
          counts.push(isStopped ? NOT_RUN : await runSuite(run, { directory, scratch, turns, nicer: nicer(index) }));
        }
      };
      await Promise.all(lanes.map(inOrder));
    }
  } finally {
    if (scratch !== undefined) removeFolder(scratch);
  }
  return counts;
}

/** Where tests keep what they store: in memory if there is plenty, else undefined for the usual place. Processes are killed in tests, never the machine. */
function makeScratch() {
  try {
    if (process.env.TMPDIR !== undefined) return undefined;
    const name = ownName();
    sweep(MEMORY_DIR, name);
    const { bavail, bsize } = statfsSync(MEMORY_DIR);
    if (bavail * bsize < MEMORY_BYTES_MIN) return undefined;
    const folder = mkdtempSync(join(MEMORY_DIR, `${name}-`));
    chmodSync(folder, 0o1777); // servers run as other users
    if (runsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // the usual place does
  }
  return undefined;
}

/** What a run calls its folder: for whom, in the world in which that process has its number. Containers may share the memory and number anew. */
export function ownName(pid = process.pid) {
  const [world = 'unknown'] = /\d+/u.exec(readlinkSync('/proc/self/ns/pid')) ?? [];
  return `orrery-test-${world}-${pid}`;
}

/** Removes the folders of runs that were killed: nobody else would, and memory is what they take. */
export function sweep(directory, name) {
  const world = name.slice(0, name.lastIndexOf('-') + 1);
  for (const folder of readdirSync(directory)) {
    const [, pid] = folder.startsWith(world) ? (/^(\d+)-/u.exec(folder.slice(world.length)) ?? []) : [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      removeFolder(join(directory, folder));
    } catch {
      // another user's
    }
  }
}

/** With the disks that tests had there: who is ended by a signal leaves them, and no folder goes that holds one. */
function removeFolder(folder) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const within = mounts.map((line) => line.split(' ')[1]).filter((place) => place?.startsWith(`${folder}/`));
  for (const place of within.toReversed()) spawnSync('umount', ['-l', place]);
  rmSync(folder, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Tests write programs and run them; an engine for containers forbids it there. */
function runsPrograms(folder) {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

/** Whose turn it is, is heard at once; what the others say is kept until those before them have ended. */
export class Turns {
  #waiting;
  #write;

  constructor(names, write) {
    this.#waiting = names.map((name) => ({ name, kept: [], isOver: false }));
    this.#write = write;
  }

  say(name, stream, chunk) {
    if (this.#waiting[0]?.name === name) this.#write(stream, chunk);
    else this.#waiting.find((one) => one.name === name)?.kept.push([stream, chunk]);
  }

  end(name) {
    for (const one of this.#waiting) if (one.name === name) one.isOver = true;
    while (this.#waiting[0]?.isOver === true) {
      this.#waiting.shift();
      for (const [stream, chunk] of this.#waiting[0]?.kept.splice(0) ?? []) this.#write(stream, chunk);
    }
  }
}

async function runSuite({ suite, words }, { directory, scratch, turns, nicer }) {
  const tell = (text) => turns.say(suite, 'stderr', `orrery: ${text}\n`);
  try {
    tell(`testing ${suite} ...`);
    if (NEEDS_NATS.has(suite) && !process.env.ORRERY_NATS_SERVER) {
      tell(`${suite} needs a nats-server; start it as ./orrery test ${suite}, or set ORRERY_NATS_SERVER.`);
      return { passed: 0, failed: 1, skipped: 0 };
    }
    if (suite === 'e2e' && words.length === 0) {
      isStopped = (await warm(root, scratch ?? tmpdir())) || isStopped;
      if (isStopped) return NOT_RUN;
    }
    const file = join(directory, `${suite}.json`);
    const began = Date.now();
    const { code, seconds } = await runJest({ suite, file, words, nicer, scratch }, tell, (...said) =>
      turns.say(suite, ...said),
    );
    const cost =
      seconds === null ? '' : `, ${Math.round(Math.max(seconds, secondsOfAll(costsOf(file))))} s of processor time`;
    tell(`${suite} took ${Math.round((Date.now() - began) / 1000)} s${cost}.`);
    const dearest = dearestOf(costsOf(file), root);
    if (dearest !== undefined) tell(`dearest of ${suite}, by processor time: ${dearest}.`);
    return countsOf(file, code);
  } finally {
    turns.end(suite);
  }
}

/** Where what each file of a suite costs is kept, beside its report. */
const costsOf = (file) => `${file}.costs`;
/** Where a suite keeps which verbs of the command line it has asked for: each is a process of its own once in a run. */
const verbsOf = (file) => `${file}.verbs`;

/** Resolves with the exit code, or null when a signal or the time limit ended it, and what it used of the processor. */
function runJest({ suite, file, words, nicer, scratch = tmpdir() }, tell, hear) {
  return new Promise((resolve) => {
    const args = ['--no-warnings', jest, '--passWithNoTests', ...words, '--json', '--outputFile', file];
    const { env, stderr } = process;
    const colors = stderr.isTTY && env.NO_COLOR === undefined ? { FORCE_COLOR: '1' } : {};
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        ...colors,
        ORRERY_TEST_SUITE: suite,
        ORRERY_SPEC_COSTS: costsOf(file),
        ORRERY_SPEC_VERBS: verbsOf(file),
        TMPDIR: scratch,
      },
    });
    if (nicer > 0 && child.pid !== undefined) setPriority(child.pid, nicer);
    const group = child.pid === undefined ? undefined : groupOf(suite, child.pid, isAlive);
    for (const stream of ['stdout', 'stderr'])
      child[stream].setEncoding('utf8').on('data', (chunk) => hear(stream, chunk));
    const pass = (signal) => {
      isStopped = true;
      child.kill(signal);
    };
    process.on('SIGTERM', pass).on('SIGINT', pass);
    let [hard, drained, ended] = [undefined, undefined, { code: null, seconds: null }];
    const minutesMax = suite === 'canary' ? CANARY_MINUTES_MAX : SUITE_MINUTES_MAX;
    const late = setTimeout(() => {
      tell(`${suite} did not end in ${minutesMax} minutes.`);
      child.kill('SIGTERM');
      hard = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    }, minutesMax * 60_000);
    const done = () => {
      for (const timer of [late, hard, drained]) clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      process.off('SIGTERM', pass).off('SIGINT', pass);
      group?.end();
      resolve(ended);
    };
    child.once('exit', (code) => {
      const waitedFor = newSeconds();
      ended = { code, seconds: group?.seconds() ?? waitedFor };
      drained = setTimeout(done, DRAIN_MS);
    });
    child.once('error', done).once('close', done);
  });
}

let secondsKnown = 0;

/**
 * Seconds of processor time of what this process has waited for since it was asked last: asked when a child has ended, those of the child
 * and of what it has waited for. Null where the kernel does not say.
 */
function newSeconds() {
  try {
    const afterName = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1).split(' ');
    const all = (Number(afterName[13]) + Number(afterName[14])) / TICKS_PER_SECOND;
    const fresh = all - secondsKnown;
    secondsKnown = all;
    return fresh;
  } catch {
    return null;
  }
}

/** A file that could not even be loaded has no failed test in it, yet it failed. */
function countsOf(file, code) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  }
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
  return {
    passed: report.numPassedTests,
    failed: code === 0 ? failed : Math.max(failed, 1),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
