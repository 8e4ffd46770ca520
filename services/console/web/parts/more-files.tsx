import { useState, type ReactElement } from 'react';
import { FileList, type WorkspaceFile } from '#proto';
import { bytesText, type LongFileList } from '../model/index.js';
import { getJson } from '../wire/index.js';
import { words } from '../words/index.js';
import { Problem } from './panel.js';
import { Foreign } from './text.js';
import { useForm } from './use-form.js';

interface MoreFilesProps {
  /** The list of all that a task has left. */
  readonly list: LongFileList;
  /** Where those lie that are shown already. */
  readonly shown: readonly string[];
}

/** What a task has left beyond the files that its result names: read when somebody wants to see it. */
export function MoreFiles({ list, shown }: MoreFilesProps): ReactElement {
  const [all, setAll] = useState<readonly WorkspaceFile[]>();
  const address = `/v1/artifacts/${list.sha256}`;
  const form = useForm(async () => setAll(FileList.parse(await getJson(address))));
  return (
    <div className="stack">
      <p className="row wrap faint">
        {words.board.moreFiles(list.taskId, list.files, bytesText(list.bytes))}
        {all === undefined ? (
          <button type="button" className="button small" disabled={form.busy} onClick={() => form.submit()}>
            {words.board.andMore(list.files - shown.length)}
          </button>
        ) : null}
        <a href={address} download={`${list.taskId}-files.json`}>
          {words.board.fileList}
        </a>
      </p>
      {form.problem === undefined ? null : <Problem text={form.problem} />}
      {all === undefined ? null : (
        <ul className="files" aria-label={words.board.moreOf(list.taskId)}>
          {all
            .filter(({ path }) => !shown.includes(path))
            .map(({ path, sha256, bytes, mode }) => (
              <li key={path}>
                <a href={`/v1/artifacts/${sha256}`} download={path.slice(path.lastIndexOf('/') + 1)}>
                  <Foreign text={path} />
                </a>{' '}
                <span className="faint">{[bytesText(bytes), mode].join(' · ')}</span>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
