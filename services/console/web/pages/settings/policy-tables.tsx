import type { ReactElement } from 'react';
import type { PolicyInUse, PolicyLayer } from '#proto';
import { Facts, Foreign, Table } from '../../parts/index.js';
import { words } from '../../words/index.js';

/** A policy by the places that say it, to be read. */
export function PolicyTables({ policy: { hash, layers } }: { readonly policy: PolicyInUse }): ReactElement {
  return (
    <>
      <h3>{words.inUse.policy}</h3>
      <p className="faint">{words.inUse.policyAbout}</p>
      <Facts of={[[words.inUse.hash, <code>{hash}</code>]]} />
      {layers.map((layer) => (
        <Layer key={layer.from} layer={layer} />
      ))}
    </>
  );
}

function Layer({ layer }: { readonly layer: PolicyLayer }): ReactElement {
  const { from, devices, sensitivePaths, writablePaths = [], programDirectories = [], tools } = layer;
  const list = (of: readonly string[]) => (of.length === 0 ? null : <Foreign text={of.join(', ')} />);
  return (
    <section className="card stack" aria-label={from}>
      <p className="card-head">
        <strong>
          <Foreign text={from} />
        </strong>
        {devices === undefined ? null : (
          <Foreign text={words.inUse.forDevices(devices.ids ?? [], devices.tags ?? [])} />
        )}
      </p>
      <DefaultsTable layer={layer} />
      <RulesTable layer={layer} />
      <Facts
        of={[
          [words.inUse.sensitive, list(sensitivePaths)],
          [words.inUse.writable, list(writablePaths)],
          [words.inUse.programs, list(programDirectories)],
          [words.inUse.tools, list(Object.entries(tools).map(([name, rule]) => `${name}: ${rule}`))],
        ]}
      />
    </section>
  );
}

function DefaultsTable({ layer: { from, defaults } }: { readonly layer: PolicyLayer }): ReactElement | null {
  const entries = Object.entries(defaults);
  if (entries.length === 0) return null;
  return (
    <Table
      label={words.inUse.defaults(from)}
      rows={entries}
      keyOf={([of]) => of}
      columns={[
        { name: words.inUse.class, cell: ([of]) => of },
        { name: words.inUse.decision, cell: ([, decision]) => decision },
      ]}
    />
  );
}

function RulesTable({ layer: { from, rules, floor } }: { readonly layer: PolicyLayer }): ReactElement | null {
  const all = [...floor.map((rule) => ({ ...rule, decision: words.inUse.never })), ...rules];
  if (all.length === 0) return null;
  return (
    <Table
      label={words.inUse.rules(from)}
      rows={all}
      keyOf={({ id, decision }) => `${decision} ${id}`}
      columns={[
        { name: words.inUse.rule, cell: ({ id }) => <code>{id}</code> },
        { name: words.inUse.match, cell: ({ match }) => <Foreign text={match} /> },
        { name: words.inUse.decision, cell: ({ decision }) => decision },
        { name: words.inUse.why, cell: ({ reason = '' }) => (reason === '' ? null : <Foreign text={reason} />) },
      ]}
    />
  );
}
