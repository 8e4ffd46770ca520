import { useState, type ReactElement } from 'react';
import { ApprovalsAnswer } from '#proto';
import type { ApprovalView, AttentionEntry } from '#proto';
import { Ago, Confirm, Empty, Foreign, Icon, PageLink, Loading, Problem, type ToConfirm } from '../../parts/index.js';
import { askApi, useAsked, useMay, useRows } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { ApprovalCard } from './approval-card.js';
import { HandAgain, placeOfLetter } from './hand-again.js';
import { WaitingRuns } from './waiting-runs.js';

/** What needs somebody: what agents wait for first, then everything else. */
export function AttentionPage(): ReactElement {
  const { rows, ready, problem, stale, counts } = useRows('attention');
  const { rows: runs } = useRows('runs');
  // Inquiry again whenever something of the list has changed: an approval is an entry of it.
  const asks = rows.filter(({ kind }) => kind === 'approval').map(({ id }) => id);
  const approvals = useAsked(`/v1/approvals?state=open&limit=200#${asks.join()}`, (json) =>
    ApprovalsAnswer.parse(json),
  );
  const open: readonly ApprovalView[] = approvals.value?.approvals ?? [];
  const entryOf = (approvalId: string) => rows.find(({ key }) => key === `approval ${approvalId}`);
  const unsettled = rows.filter(({ state }) => state !== 'settled');
  // A plan is no command of an agent: the word about it is given on the page of its run.
  const plans = unsettled.filter(({ kind, taskId }) => kind === 'approval' && taskId === undefined);
  const others = unsettled.filter(({ kind }) => kind !== 'approval');
  const told = new Set([...unsettled, ...open].map(({ runId = '' }) => runId));
  return (
    <div className="page">
      <div className="page-head">
        <h1>{words.attention.title}</h1>
        <span className="faint">{words.attention.counts(counts.open, counts.taken)}</span>
        <Notify />
      </div>
      {stale === undefined ? null : <p className="stale">{words.stale(stale)}</p>}
      {problem === undefined ? null : <Problem text={problem} />}
      {approvals.problem === undefined ? null : <Problem text={approvals.problem} />}
      {open.length === 0 ? null : (
        <section aria-labelledby="approvals">
          <h2 id="approvals">{words.attention.approvals}</h2>
          <div className="cards">
            {open.map((approval) => (
              <ApprovalCard
                key={approval.approvalId}
                approval={approval}
                entry={entryOf(approval.approvalId)}
                onDone={approvals.again}
              />
            ))}
          </div>
        </section>
      )}
      {ready || problem !== undefined ? null : <Loading />}
      {ready && open.length === 0 && plans.length === 0 && others.length === 0 ? (
        <Empty title={words.attention.none} />
      ) : null}
      <Entries id="plans" title={words.attention.plans} of={plans} />
      <Entries id="others" title={words.attention.others} of={others} />
      <WaitingRuns runs={runs} told={told} />
    </div>
  );
}

interface EntriesProps {
  readonly id: string;
  readonly title: string;
  readonly of: readonly AttentionEntry[];
}

function Entries({ id, title, of }: EntriesProps): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul className="cards">
        {of.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

function Entry({ entry }: { readonly entry: AttentionEntry }): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const [handing, setHanding] = useState(false);
  const letter = placeOfLetter(entry);
  const { id, kind, what, next, since, runId, taskId, deviceId, state, by } = entry;
  const take = (): ToConfirm => ({
    title: words.attention.takeTitle,
    about: words.attention.takeAbout,
    action: words.attention.take,
    act: async () => void (await askApi('POST /v1/attention/{id}/take', { path: { id } })),
  });
  const settle = (): ToConfirm => ({
    title: words.attention.settleTitle,
    about: words.attention.settleAbout,
    action: words.attention.settle,
    text: { label: words.action.reason, required: true },
    act: async (reason) => void (await askApi('POST /v1/attention/{id}/settle', { path: { id }, body: { reason } })),
  });
  return (
    <li className={`card kind-${kind}`}>
      <p className="card-head">
        <span className="tag">{words.attention.kind[kind]}</span>
        <Ago at={since} />
        {state === 'taken' && by !== null ? <span>{words.attention.takenBy(by.id)}</span> : null}
      </p>
      <p className="card-what">
        <Foreign text={what} />
      </p>
      <p className="faint">
        <code>
          <Foreign text={next} />
        </code>
      </p>
      <div className="row wrap" role="group" aria-label={`${words.attention.kind[kind]}: ${what} (${next})`}>
        {runId === undefined ? null : (
          <PageLink
            className="button small"
            href={`/runs/${runId}${taskId === undefined ? '' : `?task=${encodeURIComponent(taskId)}`}`}
          >
            {words.attention.toRun}
          </PageLink>
        )}
        {deviceId === undefined ? null : (
          <PageLink className="button small" href={`/fleet?open=${encodeURIComponent(deviceId)}`}>
            {words.attention.toDevice}
          </PageLink>
        )}
        {letter !== undefined && may('orchestrator.dlq-retry') ? (
          <button type="button" className="button small" onClick={() => setHanding(true)}>
            {words.attention.again}
          </button>
        ) : null}
        {may('logging.attention-take') && state === 'open' ? (
          <button type="button" className="button small" onClick={() => setAsked(take())}>
            {words.attention.take}
          </button>
        ) : null}
        {may('logging.attention-settle') ? (
          <button type="button" className="button small" onClick={() => setAsked(settle())}>
            {words.attention.settle}
          </button>
        ) : null}
      </div>
      {handing && letter !== undefined ? (
        <HandAgain entry={id} place={letter} onClose={() => setHanding(false)} />
      ) : null}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </li>
  );
}

/** The browser says when something new needs somebody, for who wants that. */
function Notify(): ReactElement | null {
  const [state, setState] = useState(() => ('Notification' in globalThis ? Notification.permission : 'denied'));
  if (state !== 'default') return null;
  return (
    <button type="button" className="button small" onClick={() => void Notification.requestPermission().then(setState)}>
      <Icon name="attention" />
      {words.attention.notify}
    </button>
  );
}
