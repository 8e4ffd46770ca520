// `node tools/test.mjs [--changed] [unit|model|sim|fuzz|int|e2e|containers|load|record|canary|rules|desktop|deep ...] [-- jest arguments]`: runs the suites and ends with one line,
// `N passed, N failed`. A suite that crashes, hangs or has nothing to stand on counts as failed: silence is not success.
// `--changed` runs what a change can break, in about a minute: unit tests that see a changed file, the nearest that need servers,
// and the shortest of model and sim. It leaves out fuzz and e2e, and says so.
// `bench [its arguments]` is not one of them: it measures, on request only, and ends with its own tables.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changedFiles, choose } from './changed.mjs';
import { runSuites } from './suites.mjs';

/** In running order: what fails fastest comes first. The architecture rules are part of `unit`. */
const SUITES = ['unit', 'model', 'sim', 'fuzz', 'int', 'e2e'];
/** Only when they are asked for. `containers` says why when it is skipped; `load` is to have the machine for itself; `record` makes histories; `canary` runs command lines; `rules` fetches promtool; `desktop` says why when it is skipped; `deep` runs what explores as far as it goes. */
const OPT_IN = ['containers', 'load', 'record', 'canary', 'rules', 'screenshots', 'desktop', 'deep'];
/** Few files, each of which keeps a core busy for long: one after the other they would leave the second core idle. */
const TOGETHER = ['model', 'sim', 'fuzz'];
/** Of the specs that need servers and see a change. */
const NEAREST_INT = 6;
/** Of suites that explore: what takes seconds, and finds what is broken on purpose. */
const SHORTEST = { model: 'test/model/mutations.spec.ts', sim: 'test/simulation/planted-bugs.sim.spec.ts' };
const WAYS_SHOWN = 20;
const BAD_INPUT = 3;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function parse(words) {
  const end = words.indexOf('--');
  const named = end === -1 ? words : words.slice(0, end);
  const known = [...SUITES, ...OPT_IN];
  const unknown = named.find((word) => !known.includes(word));
  if (unknown !== undefined) {
    console.error(`orrery: there is no suite "${unknown}"; suites are ${known.join(', ')}, and bench alone.`);
    process.exit(BAD_INPUT);
  }
  const wanted = named.length === 0 ? SUITES : known.filter((suite) => named.includes(suite));
  const suites = together(wanted);
  return { suites, jestArguments: end === -1 ? [] : words.slice(end + 1) };
}

/** Suites in running order, those that are run as one joined by `+`. */
function together(suites) {
  const joined = suites.filter((suite) => TOGETHER.includes(suite));
  if (joined.length < 2) return suites;
  return suites.flatMap((suite) => {
    if (!joined.includes(suite)) return [suite];
    return suite === joined[0] ? [joined.join('+')] : [];
  });
}

function runBench(words) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'dist/test/bench/main.js'), ...words], { stdio: 'inherit' });
    const pass = (signal) => child.kill(signal);
    process.on('SIGTERM', pass).on('SIGINT', pass);
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Which specs the change calls for, by suite. Says what it chose and why, and what it left out. */
function runsOfChange() {
  const { base, files } = changedFiles(root);
  console.error(
    `orrery: ${files.length} files changed since ${base.slice(0, 12)}: ${files.slice(0, WAYS_SHOWN).join(', ')}`,
  );
  const { all, chosen } = choose(root, files);
  if (all !== undefined) {
    console.error(`orrery: ${all} can break anything: running everything.`);
    return together(SUITES).map((suite) => ({ suite, specs: [] }));
  }
  const suiteOf = ({ spec }) =>
    /\.(sim|fuzz|int|e2e)\.spec\.ts$/u.exec(spec)?.[1] ?? (spec.startsWith('test/model/') ? 'model' : 'unit');
  const bySuite = Object.groupBy(chosen, suiteOf);
  const nearest = (suite) => (bySuite[suite] ?? []).slice(0, 1).map(({ way }) => ({ spec: SHORTEST[suite], way }));
  const picked = {
    unit: bySuite.unit ?? [],
    model: nearest('model'),
    sim: nearest('sim'),
    int: (bySuite.int ?? []).slice(0, NEAREST_INT),
  };
  const shown = Object.values(picked).flat();
  for (const { way } of shown.slice(0, WAYS_SHOWN)) console.error(`orrery:   ${way.toReversed().join(' <- ')}`);
  if (shown.length > WAYS_SHOWN) console.error(`orrery:   and ${shown.length - WAYS_SHOWN} more`);
  const isPicked = new Set(shown.map(({ spec }) => spec));
  const left = Object.entries(bySuite).map(([suite, specs]) => [
    suite,
    specs.filter(({ spec }) => !isPicked.has(spec)).length,
  ]);
  for (const [suite, count] of left.filter(([, specs]) => specs > 0))
    console.error(`orrery: left out: ${count} further specs of ${suite}; ./orrery test ${suite} runs them.`);
  return Object.entries(picked).flatMap(([suite, specs]) =>
    specs.length === 0 ? [] : [{ suite, specs: specs.map(({ spec }) => spec) }],
  );
}

async function main() {
  if (process.argv[2] === 'bench') {
    process.exitCode = await runBench(process.argv.slice(3));
    return;
  }
  const isChange = process.argv[2] === '--changed';
  const { suites, jestArguments } = parse(process.argv.slice(isChange ? 3 : 2));
  const runs = isChange ? runsOfChange() : suites.map((suite) => ({ suite, specs: [] }));
  const directory = mkdtempSync(join(tmpdir(), 'orrery-test-results-'));
  const total = { passed: 0, failed: 0, skipped: 0 };
  try {
    const asked = runs.map(({ suite, specs }) => ({
      suite,
      words: [...(specs.length > 0 ? ['--runTestsByPath', ...specs] : []), ...jestArguments],
    }));
    for (const counts of await runSuites(asked, directory)) {
      for (const key of Object.keys(total)) total[key] += counts[key];
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (total.passed + total.failed === 0) console.error('orrery: no test ran.');
  const mayBeSkipped = total.skipped > 0 && suites.every((suite) => OPT_IN.includes(suite));
  // Said aside: the last line is the same for everybody who reads it.
  if (total.skipped > 0)
    console.error(`orrery: ${total.skipped} skipped, for want of what this machine does not have.`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed > 0 || (total.passed === 0 && !mayBeSkipped) ? 1 : 0;
}

await main();
