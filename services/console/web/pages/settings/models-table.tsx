import type { ReactElement } from 'react';
import type { ModelInUse, SettingsInUse } from '#proto';
import { Empty, Foreign, Table, type TableColumn } from '../../parts/index.js';
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
          <Table rows={models} keyOf={({ of }) => of} columns={COLUMNS} />
        </>
      )}
    </>
  );
}

const MS = 1_000;
const column = (name: string, said: (model: ModelInUse) => string): TableColumn<ModelInUse> => ({
  name,
  cell: (model) => <Foreign text={said(model)} />,
});
const COLUMNS = [
  column(inUse.of, ({ of }) => of),
  column(inUse.model, ({ model }) => model),
  column(inUse.host, ({ host }) => host),
  column(inUse.key, ({ hasKey }) => inUse.hasKey(hasKey)),
  column(inUse.temperature, ({ temperature }) => String(temperature ?? inUse.unset)),
  column(inUse.maxTokens, ({ maxTokens }) => String(maxTokens ?? inUse.unset)),
  column(inUse.timeout, ({ timeoutMs }) => (timeoutMs === null ? '' : `${timeoutMs / MS} s`)),
  column(inUse.retries, ({ retries }) => String(retries ?? '')),
  column(inUse.pictures, ({ seesPictures }) => (seesPictures === null ? '' : inUse.sees(seesPictures))),
] as const;
