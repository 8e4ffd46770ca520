import type { ReactElement } from 'react';
import type { ModelInUse, SettingsInUse } from '#proto';
import { Empty, Foreign } from '../../parts/index.js';
import { words } from '../../words/index.js';

const { inUse } = words;

/** How models are asked: nothing that lets somebody in is known here. */
export function ModelsTable({ settings }: { readonly settings: SettingsInUse }): ReactElement {
  const { models, visual, replays } = settings;
  return (
    <>
      <h3>{inUse.models}</h3>
      {models.length === 0 ? (
        <Empty title={replays ? inUse.replays : inUse.noModels} />
      ) : (
        <>
          <p className="faint">{[inUse.visual(visual), ...(replays ? [inUse.replays] : [])].join(' ')}</p>
          <table className="table small rows-table">
            <thead>
              <tr>
                {COLUMNS.map(([name]) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {models.map((model) => (
                <tr key={model.of}>
                  {COLUMNS.map(([name, said], index) =>
                    index === 0 ? (
                      <th key={name} scope="row">
                        <Foreign text={said(model)} />
                      </th>
                    ) : (
                      <td key={name} data-name={name}>
                        <Foreign text={said(model)} />
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

const MS = 1_000;
const COLUMNS: readonly (readonly [string, (model: ModelInUse) => string])[] = [
  [inUse.of, ({ of }) => of],
  [inUse.model, ({ model }) => model],
  [inUse.host, ({ host }) => host],
  [inUse.key, ({ hasKey }) => inUse.hasKey(hasKey)],
  [inUse.temperature, ({ temperature }) => String(temperature ?? inUse.unset)],
  [inUse.maxTokens, ({ maxTokens }) => String(maxTokens ?? inUse.unset)],
  [inUse.timeout, ({ timeoutMs }) => (timeoutMs === null ? '' : `${timeoutMs / MS} s`)],
  [inUse.retries, ({ retries }) => String(retries ?? '')],
  [inUse.pictures, ({ seesPictures }) => (seesPictures === null ? '' : inUse.sees(seesPictures))],
];
