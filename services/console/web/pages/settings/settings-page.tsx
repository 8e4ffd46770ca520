import type { ReactElement } from 'react';
import { ROLE_TABLE, mayDo, type ActionName } from '#proto';
import { Facts, Foreign, Table } from '../../parts/index.js';
import { useMay, useMe } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { OwnTokens } from '../people/index.js';
import { InUseSection } from './in-use-section.js';
import { PolicySection } from './policy-section.js';

const IN_USE = ['device-agent', 'planner'] as const;

/** Who one is here, what one may do, and what this installation works by: as the server sees it. */
export function SettingsPage(): ReactElement | null {
  const me = useMe();
  const may = useMay();
  if (me === undefined) return null;
  const actions = (Object.keys(ROLE_TABLE) as ActionName[]).filter((action) => ROLE_TABLE[action].roles.length > 0);
  return (
    <div className="page narrow">
      <div className="page-head">
        <h1>{words.settings.title}</h1>
      </div>
      <Facts
        of={[
          [words.settings.who, <Foreign text={me.actor.id} />],
          [words.settings.roles, me.roles.join(', ') || words.settings.none],
          [words.settings.login, <Foreign text={`${me.login.subject} (${me.login.issuer})`} />],
        ]}
      />
      {may('device-agent.explain') ? <PolicySection /> : null}
      {IN_USE.map((service) => (may(`${service}.settings`) ? <InUseSection key={service} service={service} /> : null))}
      <OwnTokens />
      <h2>{words.settings.may}</h2>
      <Table
        folds={false}
        rows={actions}
        keyOf={(action) => action}
        columns={[
          { name: words.settings.action, cell: (action) => <code>{action}</code> },
          {
            name: words.settings.you,
            cell: (action) => (mayDo(me.roles, action) ? words.settings.yes : words.settings.no),
          },
          { name: words.settings.needs, cell: (action) => ROLE_TABLE[action].roles.join(', ') },
        ]}
      />
    </div>
  );
}
