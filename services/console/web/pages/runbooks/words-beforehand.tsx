import { useState, type ReactElement } from 'react';
import { callText } from '#libs/constellation';
import { ContentApprovalsAnswer, type Json, type RunbookInfo, type TaskConstellation } from '#proto';
import { Confirm, dateTimeText, Foreign, PageLink, Problem, type ToConfirm } from '../../parts/index.js';
import { askApi, newKey, postJson, useAsked, useMay, useNow } from '../../wire/index.js';
import { words } from '../../words/index.js';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** Whose word stands for which plan, whenever it comes: all of them, or those of one runbook. */
export function WordsBeforehand({ name, round = 0 }: { readonly name?: string; readonly round?: number }) {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const { value, problem, again } = useAsked(`/v1/content-approvals#${round}`, (json) =>
    ContentApprovalsAnswer.parse(json),
  );
  const approvals = (value?.approvals ?? []).filter(({ about }) => name === undefined || about.name === name);
  const revoke = (approvalId: string): ToConfirm => ({
    title: words.runbooks.takeBackTitle,
    about: words.runbooks.takeBackAbout,
    action: words.runbooks.takeBack,
    text: { label: words.action.reason },
    act: async (reason) => {
      const body = reason === '' ? {} : { reason };
      await askApi('POST /v1/content-approvals/{id}/revoke', { path: { id: approvalId }, body });
      again();
    },
  });
  if (problem === undefined && approvals.length === 0) return null;
  return (
    <section aria-labelledby="beforehand" className="stack">
      <h2 id="beforehand">{words.runbooks.beforehand}</h2>
      {problem === undefined ? null : <Problem text={problem} />}
      <ul className="ways">
        {approvals.map(({ approvalId, about, by, state, expiresAt, contentHash }) => (
          <li key={approvalId}>
            <span>
              {name === undefined ? <PageLink href={`/runbooks/${about.name}`}>{about.name}</PageLink> : null}{' '}
              <Foreign text={parametersText(about.parameters)} />{' '}
              <span className="tag">{words.runbooks.state[state]}</span>{' '}
              <span className="faint" title={contentHash}>
                <Foreign text={words.runbooks.approvedBy(by.id, dateTimeText(expiresAt))} />
              </span>
            </span>
            {state === 'counts' && may('registry.content-revoke', by.id) ? (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.runbooks.takeBackNamed(approvalId)}
                onClick={() => setAsked(revoke(approvalId))}
              >
                {words.runbooks.takeBack}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

const parametersText = (parameters: Readonly<Record<string, Json>> = {}): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');

interface ApproveBeforehandProps {
  readonly runbook: RunbookInfo;
  readonly parameters: Readonly<Record<string, Json>>;
  readonly plan: TaskConstellation;
  readonly onDone: () => void;
}

/** The word of an approver for exactly the plan that is shown: what would run is said once more before. */
export function ApproveBeforehand({ runbook, parameters, plan, onDone }: ApproveBeforehandProps): ReactElement | null {
  const may = useMay();
  const now = useNow();
  const [asked, setAsked] = useState<ToConfirm>();
  if (!may('registry.content-approve')) return null;
  const commands = plan.tasks.flatMap(({ command, verify }) =>
    [command, verify?.command].filter((one) => one !== undefined),
  );
  const approve: ToConfirm = {
    title: words.runbooks.approveTitle,
    about: (
      <>
        <p>{words.runbooks.approveAbout}</p>
        <pre className="command">
          <Foreign text={commands.map((command) => callText(command)).join('\n')} />
        </pre>
      </>
    ),
    action: words.runbooks.approve,
    text: { label: words.runbooks.days, required: true, initial: String(DAYS), lines: 1 },
    act: async (days) => {
      const expiresAt = new Date(now + daysIn(days) * DAY_MS).toISOString();
      const about = { name: runbook.name, fileHash: runbook.hash, parameters: { ...parameters } };
      await postJson('/v1/content-approvals', { constellation: plan, about, expiresAt }, newKey());
      onDone();
    },
  };
  return (
    <div className="row end">
      <button type="button" className="button" onClick={() => setAsked(approve)}>
        {words.runbooks.approve}
      </button>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

/** Throws with the sentence to be shown. */
function daysIn(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1) throw new Error(words.runbooks.noDays);
  return days;
}
