import { useState, type ReactElement } from 'react';
import { shownBoard, type Run } from '#libs/constellation';
import type { AttemptCommit, RunView, ShownEntry } from '#proto';
import { bytesText } from '../../../model/index.js';
import { Empty } from '../../../parts/index.js';
import { useMay } from '../../../wire/index.js';
import { words } from '../../../words/index.js';
import { BoardDialog, type BoardIntent } from './board-dialog.js';
import { EntryValue, WrittenBy } from './entry.js';
import { FilesOfRun } from './files.js';

interface BoardPaneProps {
  readonly run: Run;
  readonly view: RunView;
  readonly attempts: readonly AttemptCommit[];
  readonly isNow: boolean;
  readonly onChoose: (taskId: string) => void;
}

/** What stands on the board of a run at the moment that is looked at, and the files that its tasks have left. */
export function BoardPane({ run, view, attempts, isNow, onChoose }: BoardPaneProps): ReactElement {
  const may = useMay();
  const [intent, setIntent] = useState<BoardIntent>();
  const entries = shownBoard(run);
  const isOpen = isNow && view.endedAt === null;
  const mayWrite = isOpen && may('BOARD_SET', view.requestedBy);
  const mayTake = isOpen && may('BOARD_DELETE', view.requestedBy);
  return (
    <div className="board">
      <section aria-labelledby="board-values">
        <div className="section-head">
          <h2 id="board-values">{words.board.values}</h2>
          <span className="faint">
            {words.board.counts(entries.length, bytesText(run.board.bytes), run.board.revision)}
          </span>
          {mayWrite ? (
            <button type="button" className="button small" onClick={() => setIntent({ kind: 'write' })}>
              {words.board.write}
            </button>
          ) : null}
        </div>
        {entries.length === 0 ? (
          <Empty title={words.board.none}>
            <p>{words.board.about}</p>
          </Empty>
        ) : (
          <ul className="cards">
            {entries.map((entry) => (
              <Entry
                key={entry.name}
                entry={entry}
                onChange={mayWrite ? () => setIntent({ kind: 'write', entry }) : undefined}
                onTake={mayTake ? () => setIntent({ kind: 'take', entry }) : undefined}
              />
            ))}
          </ul>
        )}
      </section>
      <FilesOfRun view={view} attempts={attempts} onChoose={onChoose} />
      {intent === undefined ? null : (
        <BoardDialog runId={view.runId} intent={intent} onClose={() => setIntent(undefined)} />
      )}
    </div>
  );
}

interface EntryProps {
  readonly entry: ShownEntry;
  readonly onChange: (() => void) | undefined;
  readonly onTake: (() => void) | undefined;
}

function Entry({ entry, onChange, onTake }: EntryProps): ReactElement {
  const { name, revision } = entry;
  return (
    <li className="card board-entry">
      <div className="board-head">
        <code>{name}</code>
        <WrittenBy entry={entry} />
        {revision === undefined ? null : (
          <span className="row tight">
            {onChange === undefined ? null : (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.board.changeNamed(name)}
                onClick={onChange}
              >
                {words.board.change}
              </button>
            )}
            {onTake === undefined ? null : (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.board.takeNamed(name)}
                onClick={onTake}
              >
                {words.board.take}
              </button>
            )}
          </span>
        )}
      </div>
      <EntryValue entry={entry} />
    </li>
  );
}
