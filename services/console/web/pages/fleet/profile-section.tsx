import { useState, type ReactElement } from 'react';
import { profileEntries, typedProfileValue, type ProfileEntry } from '#libs/constellation';
import type { AgentProfile } from '#proto';
import { shownJson } from '../../model/index.js';
import {
  Confirm,
  dateTimeText,
  Foreign,
  Problem,
  Table,
  TextField,
  useForm,
  type ToConfirm,
} from '../../parts/index.js';
import { askApi, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** What a device is, by who says so; and the word of an operator about it. */
export function ProfileSection({ device }: { readonly device: AgentProfile }): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const entries = profileEntries(device);
  const maySet = may('registry.device-set');
  const { deviceId, givenRevision = 0 } = device;
  const unset = (key: string): ToConfirm => ({
    title: words.fleet.unsetTitle(key),
    about: words.fleet.unsetAbout,
    action: words.fleet.unset,
    act: async () =>
      void (await askApi('POST /v1/devices/{id}/profile', {
        path: { id: deviceId },
        body: { unset: [key], revision: givenRevision },
      })),
  });
  return (
    <section aria-labelledby="device-profile" className="stack">
      <div>
        <h3 id="device-profile">{words.fleet.profile}</h3>
        <p className="faint">{words.fleet.profileAbout}</p>
      </div>
      <Table
        rows={entries}
        keyOf={({ key }) => key}
        columns={[
          {
            name: words.fleet.key,
            cell: ({ key }) => (
              <code>
                <Foreign text={key} />
              </code>
            ),
          },
          { name: words.fleet.value, cell: ({ value }) => <Foreign text={shownJson(value)} /> },
          {
            name: words.fleet.source,
            cell: (entry) => (
              <WhoSays
                entry={entry}
                onUnset={
                  maySet && entry.source === 'administrator' && Object.hasOwn(device.given ?? {}, entry.key)
                    ? () => setAsked(unset(entry.key))
                    : undefined
                }
              />
            ),
          },
        ]}
      />
      {maySet ? <SetForm key={deviceId} device={device} /> : null}
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
    </section>
  );
}

interface WhoSaysProps {
  readonly entry: ProfileEntry;
  readonly onUnset: (() => void) | undefined;
}

function WhoSays({ entry, onUnset }: WhoSaysProps): ReactElement {
  const { key, source, by, at, instead } = entry;
  return (
    <>
      <span title={at === null ? undefined : dateTimeText(at)}>
        {words.fleet.sources[source]}
        {by === undefined ? null : (
          <>
            {' '}
            <Foreign text={by.id} />
          </>
        )}
      </span>
      {onUnset === undefined ? null : (
        <button type="button" className="button quiet small" aria-label={words.fleet.unsetNamed(key)} onClick={onUnset}>
          {words.fleet.unset}
        </button>
      )}
      {instead.map((other) => (
        <span key={`${other.source} ${other.key}`} className="faint file-type">
          <Foreign text={words.fleet.instead(words.fleet.sources[other.source], shownJson(other.value))} />
        </span>
      ))}
    </>
  );
}

/** Says one thing of a device, over what was seen of its profile and nothing else. */
function SetForm({ device }: { readonly device: AgentProfile }): ReactElement {
  const { deviceId, givenRevision = 0 } = device;
  const [name, setName] = useState('');
  const [typed, setTyped] = useState('');
  const form = useForm(async (key) => {
    const body = { set: { [name]: typedProfileValue(name, typed) }, revision: givenRevision };
    const answer = askApi('POST /v1/devices/{id}/profile', { path: { id: deviceId }, body, key });
    // Said once more it is said about what stands there then.
    await answer.finally(() => form.changed(() => undefined));
    setName('');
    setTyped('');
  });
  return (
    <form className="stack" onSubmit={form.submit} aria-label={words.fleet.set}>
      <p className="faint">{words.fleet.setAbout}</p>
      <div className="row wrap bottom">
        <TextField
          label={words.fleet.setKey}
          small
          required
          value={name}
          onChange={(said) => form.changed(() => setName(said.trim()))}
        />
        <TextField
          label={words.fleet.setValue}
          required
          value={typed}
          onChange={(said) => form.changed(() => setTyped(said))}
        />
        <button type="submit" className="button" disabled={form.busy}>
          {words.fleet.put}
        </button>
      </div>
      {form.problem === undefined ? null : <Problem text={form.problem} />}
    </form>
  );
}
