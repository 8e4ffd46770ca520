import * as Tabs from '@radix-ui/react-tabs';
import { useCallback, useMemo, useRef, useState, type ReactElement } from 'react';
import { conversationOf, Grown } from '#libs/constellation';
import type { ConversationItem, RunCommit } from '#proto';
import { changesIn, Skies, type ConstellationChange } from '../../model/index.js';
import { Foreign, goTo, PageLink, Loading, Problem, usePlace } from '../../parts/index.js';
import { useMedia, useRun } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { BoardPane } from './board/index.js';
import { Conversation } from './conversation.js';
import { Devices } from './devices.js';
import { FiguresView } from './figures.js';
import { RunHead } from './run-head.js';
import { SkyView } from './sky/index.js';
import { TaskDrawer } from './task/index.js';
import { History, TimeBar, Timeline } from './time/index.js';

const NARROW = '(max-width: 899px)';

/** One run as it is, or as it was at any moment: devices, conversation, constellation; and its time. */
export function RunPage({ runId }: { readonly runId: string }): ReactElement {
  const followed = useRun(runId);
  const { search } = usePlace();
  const narrow = useMedia(NARROW);
  const [tab, setTab] = useState('sky');
  const { record } = followed;
  const asked = search.get('at');
  const at = asked === null ? undefined : record.countAt(Number(asked));
  const count = at === undefined || at >= record.commits.length ? undefined : at;
  // A moment of a run stays what it was, whatever comes behind it.
  const asOf = count === undefined ? record : record.commits[0];
  const [run, commits] = useMemo(
    () => [record.after(count ?? record.commits.length), record.commits.slice(0, count)],
    [asOf, count],
  );
  const [folds] = useState(() => ({
    changes: new Grown<RunCommit, ConstellationChange>(changesIn),
    talk: new Grown<RunCommit, ConversationItem>(conversationOf),
    skies: new Skies(),
  }));
  const [changes, talk] = useMemo(() => [folds.changes.of(commits), folds.talk.of(commits)], [folds, commits]);
  const sky = useMemo(
    () => (run === undefined ? undefined : folds.skies.of(run, editedNow(changes.at(-1), commits.length))),
    [folds, run, changes, commits],
  );
  const chosen = search.get('task') ?? undefined;
  const go = (change: Readonly<Record<string, string | undefined>>): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    const said = next.toString();
    goTo(`/runs/${runId}${said === '' ? '' : `?${said}`}`, { replace: true });
  };
  const latest = useRef(go);
  latest.current = go;
  const choose = useCallback((task: string | undefined): void => latest.current({ task }), []);
  const toSequence = useCallback((sequence: number): void => latest.current({ at: String(sequence) }), []);
  if (followed.problem !== undefined && run === undefined) {
    return (
      <div className="page">
        <Problem text={followed.problem} />
        <PageLink href="/">{words.nav.runs}</PageLink>
      </div>
    );
  }
  if (run === undefined || sky === undefined) return <Loading />;
  const toCount = (to: number | undefined): void =>
    go({ at: to === undefined ? undefined : String(record.sequenceOf(to)) });
  const now = count === undefined ? undefined : Date.parse(commits.at(-1)?.at ?? '');
  const { view } = sky;
  const lastChange = changes.at(-1);
  const panes = {
    devices: <Devices tasks={view.tasks} onChoose={choose} />,
    talk: (
      <Conversation
        runId={run.runId}
        ended={run.endedAt !== null}
        items={talk}
        editing={run.editing}
        lastAt={run.editing === null ? null : (commits.at(-1)?.at ?? null)}
        plans={followed.plans}
        isNow={count === undefined}
        owner={view.requestedBy}
        onMoment={toSequence}
      />
    ),
    sky: <SkyView sky={sky} now={now} chosen={chosen} onChoose={choose} />,
    timeline: <Timeline commits={commits} tasks={view.tasks} now={now} ended={run.endedAt} onChoose={choose} />,
    history: <History commits={record.commits} shown={count} onMoment={toSequence} />,
    figures: <FiguresView commits={commits} view={view} />,
    board: (
      <BoardPane run={run} view={view} attempts={followed.attempts} isNow={count === undefined} onChoose={choose} />
    ),
  };
  return (
    <div className="run-page">
      <RunHead run={run} view={view} now={now} isNow={count === undefined} sequence={run.sequence} />
      {followed.stale === undefined ? null : <p className="stale">{words.stale(followed.stale)}</p>}
      {lastChange === undefined ? null : <LastChange change={lastChange} onMoment={toSequence} />}
      <Tabs.Root value={tab} onValueChange={setTab} className="run-body">
        <div className="run-panes">
          {narrow ? null : <aside className="pane pane-devices">{panes.devices}</aside>}
          {narrow ? null : <div className="pane pane-talk">{panes.talk}</div>}
          <div className="pane pane-sky">
            <Tabs.List className="tabs" aria-label={words.run.views}>
              {(
                [
                  'sky',
                  ...(narrow ? (['talk', 'devices'] as const) : []),
                  'timeline',
                  'history',
                  'board',
                  'figures',
                ] as const
              ).map((name) => (
                <Tabs.Trigger key={name} value={name} className="tab">
                  {words.run.tab[name]}
                </Tabs.Trigger>
              ))}
            </Tabs.List>
            {(['sky', 'talk', 'devices', 'timeline', 'history', 'board', 'figures'] as const).map((name) =>
              !narrow && (name === 'talk' || name === 'devices') ? null : (
                <Tabs.Content key={name} value={name} className={`tab-body tab-${name}`}>
                  {panes[name]}
                </Tabs.Content>
              ),
            )}
          </div>
        </div>
      </Tabs.Root>
      <TimeBar record={record} count={count} onMoment={toCount} />
      {chosen === undefined ? null : (
        <TaskDrawer
          run={run}
          view={view}
          taskId={chosen}
          attempts={followed.attempts}
          until={now}
          isNow={count === undefined}
          onClose={() => choose(undefined)}
        />
      )}
    </div>
  );
}

/** So many commits after a change its stars still wear it. */
const FRESH_COMMITS = 12;
const NOTHING_EDITED: ConstellationChange['edited'] = new Map();

function editedNow(change: ConstellationChange | undefined, last: number): ConstellationChange['edited'] {
  return change === undefined || last - change.number >= FRESH_COMMITS ? NOTHING_EDITED : change.edited;
}

/** The last change of the constellation: what, by whom and why. */
function LastChange({
  change,
  onMoment,
}: {
  readonly change: ConstellationChange;
  readonly onMoment: (sequence: number) => void;
}): ReactElement {
  return (
    <details className="change">
      <summary>{words.run.changed(change.revision, change.by, change.words.length)}</summary>
      <ul>
        {change.words.map((text) => (
          <li key={text}>
            <Foreign text={text} />
          </li>
        ))}
      </ul>
      {change.why === '' ? null : <Foreign text={change.why} block />}
      <button type="button" className="button small" onClick={() => onMoment(change.sequence)}>
        {words.run.showChange}
      </button>
    </details>
  );
}
