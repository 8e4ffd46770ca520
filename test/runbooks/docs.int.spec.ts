import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { matchGoal, planOfRunbook, type Runbook } from '#libs/planner';
import { loadRunbooks, parseRunbookFile, runbookDirectories } from '#libs/prompts';
import { device, fleet } from '../../libs/constellation/testing/given.js';
import { Machine, runPlan } from './plan-on-shell.js';

const PAGE = join(import.meta.dirname, '../../docs/runbooks.md');

let page: string;
let runbooks: readonly Runbook[];
beforeAll(async () => {
  page = await readFile(PAGE, 'utf8');
  ({ runbooks } = await loadRunbooks(runbookDirectories({})));
});

function becomes(goal: string): string {
  const found = matchGoal(goal, runbooks);
  if (found === null) return 'the model';
  return 'issues' in found ? 'refused' : found.runbook.info.name;
}

describe('docs/runbooks.md', () => {
  it('says what becomes of goals', () => {
    const [, table = ''] = /## Which goals they are for\n([\s\S]*?)\n- /u.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| `([^`]+)` +\| `?([^`|]+?)`? +\|$/gmu)].map(([, goal = '', what]) => [
      goal,
      what,
    ]);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.map(([goal = '']) => [goal, becomes(goal)])).toEqual(rows);
  });

  it('shows commands whose goals and parameters are right', () => {
    const goals = [...page.matchAll(/^\$ orrery submit "(.*)" --wait$/gmu)].map(([, goal = '']) => becomes(goal));
    const shown = [...page.matchAll(/^\$ orrery runbooks show (.*)$/gmu)].map(([, words = '']) => becomes(words));
    expect([...goals, ...shown]).toEqual(['failed-ssh-logins', 'failed-ssh-logins', 'failed-ssh-logins']);
  });

  it('names every runbook that is shipped, and its parameters', () => {
    for (const { info } of runbooks) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${info.name}\``)) ?? '';
      expect(row).not.toBe('');
      const unnamed = info.parameters.filter(({ name }) => !page.includes(`\`${name}\``)).map(({ name }) => name);
      expect(unnamed.filter((name) => name !== 'file' && name !== 'timeout')).toEqual([]);
    }
  });

  it('has an example that is a runbook and works', async () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/u.exec(page) ?? [];
    const parsed = parseRunbookFile(Buffer.from(text), 'operator');
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
    const machine = new Machine({ find: 'exec /usr/bin/find "$@"' });
    try {
      await writeFile(join(machine.directory, 'big.log'), Buffer.alloc(2 * 1024 * 1024));
      await writeFile(join(machine.directory, 'small.log'), 'a');
      const found = matchGoal('Find logs above 1 MiB.', [parsed.runbook]);
      if (found === null || 'issues' in found) throw new Error('it does not fit');
      const parameters = { ...found.parameters, directory: machine.directory, tags: 'eu' };
      const view = fleet([device('web-1', { tags: ['eu'] }), device('web-2')]);
      const plan = planOfRunbook(parsed.runbook, parameters, { fleet: view });
      if (!plan.ok) throw new Error(JSON.stringify(plan.issues));
      const report = runPlan(plan.constellation, { any: machine }).get('report')?.text ?? '';
      expect(report).toMatch(/^Looked at web-1 for logs of at least MiB: 1\nweb-1 .*\/big\.log\n$/u);
    } finally {
      machine.remove();
    }
  });
});
