import { useEffect, useRef, useState, type ReactElement } from 'react';
import { WorkspacesAnswer, type RunId } from '#proto';
import { bytesText } from '../../model/index.js';
import { Ago, Confirm, PageLink, Problem, type ToConfirm } from '../../parts/index.js';
import { newKey, sayVerb, useAsked, useMay, useNow } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** The directories that runs have on a device, as it says now. */
export function WorkspacesSection({ deviceId }: { readonly deviceId: string }): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const path = `/v1/devices/${encodeURIComponent(deviceId)}/workspaces`;
  const { value, problem, again } = useAsked(path, (json) => WorkspacesAnswer.parse(json));
  const [leaving, setLeaving] = useState<readonly RunId[]>([]);
  const remove = (run: RunId, key: string): ToConfirm => ({
    title: words.fleet.removeTitle(deviceId),
    about: words.fleet.removeAbout,
    action: words.fleet.remove,
    danger: true,
    act: async () => {
      await sayVerb(`/v1/runs/${run}/workspaces/${encodeURIComponent(deviceId)}/discard`, undefined, key);
      setLeaving((before) => [...before, run]);
      again();
    },
  });
  const isLeaving = value?.workspaces.some(({ runId }) => leaving.includes(runId)) === true;
  return (
    <section aria-labelledby="device-workspaces">
      <h3 id="device-workspaces">{words.fleet.workspaces}</h3>
      {problem === undefined ? null : <Problem text={problem} />}
      {value?.workspaces.length === 0 ? <p className="faint">{words.fleet.noWorkspaces}</p> : null}
      <ul className="ways">
        {(value?.workspaces ?? []).map(({ runId, bytes, files, usedAt, kept }) => (
          <li key={runId}>
            <span>
              <PageLink href={`/runs/${runId}`}>
                <code>{runId}</code>
              </PageLink>{' '}
              <span className="faint">
                {words.fleet.holds(files, bytesText(bytes))} · <Ago at={usedAt} />
              </span>{' '}
              {kept ? <span className="tag">{words.fleet.kept}</span> : null}
              {leaving.includes(runId) ? <span className="tag">{words.fleet.leaves}</span> : null}
            </span>
            {kept && !leaving.includes(runId) && may('DISCARD') ? (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.fleet.removeNamed(runId)}
                onClick={() => setAsked(remove(runId, newKey()))}
              >
                {words.fleet.remove}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      {value === undefined || value.more === 0 ? null : (
        <p className="faint">{words.fleet.moreWorkspaces(value.more)}</p>
      )}
      {isLeaving ? <AskedAgain answer={value} again={again} /> : null}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

/** Asks once more, a second after each answer: a device hears what is recorded of it a little later. */
function AskedAgain({ answer, again }: { readonly answer: unknown; readonly again: () => void }): null {
  const now = useNow();
  const asked = useRef<unknown>(undefined);
  useEffect(() => {
    // The one of before is still on its way.
    if (asked.current === answer) return;
    asked.current = answer;
    again();
  }, [now]);
  return null;
}
