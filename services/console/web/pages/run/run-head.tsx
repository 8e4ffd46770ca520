import * as DropdownMenu from '@radix-ui/react-dropdown-menu';
import { useState, type ReactElement } from 'react';
import type { Run } from '#libs/constellation';
import type { RunView } from '#proto';
import { Ago, Confirm, Elapsed, Foreign, goTo, Icon, PageLink, Status, type ToConfirm } from '../../parts/index.js';
import { useBarred, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { runActions, type RunAction } from './actions/index.js';
import { VerifyDialog } from './verify/index.js';

interface RunHeadProps {
  readonly run: Run;
  readonly view: RunView;
  readonly now: number | undefined;
  readonly isNow: boolean;
  readonly sequence: number;
}

/** What a run is, how it is doing, and what can be done about it. */
export function RunHead({ run, view, now, isNow, sequence }: RunHeadProps): ReactElement {
  const may = useMay();
  const barred = useBarred(run);
  const [asked, setAsked] = useState<ToConfirm>();
  const [verifying, setVerifying] = useState(false);
  const actions = runActions({
    view,
    isNow,
    sequence,
    may,
    isPlanOpen: run.waitsFor === 'plan_approval',
    barred,
    onFork: (forked) => goTo(`/runs/${forked}`),
  });
  const first = actions.filter(({ first }) => first);
  const others = actions.filter(({ first }) => !first);
  const { parent } = view;
  const asks = view.approvals.filter(({ state }) => state === 'open').length;
  const done = view.tasks.filter(({ status }) => status !== 'PENDING' && status !== 'RUNNING').length;
  return (
    <header className="run-head">
      <div className="run-what">
        <h1>
          <Foreign text={view.name} />
        </h1>
        <Status status={view.status} outcome={view.outcome} />
        {isNow ? null : <span className="past">{words.time.past}</span>}
      </div>
      <p className="run-facts">
        <span>
          {words.run.done(done, view.tasks.length)}
          <progress value={done} max={Math.max(1, view.tasks.length)} aria-label={words.run.progress} />
        </span>
        <span>
          <Elapsed from={view.requestedAt} until={view.endedAt} now={now} />
        </span>
        <span>
          {words.run.by} <Foreign text={view.requestedBy} /> <Ago at={view.requestedAt} />
        </span>
        {view.used === undefined || view.used.llmCalls === 0 ? null : <span>{words.run.used(view.used)}</span>}
        {view.parent === null ? null : <span>{words.run.forkOf(view.parent.runId, view.parent.sequence)}</span>}
        {view.waitingFor === null ? null : (
          <span className="waits">
            {asks > 0 ? (
              <PageLink href="/attention">{words.run.waitsForPeople(asks)}</PageLink>
            ) : (
              <>
                {words.run.waitsFor} <Foreign text={view.waitingFor.detail} />
              </>
            )}
          </span>
        )}
        {view.reason === null ? null : <Foreign text={view.reason} />}
      </p>
      <div className="row run-actions">
        {first.map((action) => (
          <button
            key={action.name}
            type="button"
            className="button"
            disabled={action.whyNot !== undefined}
            aria-describedby={action.whyNot === undefined ? undefined : 'run-why-not'}
            onClick={() => setAsked(action.confirmation)}
          >
            {action.name}
          </button>
        ))}
        <DropdownMenu.Root modal={false}>
          <DropdownMenu.Trigger className="button" aria-label={words.run.more}>
            <Icon name="menu" />
          </DropdownMenu.Trigger>
          <DropdownMenu.Portal>
            <DropdownMenu.Content className="menu" align="end" sideOffset={4}>
              {others.map((action) => (
                <DropdownMenu.Item
                  key={action.name}
                  className="menu-item"
                  onSelect={() => setAsked(action.confirmation)}
                >
                  {action.name}
                </DropdownMenu.Item>
              ))}
              <DropdownMenu.Item className="menu-item" asChild>
                <a href={`/v1/runs/${view.runId}/report.md`} target="_blank" rel="noreferrer">
                  {words.run.report}
                </a>
              </DropdownMenu.Item>
              {may('VERIFY') ? (
                <DropdownMenu.Item className="menu-item" onSelect={() => setVerifying(true)}>
                  {words.verify.verify}
                </DropdownMenu.Item>
              ) : null}
              {may('EXPORT') ? (
                <DropdownMenu.Item className="menu-item" asChild>
                  <a href={`/v1/runs/${view.runId}/export`} download={`${view.runId}.jsonl`}>
                    {words.verify.download}
                  </a>
                </DropdownMenu.Item>
              ) : null}
              <DropdownMenu.Item
                className="menu-item"
                onSelect={() => goTo(`/compare?from=${view.runId}&fromAt=${sequence}&to=${view.runId}`)}
              >
                {words.compare.moments}
              </DropdownMenu.Item>
              {parent === null ? null : (
                <DropdownMenu.Item
                  className="menu-item"
                  onSelect={() => goTo(`/compare?from=${parent.runId}&to=${view.runId}`)}
                >
                  {words.compare.origin}
                </DropdownMenu.Item>
              )}
              <DropdownMenu.Item
                className="menu-item"
                onSelect={() => void navigator.clipboard.writeText(location.href)}
              >
                {words.run.copyLink}
              </DropdownMenu.Item>
            </DropdownMenu.Content>
          </DropdownMenu.Portal>
        </DropdownMenu.Root>
      </div>
      <WhyNot of={first} />
      {verifying ? <VerifyDialog view={view} onClose={() => setVerifying(false)} /> : null}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </header>
  );
}

/** Of a button that is there and cannot be pressed. */
function WhyNot({ of }: { readonly of: readonly RunAction[] }): ReactElement | null {
  const said = of.find(({ whyNot }) => whyNot !== undefined)?.whyNot;
  if (said === undefined) return null;
  return (
    <p className="note" id="run-why-not">
      <Foreign text={said} />
    </p>
  );
}
