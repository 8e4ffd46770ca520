import { describe, expect, it } from '@jest/globals';
import type { RunEvent } from '#proto';
import { auditRun } from './audit-run.js';
import { parseExport, recordsByRun, renderExport, type ExportRecord } from './export-file.js';
import { findingText } from './findings.js';
import { sampleRun } from '#libs/testing';

const { sampleEvents, sampleRecords, sealAttempt, sealRun, SAMPLE_RUN } = sampleRun;

interface Loose {
  [key: string]: Loose;
}
/** A deep copy to alter at will. */
const loose = (records: readonly ExportRecord[]) =>
  structuredClone(records) as unknown as (Omit<ExportRecord, 'commit'> & { commit: Loose; subject: string })[];

const findingsOf = (records: readonly unknown[]): string[] =>
  auditRun(SAMPLE_RUN, records as ExportRecord[]).findings.map(findingText);
/** As if whoever altered the events had all hashes made again. */
const resealed = (alter: (groups: RunEvent[][]) => void): string[] => {
  const [a, b] = [sealAttempt('a', 'a', 5), sealAttempt('b', 'b', 6)];
  const groups = sampleEvents({ a: a.hash, b: b.hash });
  alter(groups);
  return findingsOf([...sealRun(groups), a.record, b.record]);
};
const run = `run ${SAMPLE_RUN}`;

