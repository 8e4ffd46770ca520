import { describe, expect, it } from '@jest/globals';
import { agentCommits, agentRun, exec, type AgentAttempt } from '../testing/agent-attempt.js';
import { attemptStories } from '../views/attempt-story.js';
import { attemptsSection } from './report-attempts.js';
import { REPORT_LIMITS } from './report-limits.js';

/** What tries to be more than text, wherever it is put. */
const HOSTILE = [
  '</details></summary>',
  '\n</details>\n\n<details open>\n\n# TITLE\n',
  '````````',
  '\n```\n<script>alert(1)</script>\n~~~\n',
  '![x](http://evil.example/x)',
  '| a | b |\n|---|',
  '\\| \\\\| |',
  '\u001B]8;;http://evil.example\u0007x\u001B[31m',
  '\u202E\u0000\u{E0041}',
].join(' ');

function reportOf(...attempts: AgentAttempt[]): string {
  const { run, commits } = agentRun(attempts, attempts[0]?.said);
  return attemptsSection({ run, commits, attempts: attemptStories(attempts.flatMap(agentCommits)) });
}

/** What is left when fences and code spans are taken out, as CommonMark reads them. */
function proseOf(markdown: string): string {
  let fence: string | undefined;
  const prose: string[] = [];
  for (const line of markdown.split('\n')) {
    const [, ticks, language] = /^(`{3,})([a-z]*)$/u.exec(line) ?? [];
    if (fence === undefined && ticks !== undefined) fence = ticks;
    else if (fence !== undefined && ticks !== undefined && language === '' && ticks.length >= fence.length)
      fence = undefined;
    else if (fence === undefined) prose.push(line);
  }
  expect(fence).toBeUndefined();
  return prose.map((line) => line.replaceAll(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/gu, '§')).join('\n');
}

describe('what agents did', () => {
  const markdown = reportOf({ steps: 6, said: 'the disk is fine' });

  it('begins with the answer, in the open', () => {
    const [open = ''] = markdown.split('<details>');
    expect(open).toContain('### Task `web`, attempt 1');
    expect(open).toContain('It answered:\n\n```text\nthe disk is fine\n```');
    expect(open).toContain('It completed after 6 calls of a model (1 tokens) and 6 commands.');
  });

  it('tells of every step what was thought, judged, decided, run and printed', () => {
    for (let step = 1; step <= 6; step++) {
      expect(markdown).toContain(`\`EXEC_CLI echo ${step}\``);
      expect(markdown).toContain(`<summary>Step ${step}: COMPLETED, exit code 0</summary>`);
    }
    for (const text of [
      'It thought:',
      '| Policy | allow: class read, by rule `the disk is fine`; proposed by: agent |',
      '| Policy | approve: class read, by rule `the disk is fine`; proposed by: agent |',
      '| Decided | `approved by anna: the disk is fine` |',
      '| Sent to | `web-1` |',
      '| End | COMPLETED, exit code 0, 1.5 s |',
      'stdout:\n\n```text\nthe disk is fine\n```',
      'Replies that were refused:\n\n- `the disk is fine`',
      'post-condition holds: `the disk is fine`',
      '<summary>6 steps, 6 commands and questions, judged: 5 allow, 1 approve</summary>',
    ]) {
      expect(markdown).toContain(text);
    }
  });

  it('tells which pictures of a screen were dropped, by hash and size, and why', () => {
    const commits = agentCommits({ steps: 1 });
    const pictures = Array.from({ length: 12 }, (_, at) => ({ sha256: at.toString(16).repeat(64), bytes: 1_000 }));
    const last = commits.at(-1);
    if (last === undefined) throw new Error('an attempt has a commit');
    const data = { rule: 'pictures: { keep: none }', pictures };
    const at = '2026-11-21T12:00:00.000Z';
    const dropped = {
      ...last,
      at,
      events: [{ id: 'd', sequence: 900, schemaVersion: 1, type: 'PICTURES_DROPPED' as const, data }],
    };
    const { run, commits: told } = agentRun([{ steps: 1 }]);
    const [open = ''] = attemptsSection({ run, commits: told, attempts: attemptStories([...commits, dropped]) }).split(
      '<details>',
    );
    const why = 'because the policy says pictures: { keep: none }';
    expect(open).toContain(`${at}: \`12 pictures of the screen dropped, 12000 bytes, ${why}\`.`);
    expect(open).toContain(`- \`${'0'.repeat(64)}\`, 1000 bytes`);
    expect(open.match(/, 1000 bytes/gu)).toHaveLength(10);
    expect(open).toContain('- 2 more: `orrery steps run-1 web --json`');
  });

  it('is folded: every part that opens is closed, and blank lines let Markdown in again', () => {
    expect(markdown.match(/^<details>$/gmu)).toHaveLength(7);
    expect(markdown.match(/^<\/details>$/gmu)).toHaveLength(7);
    expect(markdown).not.toMatch(/<\/summary>\n[^\n]/u);
    expect(markdown).not.toMatch(/[^\n]\n<\/details>/u);
  });

  it('stays readable at 200 steps: a line for each, the first and the last in full, and where the rest is', () => {
    const long = reportOf({ steps: 200, said: 'x'.repeat(4_000) });
    for (let step = 1; step <= 200; step++) expect(long).toMatch(new RegExp(`^\\| ${step} \\| `, 'mu'));
    expect(long.match(/<summary>Step /gu)).toHaveLength(REPORT_LIMITS.stepsMax);
    expect(long).toContain('<summary>Step 1:');
    expect(long).toContain('<summary>Step 200:');
    expect(long).toContain(
      `${200 - REPORT_LIMITS.stepsMax} more steps, between the first and the last ones shown here: \`orrery steps run-1 web\``,
    );
  });

  it('is bounded, however many agents say however much', () => {
    const much = Array.from({ length: 60 }, (_, index) => ({
      taskId: `t${index}`,
      steps: 40,
      said: 'y'.repeat(19_000),
      result: { value: exec('z'.repeat(15_000)) },
    }));
    const long = reportOf(...much);
    expect(long.length).toBeLessThan(REPORT_LIMITS.agentsCharsMax * 1.5);
    expect(long).toContain('characters left out');
    expect(long).toContain('Its steps would make this report too long: `orrery steps run-1 t');
  });

  it('says of a cut result how much there is and how to get it', () => {
    const artifact = { sha256: 'b'.repeat(64), bytes: 2_100_300 };
    const printed = { ...exec('head\n[... 2085300 characters cut ...]\ntail'), stdout_artifact: artifact };
    const text = reportOf({
      steps: 1,
      result: { value: printed, cut: ['stdout'] },
      answer: { value: 'cut', artifact },
    });
    const get = `\`orrery artifacts get ${artifact.sha256} -o FILE\``;
    expect(text).toContain(`Stdout is cut: the whole has 2100300 bytes: ${get}.`);
    expect(text).toContain(`Result is cut: the whole has 2100300 bytes as JSON: ${get}.`);
  });

  it.each([1, 5, 30])('lets hostile text out of no fence, span, cell or fold (%d steps)', (steps) => {
    const command = { tool: 'EXEC_CLI', arguments: { command: HOSTILE, [HOSTILE]: HOSTILE } };
    const text = reportOf({ steps, said: HOSTILE, command, result: { value: { [HOSTILE]: HOSTILE } } });
    const prose = proseOf(text);
    const html = prose.split('\n').filter((line) => line.includes('<'));
    expect(html.filter((line) => !/^<\/?details>$|^<summary>[A-Za-z0-9 :,;]+<\/summary>$/u.test(line))).toEqual([]);
    expect(prose).not.toMatch(/evil|script|alert|TITLE|\]\(/iu);
    expect(text).not.toMatch(/(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/u);
    for (const block of prose.split(/\n\n+/u).filter((part) => part.startsWith('|'))) {
      expect(new Set(block.split('\n').map((row) => row.split('|').length)).size).toBe(1);
    }
    const depths = prose.match(/^<\/?details>$/gmu) ?? [];
    expect(depths.filter((tag) => tag === '<details>')).toHaveLength(depths.length / 2);
  });

  it('tells an attempt of which nothing is recorded yet, and nothing where there was no agent', () => {
    const { run, commits } = agentRun([{ steps: 0 }]);
    expect(attemptsSection({ run, commits })).toContain('No step of it is recorded.');
    expect(attemptsSection({ run, commits, attemptsAreCut: true })).toContain('`orrery steps run-1` tells it all');
    expect(attemptsSection({ run, commits: [] })).toBe('');
  });
});
