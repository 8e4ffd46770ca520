// The build puts these in the place of `node:crypto` and `node:util` for all that the audit loads.
import './node-crypto.adapter.js';
import './node-util.js';
import { auditRun, findingText, parseExport, recordsByRun } from '#libs/audit';
import type { VerifyAnswer, VerifyQuestion } from './verify-words.js';

/** The audit of the command line, beside the page. */
self.addEventListener('message', ({ data }: MessageEvent<VerifyQuestion>) => {
  self.postMessage(answered(data), { transfer: [] });
});

function answered({ runId, records, parent }: VerifyQuestion): VerifyAnswer {
  try {
    const { records: own, problems } = parseExport(records);
    const before =
      parent === undefined ? undefined : parseExport(parent).records.filter(({ stream }) => stream === 'RUNS');
    const report = auditRun(runId, recordsByRun(own).get(runId) ?? own, before);
    return { kind: 'report', report, problems, findings: report.findings.map(findingText) };
  } catch (error) {
    return { kind: 'failure', message: error instanceof Error ? error.message : String(error) };
  }
}
