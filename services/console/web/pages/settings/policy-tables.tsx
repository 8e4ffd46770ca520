import type { ReactElement } from 'react';
import type { PolicyInUse, PolicyLayer } from '#proto';
import { Facts, Foreign } from '../../parts/index.js';
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
    <table className="table small rows-table" aria-label={words.inUse.defaults(from)}>
      <thead>
        <tr>
          <th scope="col">{words.inUse.class}</th>
          <th scope="col">{words.inUse.decision}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(([of, decision]) => (
          <tr key={of}>
            <th scope="row">{of}</th>
            <td data-name={words.inUse.decision}>{decision}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function RulesTable({ layer: { from, rules, floor } }: { readonly layer: PolicyLayer }): ReactElement | null {
  const all = [...floor.map((rule) => ({ ...rule, decision: words.inUse.never })), ...rules];
  if (all.length === 0) return null;
  return (
    <table className="table small rows-table" aria-label={words.inUse.rules(from)}>
      <thead>
        <tr>
          <th scope="col">{words.inUse.rule}</th>
          <th scope="col">{words.inUse.match}</th>
          <th scope="col">{words.inUse.decision}</th>
          <th scope="col">{words.inUse.why}</th>
        </tr>
      </thead>
      <tbody>
        {all.map(({ id, match, decision, reason = '' }) => (
          <tr key={`${decision} ${id}`}>
            <th scope="row">
              <code>{id}</code>
            </th>
            <td data-name={words.inUse.match}>
              <Foreign text={match} />
            </td>
            <td data-name={words.inUse.decision}>{decision}</td>
            <td data-name={reason === '' ? undefined : words.inUse.why}>
              <Foreign text={reason} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
