import { useState, type ReactElement } from 'react';
import { z } from 'zod';
import type { LoadedPrompt } from '#proto';
import { Dialog, Empty, Foreign, Loading, Problem } from '../../parts/index.js';
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
        <table className="table small rows-table">
          <thead>
            <tr>
              <th scope="col">{words.inUse.file}</th>
              <th scope="col">{words.inUse.sha256}</th>
            </tr>
          </thead>
          <tbody>
            {prompts.map((prompt) => (
              <tr key={prompt.file}>
                <th scope="row">
                  <button
                    type="button"
                    className="link"
                    aria-label={words.inUse.openOf(prompt.file)}
                    onClick={() => setShown(prompt)}
                  >
                    <Foreign text={prompt.file} />
                  </button>
                </th>
                <td data-name={words.inUse.sha256}>
                  <code title={prompt.sha256}>{prompt.sha256.slice(0, HASH_CHARS)}…</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {shown === undefined ? null : (
        <PromptDialog service={service} prompt={shown} onClose={() => setShown(undefined)} />
      )}
    </>
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
