import { useState, type ReactElement } from 'react';
import { z } from 'zod';
import type { LoadedPrompt } from '#proto';
import { Dialog, Empty, Foreign, Loading, Problem, Table } from '../../parts/index.js';
import { useAsked } from '../../wire/index.js';
import { words } from '../../words/index.js';

interface PromptsProps {
  readonly service: 'device-agent' | 'planner';
  readonly prompts: readonly LoadedPrompt[];
}

/** The files of prompts as they were loaded, by their hashes, each to be read. */
export function PromptsTable({ service, prompts }: PromptsProps): ReactElement {
  const [shown, setShown] = useState<LoadedPrompt>();
  return (
    <>
      <h3>{words.inUse.prompts}</h3>
      {prompts.length === 0 ? (
        <Empty title={words.inUse.noPrompts} />
      ) : (
        <Table
          rows={prompts}
          keyOf={({ file }) => file}
          columns={[
            { name: words.inUse.file, cell: (prompt) => <FileButton prompt={prompt} onOpen={setShown} /> },
            {
              name: words.inUse.sha256,
              cell: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, HASH_CHARS)}…</code>,
            },
          ]}
        />
      )}
      {shown === undefined ? null : (
        <PromptDialog service={service} prompt={shown} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}

interface FileButtonProps {
  readonly prompt: LoadedPrompt;
  readonly onOpen: (prompt: LoadedPrompt) => void;
}

function FileButton({ prompt, onOpen }: FileButtonProps): ReactElement {
  const { file } = prompt;
  return (
    <button type="button" className="link" aria-label={words.inUse.openOf(file)} onClick={() => onOpen(prompt)}>
      <Foreign text={file} />
    </button>
  );
}

const HASH_CHARS = 16;
const Answer = z.object({ replicas: z.array(z.object({ text: z.string().nullable() })) });

interface PromptDialogProps extends Pick<PromptsProps, 'service'> {
  readonly prompt: LoadedPrompt;
  readonly onClose: () => void;
}

/** The hash says which text it is: whichever replica has it, it is this one. */
function PromptDialog({ service, prompt: { file, sha256 }, onClose }: PromptDialogProps): ReactElement {
  const { value, problem } = useAsked(`/v1/settings/${service}/prompts/${sha256}`, (json) => Answer.parse(json));
  const text = value?.replicas.map((replica) => replica.text).find((one) => one !== null);
  return (
    <Dialog side open title={file} about={<code>{sha256}</code>} onClose={onClose}>
      <div className="drawer">
        {problem === undefined ? null : <Problem text={`${words.inUse.notAsked} ${problem}`} />}
        {value === undefined && problem === undefined ? <Loading /> : null}
        {value !== undefined && text === undefined ? <Problem text={words.inUse.gone} /> : null}
        {text === undefined ? null : (
          <pre className="foreign whole" tabIndex={0} role="group" aria-label={file}>
            <Foreign text={text} />
          </pre>
        )}
      </div>
    </Dialog>
  );
}
