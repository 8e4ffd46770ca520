import type { ReactElement } from 'react';
import { droppedPictures } from '#libs/constellation';
import type { AttemptCommit, RunView } from '#proto';
import { bytesText, fileKind, filesOfRun, isDropped, type TaskFile } from '../../../model/index.js';
import { Empty, Foreign, Icon, MoreFiles, Table } from '../../../parts/index.js';
import { useMay } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

const HASH_CHARS = 12;

interface FilesProps {
  readonly view: RunView;
  /** What they tell of pictures that are kept no longer. */
  readonly attempts: readonly AttemptCommit[];
  readonly onChoose: (taskId: string) => void;
}

/** Every file that tasks have left: of which task, how large, and by what one knows that it is the same. */
export function FilesOfRun({ view, attempts, onChoose }: FilesProps): ReactElement {
  const { files, more } = filesOfRun(view);
  const dropped = droppedPictures(files.length === 0 ? [] : attempts.flatMap(({ events }) => events));
  return (
    <section aria-labelledby="run-files">
      <div className="section-head">
        <h2 id="run-files">{words.board.files}</h2>
      </div>
      {files.length === 0 ? (
        <Empty title={words.board.noFiles} />
      ) : (
        <Table
          isSmall={false}
          rows={files}
          keyOf={({ taskId, path, file }) => `${taskId} ${path} ${file.name}`}
          columns={[
            {
              name: words.board.file,
              cell: (one) => <NameOfFile runId={view.runId} of={one} isGone={isDropped(one.file, dropped)} />,
            },
            {
              name: words.board.task,
              cell: ({ taskId, taskName }) => (
                <button type="button" className="link" onClick={() => onChoose(taskId)}>
                  <Foreign text={taskName} />
                </button>
              ),
            },
            {
              name: words.board.size,
              isNumber: true,
              cell: ({ file: { artifact } }) =>
                artifact === undefined ? words.board.notKept : bytesText(artifact.bytes),
            },
            {
              name: words.board.hash,
              cell: ({ path, file: { artifact } }) =>
                artifact === undefined ? null : <Hash of={path} sha256={artifact.sha256} />,
            },
          ]}
        />
      )}
      {more.map((list) => (
        <MoreFiles
          key={list.taskId}
          list={list}
          shown={files.filter(({ taskId }) => taskId === list.taskId).map(({ path }) => path)}
        />
      ))}
    </section>
  );
}

interface NameProps {
  readonly runId: string;
  readonly of: TaskFile;
  readonly isGone: boolean;
}

function NameOfFile({ runId, of: { taskId, path, file }, isGone }: NameProps): ReactElement {
  const may = useMay();
  const { artifact, problem } = file;
  const address = `/v1/runs/${runId}/output?task=${encodeURIComponent(taskId)}&artifact=${encodeURIComponent(path)}`;
  return (
    <>
      {artifact === undefined || isGone || !may('READ_OUTPUT') ? (
        <Foreign text={path} />
      ) : (
        <a href={address} download aria-label={words.board.download(path)}>
          <Foreign text={path} />
        </a>
      )}
      <span className="faint file-type">{fileKind(file, isGone ? words.board.dropped : '')}</span>
      {problem === undefined ? null : (
        <span className="faint">
          <Foreign text={problem} />
        </span>
      )}
    </>
  );
}

function Hash({ of, sha256 }: { readonly of: string; readonly sha256: string }): ReactElement {
  return (
    <span className="row tight">
      <code title={sha256}>{sha256.slice(0, HASH_CHARS)}…</code>
      <button
        type="button"
        className="button quiet small"
        aria-label={words.board.copyHash(of)}
        onClick={() => void navigator.clipboard.writeText(sha256)}
      >
        <Icon name="copy" />
      </button>
    </span>
  );
}
