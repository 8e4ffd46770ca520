import { useState, type ReactElement } from 'react';
import { callText } from '#libs/constellation';
import type { ApprovalView, RunView } from '#proto';
import { Confirm, dateTimeText, Foreign, type ToConfirm } from '../../../parts/index.js';
import { newKey, postJson, useMay, useNow } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

interface GrantsProps {
  readonly view: RunView;
  readonly taskId: string;
}

/** What runs unasked for a time in this run, because somebody has approved the same: who may say no takes it back. */
export function GrantsOfTask({ view, taskId }: GrantsProps): ReactElement | null {
  const may = useMay();
  const now = useNow();
  const [asked, setAsked] = useState<ToConfirm>();
  const counting = view.approvals.filter(
    ({ taskId: of, grantUntil }) => of === taskId && grantUntil !== null && Date.parse(grantUntil) > now,
  );
  if (view.endedAt !== null || counting.length === 0) return null;
  const takeBack = ({ approvalId, ask }: ApprovalView): ToConfirm => ({
    title: words.approval.takeBackTitle,
    about: <pre className="command">{ask.kind === 'approval' ? callText(ask.command) : null}</pre>,
    action: words.approval.takeBack,
    text: { label: words.action.note },
    act: async (note) =>
      void (await postJson(
        '/v1/approvals',
        { approvalId, decision: 'reject', ...(note === '' ? {} : { note }) },
        newKey(),
      )),
  });
  return (
    <section aria-labelledby="granted">
      <h3 id="granted">{words.approval.granted}</h3>
      <ul className="ways">
        {counting.map((approval) => {
          const { approvalId, ask, by, grantUntil } = approval;
          const asksFor = ask.kind === 'approval' ? callText(ask.command) : ask.question;
          return (
            <li key={approvalId}>
              <span>
                <code>
                  <Foreign text={asksFor} />
                </code>{' '}
                <span className="faint">
                  <Foreign text={words.approval.grantedBy(by?.id ?? '', dateTimeText(grantUntil ?? ''))} />
                </span>
              </span>
              {may('REJECT') ? (
                <button
                  type="button"
                  className="button quiet small"
                  aria-label={words.approval.takeBackNamed(asksFor, approvalId)}
                  onClick={() => setAsked(takeBack(approval))}
                >
                  {words.approval.takeBack}
                </button>
              ) : null}
            </li>
          );
        })}
      </ul>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}
