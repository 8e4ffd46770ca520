import { useState, type ReactElement } from 'react';
import { QUERIES, type RunId } from '#proto';
import { bytesText } from '../../model/index.js';
import { Ago, Confirm, PageLink, Problem, type ToConfirm } from '../../parts/index.js';
import { askApi, useAsked, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';

const Workspaces = QUERIES['device-agent'].workspaces.answer;

/** The directories that runs have on a device, as it says now. */
export function WorkspacesSection({ deviceId }: { readonly deviceId: string }): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const path = `/v1/devices/${encodeURIComponent(deviceId)}/workspaces`;
  const { value, problem, again } = useAsked(path, (json) => Workspaces.parse(json));
  const remove = (run: RunId): ToConfirm => ({
    title: words.fleet.removeTitle(deviceId),
    about: words.fleet.removeAbout,
    action: words.fleet.remove,
    danger: true,
    act: async () => {
      await askApi('DELETE /v1/devices/{id}/workspaces/{run}', { path: { id: deviceId, run } });
      again();
    },
  });
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
            </span>
            {kept && may('device-agent.workspace-remove') ? (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.fleet.removeNamed(runId)}
                onClick={() => setAsked(remove(runId))}
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
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}