describe('auditRun', () => {
  it('finds nothing in a run as it was written', () => {
    expect(auditRun(SAMPLE_RUN, sampleRecords())).toMatchObject({
      ok: true,
      findings: [],
      commits: 3,
      events: 7,
      attempts: 2,
      status: 'COMPLETED',
      outcome: 'succeeded',
    });
  });

  it('accepts a run that is still going on', () => {
    const running = sampleRecords().filter(({ stream, sequence }) => stream === 'RUNS' && sequence < 11);
    expect(auditRun(SAMPLE_RUN, running)).toMatchObject({ ok: true, status: 'RUNNING', outcome: null });
  });

  describe('names the commit', () => {
    const altered: [string, (records: ReturnType<typeof loose>) => unknown[], string][] = [
      [
        'whose content was changed',
        (records) => {
          const [, second] = records;
          if (second?.commit['events']?.[0]?.['data'] !== undefined)
            Object.assign(second.commit['events'][0]['data'], { result: { value: 'x' } });
          return records;
        },
        `${run}, RUNS commit 2: its hash is not the hash of its content`,
      ],
      [
        'that got a field nobody knows',
        (records) => (Object.assign(records[0]?.commit ?? {}, { extra: 1 }), records),
        `${run}, RUNS commit 1: its hash is not the hash of its content`,
      ],
      [
        'whose author was changed',
        (records) => (
          Object.assign(records[1]?.commit ?? {}, { by: { service: 'orchestrator', instance: 'two' } }),
          records
        ),
        `${run}, RUNS commit 2: its hash is not the hash of its content`,
      ],
      [
        'that is missing',
        (records) => records.filter((_, index) => index !== 1),
        `${run}, RUNS commit 2: it has the number 3`,
      ],
      [
        'before which the first is missing',
        (records) => records.slice(1),
        `${run}, RUNS commit 1: it has the number 2`,
      ],
      [
        'that stands in the wrong place',
        ([first, second, third, ...rest]) => [second, first, third, ...rest],
        `${run}, RUNS commit 1: it has the number 2`,
      ],
      [
        'that stands there twice',
        ([first, second, ...rest]) => [first, second, second, ...rest],
        `${run}, RUNS commit 2: stream sequence 11 follows 11`,
      ],
      [
        'that is no commit at all',
        (records) => (Object.assign(records[1] ?? {}, { commit: 'gone' }), records),
        `${run}, RUNS: this is not a commit: number, prevHash, hash and events are needed`,
      ],
      [
        'that stands on the subject of another run',
        (records) => (Object.assign(records[0] ?? {}, { subject: 'orrery.run.other' }), records),
        `${run}, RUNS commit 1: it stands on the subject orrery.run.other`,
      ],
      [
        'that ends a task whose attempt is missing',
        (records) => records.filter(({ sequence }) => sequence !== 5),
        `${run}, RUNS commit 2: TASK_COMPLETED of a: attempt 1 is missing in ATTEMPTS`,
      ],
      [
        'of an attempt whose content was changed',
        (records) => (Object.assign(records[4]?.commit ?? {}, { at: '2026-11-20T13:00:00.000Z' }), records),
        `${run}, ATTEMPTS b.1 commit 1: its hash is not the hash of its content`,
      ],
      [
        'of an attempt on the subject of another partition',
        (records) => {
          const last = records.at(-1);
          if (last !== undefined) last.subject = last.subject.replace(/attempt\.\d+/u, 'attempt.99');
          return records;
        },
        `no subject of an attempt`,
      ],
      ['that should be there at all', (records) => records.slice(3), `${run}, RUNS: there is no commit of this run`],
    ];
    it.each(altered)('%s', (_, alter, sentence) => {
      expect(findingsOf(alter(loose(sampleRecords()))).join('\n')).toContain(sentence);
    });
  });

  describe('notices what hashes cannot tell, when all of them were made again:', () => {
    it('another result than the attempt recorded', () => {
      const findings = resealed(([, second]) => {
        const event = second?.[0];
        if (event?.type === 'TASK_COMPLETED') event.data.result = { value: 'better' };
      });
      expect(findings).toEqual([
        `${run}, RUNS commit 2: TASK_COMPLETED of a: the result is not the one that attempt 1 recorded`,
      ]);
    });

    it('an attempt that was made again, too', () => {
      const [a, b] = [sealAttempt('a', 'a', 5), sealAttempt('b', 'b', 6)];
      const records = [
        ...sealRun(sampleEvents({ a: a.hash, b: b.hash })),
        sealAttempt('a', 'other', 5).record,
        b.record,
      ];
      expect(findingsOf(records)).toEqual([
        `${run}, RUNS commit 2: TASK_COMPLETED of a: no commit of attempt 1 has the hash it names`,
      ]);
    });

    it('a task that starts before its line is satisfied', () => {
      const findings = resealed((groups) => {
        const moved = groups[1]?.pop();
        if (moved !== undefined) groups[0]?.push(moved);
      });
      expect(findings[0]).toBe(`${run}, RUNS commit 1: event 4: TASK_STARTED of b: line l1 is not satisfied`);
    });

    it('a task that completes twice', () => {
      const findings = resealed((groups) => {
        const [first] = groups[1] ?? [];
        if (first !== undefined) groups[1]?.push(first);
      });
      expect(findings[0]).toBe(`${run}, RUNS commit 2: event 6: TASK_COMPLETED of a: it is COMPLETED`);
    });

    it('another command than the request had', () => {
      const findings = resealed((groups) => {
        const event = groups[1]?.[1];
        if (event?.type === 'TASK_STARTED')
          event.data.command = { tool: 'EXEC_CLI', arguments: { command: 'rm -rf /' } };
      });
      expect(findings[0]).toBe(
        `${run}, RUNS commit 2: event 5: TASK_STARTED of b: the command is not that of the task`,
      );
    });

    it('an end that comes too early', () => {
      const findings = resealed((groups) => void groups[2]?.shift());
      expect(findings[0]).toBe(`${run}, RUNS commit 3: event 6: the run ends while 1 tasks have not ended`);
    });

    it('something after the end', () => {
      const findings = resealed((groups) => {
        const [requested] = groups[0] ?? [];
        if (requested !== undefined)
          groups.push([
            { type: 'RUN_PAUSED', data: { by: 'system', reason: 'x', pausedAt: '2026-11-20T12:00:00.000Z' } },
          ]);
      });
      expect(findings[0]).toBe(`${run}, RUNS commit 4: event 8: RUN_PAUSED comes after the end of the run`);
    });

    it('another request under the same run', () => {
      const findings = resealed((groups) => {
        const event = groups[0]?.[0];
        if (event?.type === 'RUN_REQUESTED') event.data.requestId = 'other';
      });
      expect(findings[0]).toMatch(/RUNS commit 1: the request "other" is the run [0-9a-z]{26}$/u);
    });

    it('a task that no request had', () => {
      const findings = resealed((groups) => {
        const event = groups[1]?.[1];
        if (event?.type === 'TASK_STARTED') event.data.taskId = 'ghost';
      });
      expect(findings[0]).toBe(
        `${run}, RUNS commit 2: event 5: TASK_STARTED is about "ghost", which is no task of this run`,
      );
    });

    it('an attempt that the run never started', () => {
      const findings = findingsOf([...sampleRecords(), sealAttempt('ghost', 'x', 7).record]);
      expect(findings).toEqual([`${run}, ATTEMPTS ghost.1: the run never started this attempt`]);
    });
  });
});

describe('an exported file', () => {
  const text = renderExport(sampleRecords());
  const lines = text.trimEnd().split('\n');

  it('reads back as it was', () => {
    expect(parseExport(text)).toEqual({ records: sampleRecords(), problems: [] });
    expect([...recordsByRun(parseExport(text).records).keys()]).toEqual([SAMPLE_RUN]);
  });

  it('has the stream, the subject and the position on every line', () => {
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      stream: 'RUNS',
      subject: `orrery.run.${SAMPLE_RUN}`,
      sequence: 10,
    });
  });

  it('says that its end is missing', () => {
    const { problems } = parseExport(lines.slice(0, -1).join('\n'));
    expect(problems[0]).toBe('line 1: it says that the file has 5 lines, but there are 4');
  });

  it('says which line was cut in two', () => {
    const { problems } = parseExport(text.slice(0, -10));
    expect(problems).toEqual(['line 5: this is not JSON']);
  });

  it('says which line has what no export has', () => {
    expect(parseExport(text.replace('"sequence":11', '"sequence":11,"more":1')).problems).toEqual([
      'line 2: this is not a line of an export: stream, subject, sequence and commit are needed',
    ]);
  });

  it('says that it is empty', () => expect(parseExport('').problems).toEqual(['the file is empty']));
});
