import { useEffect, useState, type ReactElement } from 'react';
import type { RunView } from '#proto';
import { Dialog, Facts, Foreign, Loading, Problem } from '../../../parts/index.js';
import { words } from '../../../words/index.js';
import type { VerifyAnswer } from './verify-words.js';
import { verifyHere } from './verifying.runner.js';

interface VerifyDialogProps {
  readonly view: RunView;
  readonly onClose: () => void;
}

/** Verifies a run in the browser, with the audit of the command line, and says what was checked and what is wrong. */
export function VerifyDialog({ view, onClose }: VerifyDialogProps): ReactElement {
  const { runId, parent } = view;
  const parentId = parent?.runId;
  const [answer, setAnswer] = useState<VerifyAnswer>();
  useEffect(() => {
    const stopped = new AbortController();
    verifyHere({ runId, parent: parentId }, stopped.signal).then(setAnswer, (error: unknown) => {
      if (stopped.signal.aborted) return;
      setAnswer({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
    });
    return () => stopped.abort();
  }, [runId, parentId]);
  return (
    <Dialog title={words.verify.title} about={words.verify.about} open onClose={onClose}>
      <div className="stack" aria-live="polite">
        {answer === undefined ? <Loading /> : <Verdict answer={answer} />}
        <div className="row end">
          <a className="button" href={`/v1/runs/${runId}/export`} download={`${runId}.jsonl`}>
            {words.verify.download}
          </a>
        </div>
      </div>
    </Dialog>
  );
}

function Verdict({ answer }: { readonly answer: VerifyAnswer }): ReactElement {
  if (answer.kind === 'failure') return <Problem text={answer.message} />;
  const { report, problems, findings } = answer;
  const { commits, events, attempts, plans, words: said, proofs, head, unchecked } = report;
  const isGood = report.ok && problems.length === 0;
  return (
    <>
      <p className={isGood ? 'verdict status status-completed' : 'verdict status status-failed'} role="status">
        {isGood ? words.verify.good : words.verify.bad(findings.length + problems.length)}
      </p>
      {isGood ? null : (
        <ul className="findings">
          {[...problems, ...findings].map((text) => (
            <li key={text}>
              <Foreign text={text} />
            </li>
          ))}
        </ul>
      )}
      <Facts
        of={[
          [words.verify.commits, commits],
          [words.verify.events, events],
          [words.verify.attempts, attempts],
          [words.verify.plans, plans],
          [words.verify.words, said],
          [
            words.verify.proofs,
            words.verify.signed(proofs.signed, proofs.vouched, proofs.unsigned.old + proofs.unsigned.published),
          ],
          [words.verify.head, <code className="hash">{head ?? words.verify.none}</code>],
          [words.verify.unchecked, unchecked.length === 0 ? null : <Foreign text={unchecked.join('\n')} block />],
        ]}
      />
    </>
  );
}
