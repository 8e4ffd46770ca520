import type { ReactElement } from 'react';
import type { ResultFile, Sha256, TaskResult } from '#proto';
import { bytesText, fileKind, isDropped, longListOf } from '../../../model/index.js';
import { Foreign, MoreFiles } from '../../../parts/index.js';
import { words } from '../../../words/index.js';

/** So many are read at a glance; the others are behind one word. */
const AT_ONCE = 10;

interface ResultFilesProps {
  readonly runId: string;
  readonly taskId: string;
  readonly result: TaskResult;
  /** Pictures that are kept no longer. */
  readonly dropped: ReadonlySet<Sha256>;
}

/** The files that came with a result. */
export function TaskResultFiles({ runId, taskId, result, dropped }: ResultFilesProps): ReactElement | null {
  const { files = [] } = result;
  const list = longListOf(taskId, result);
  if (files.length === 0) return null;
  const item = (file: ResultFile): ReactElement => (
    <FileItem key={`${file.path ?? ''} ${file.name}`} runId={runId} taskId={taskId} file={file} dropped={dropped} />
  );
  const others = files.slice(AT_ONCE);
  return (
    <>
      <ul className="files">{files.slice(0, AT_ONCE).map(item)}</ul>
      {others.length === 0 ? null : (
        <details>
          <summary>{words.board.andMore(others.length)}</summary>
          <ul className="files">{others.map(item)}</ul>
        </details>
      )}
      {list === undefined ? null : <MoreFiles list={list} shown={files.map(({ path, name }) => path ?? name)} />}
    </>
  );
}

type FileItemProps = Omit<ResultFilesProps, 'result'> & { readonly file: ResultFile };

function FileItem({ runId, taskId, file, dropped }: FileItemProps): ReactElement {
  const { name, path = name, artifact, problem } = file;
  const isGone = isDropped(file, dropped);
  const address = `/v1/runs/${runId}/output?task=${encodeURIComponent(taskId)}&artifact=${encodeURIComponent(path)}`;
  const kind = fileKind(file, isGone ? words.board.dropped : '');
  const said = [artifact === undefined ? words.board.notKept : bytesText(artifact.bytes), kind];
  return (
    <li>
      {artifact === undefined || isGone ? (
        <Foreign text={path} />
      ) : (
        <a href={address} download>
          <Foreign text={path} />
        </a>
      )}{' '}
      <span className="faint" title={artifact?.sha256}>
        {said.filter((text) => text !== '').join(' · ')}
      </span>
      {problem === undefined ? null : (
        <span className="faint">
          {' '}
          <Foreign text={problem} />
        </span>
      )}
    </li>
  );
}
