import type { ReactElement } from 'react';
import { writerText } from '#libs/constellation';
import type { ShownEntry } from '#proto';
import { shownJson } from '../../../model/index.js';
import { Ago, Foreign, ForeignMark } from '../../../parts/index.js';
import { words } from '../../../words/index.js';

/** Who wrote it, when, and what follows of that. */
export function WrittenBy({ entry }: { readonly entry: Omit<ShownEntry, 'value'> }): ReactElement {
  const { revision, judge, writtenAt, attempt } = entry;
  return (
    <span className="faint board-by">
      {revision === undefined ? (
        words.board.noted
      ) : (
        <>
          {words.board.revision} {revision} · <Foreign text={writerText(entry)} />
          {attempt === undefined ? null : <ForeignMark by="model" />}
          {writtenAt === undefined ? null : (
            <>
              {' '}
              · <Ago at={writtenAt} />
            </>
          )}
        </>
      )}
      {judge === true ? (
        <span className="tag" title={words.board.judgedWhy}>
          {words.board.judged}
        </span>
      ) : null}
    </span>
  );
}

export function EntryValue({ entry: { name, value } }: { readonly entry: ShownEntry }): ReactElement {
  return (
    <pre className="foreign" role="group" tabIndex={0} aria-label={words.board.valueOf(name)}>
      <Foreign text={shownJson(value)} />
    </pre>
  );
}
