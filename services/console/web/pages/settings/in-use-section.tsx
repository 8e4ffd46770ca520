import type { ReactElement } from 'react';
import { z } from 'zod';
import { alike, SettingsInUse } from '#proto';
import { Foreign, Loading, Problem } from '../../parts/index.js';
import { useAsked } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { ModelsTable } from './models-table.js';
import { PolicyTables } from './policy-tables.js';
import { PromptsTable } from './prompts-table.js';

const Answer = z.object({ replicas: z.array(SettingsInUse) });

/** What one service works by, by every replica that answers: those that differ are shown each by itself. */
export function InUseSection({ service }: { readonly service: 'device-agent' | 'planner' }): ReactElement {
  const { value, problem } = useAsked(`/v1/settings/${service}`, (json) => Answer.parse(json));
  const groups = alike(value?.replicas ?? []);
  return (
    <section aria-labelledby={`in-use-${service}`} className="stack">
      <div>
        <h2 id={`in-use-${service}`}>{words.inUse.services[service]}</h2>
        <p className="faint">{words.inUse.about}</p>
      </div>
      {problem === undefined ? null : <Problem text={`${words.inUse.notAsked} ${problem}`} />}
      {value === undefined && problem === undefined ? <Loading /> : null}
      {groups.length > 1 ? <Problem text={words.inUse.differ} /> : null}
      {groups.map(({ names, settings }) => (
        <div key={names.join(' ')} className="stack">
          <p className={groups.length > 1 ? 'note' : 'faint'}>
            <Foreign text={groups.length > 1 ? words.inUse.replicas(names) : words.inUse.same(names)} />
          </p>
          {settings.policy === null ? null : <PolicyTables policy={settings.policy} />}
          <PromptsTable service={service} prompts={settings.prompts} />
          <ModelsTable settings={settings} />
        </div>
      ))}
    </section>
  );
}
