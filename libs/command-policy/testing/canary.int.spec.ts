import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deviceLinks, explain, openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';
import { canaryLines } from './canary-lines.js';
import { CANARY, CanaryWorld } from './canary-world.js';

/** `./orrery test canary` runs many more. */
const LINES = process.env['ORRERY_TEST_SUITE'] === 'canary' ? 20_000 : 300;
const SEED = Number(process.env['ORRERY_CANARY_SEED'] ?? '76');

/** What zip and sort leave behind when they are ended. */
const FORGOTTEN = /(?:^|\/)(?:zi|sort)\w{6}$/u;

const root = mkdtempSync(join(tmpdir(), 'orrery-canary-'));
chmodSync(root, 0o755);
const world = new CanaryWorld(root);
let policy: CommandPolicy;
beforeAll(async () => {
  const links = deviceLinks({ directory: world.work, home: world.home });
  policy = openPolicy({ file: world.policy, links }, await openBashGrammar());
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Judged {
  readonly decision: string;
  /** What may be changed, by path below the root. */
  readonly written: readonly RegExp[];
}

function judged(line: string): Judged {
  const { verdict, commands } = explain(policy, { tool: 'EXEC_CLI', arguments: { command: line } });
  const findings = commands.flatMap((command) => command.findings ?? []).filter(({ rule }) => rule === 'path.write');
  const paths = findings.flatMap(({ reason }) => /^.*? writes (?<path>.*)\.$/su.exec(reason)?.groups?.['path'] ?? []);
  return { decision: verdict.decision, written: verdict.decision === 'log' ? paths.map(patternOf) : [] };
}

/** The file, what lies below it, and the folders that lead to it. */
function patternOf(path: string): RegExp {
  const below = path.startsWith(`${root}/`)
    ? path.slice(root.length + 1)
    : path.replace(/^~/u, 'home').replace(/^\.(?=\/|$)/u, 'work');
  const parts = below.split('/').map((part) =>
    part
      .replace(/[\\^$+()[\]{}|.]/gu, String.raw`\$&`)
      .replace(/\*\*/gu, '\0')
      .replace(/\*/gu, '[^/]*')
      .replace(/\?/gu, '[^/]')
      .replace(/\0/gu, '.*'),
  );
  return new RegExp(`^${parts.reduceRight((rest, part) => `${part}(?:/${rest})?`, '.*')}$`, 'su');
}

describe('a line that runs unasked', () => {
  it(`reads no secret and writes only what was judged (${LINES} lines, seed ${SEED})`, () => {
    const wrong: unknown[] = [];
    let ran = 0;
    for (let batch = 0; ran < LINES; batch++) {
      for (const line of fc.sample(canaryLines, { seed: SEED + batch, numRuns: 1_000 })) {
        world.ready();
        const { decision, written } = judged(line);
        if (decision !== 'allow' && decision !== 'log') continue;
        if (ran++ >= LINES) break;
        const shell = ran % 2 === 0 ? 'dash' : 'bash';
        const { printed, changed } = world.run(`/usr/bin/${shell}`, line);
        const unjudged = changed.filter(
          (path) => !FORGOTTEN.test(path) && !written.some((pattern) => pattern.test(path)),
        );
        if (printed.includes(CANARY) || unjudged.length > 0)
          wrong.push({ line, shell, decision, unjudged, hasRead: printed.includes(CANARY), seed: SEED + batch });
      }
    }
    expect(wrong).toEqual([]);
  }, 900_000);
});
