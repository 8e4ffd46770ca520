import { useState, type ReactElement } from 'react';
import { Actor, FeedShare, type Role } from '#proto';
import { FormDialog, TextField } from '../../parts/index.js';
import { askApi, newKey, postJson } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { limitsTyped, roleChange, type ListedPerson } from './people.js';
import { RolesField } from './roles.js';

interface FormProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Makes somebody known. */
export function AddForm({ onDone, onClose }: FormProps): ReactElement {
  const [actorId, setActorId] = useState('');
  const [kind, setKind] = useState<Actor['kind']>('person');
  const [roles, setRoles] = useState<readonly Role[]>(['viewer']);
  const submit = async (): Promise<void> => {
    await askApi('POST /v1/people', { body: { actorId: actorId.trim(), kind, roles } });
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={words.people.add}
      about={words.people.addAbout}
      action={words.people.addAction}
      onClose={onClose}
      submit={submit}
    >
      <TextField label={words.people.addId} value={actorId} onChange={setActorId} required />
      <label className="field">
        <span>{words.people.kindTitle}</span>
        <select value={kind} onChange={({ target }) => setKind(Actor.shape.kind.parse(target.value))}>
          {Actor.shape.kind.options.map((one) => (
            <option key={one} value={one}>
              {words.people.kind[one]}
            </option>
          ))}
        </select>
      </label>
      <RolesField label={words.people.roles} chosen={roles} onChange={setRoles} />
    </FormDialog>
  );
}

interface OfPerson extends FormProps {
  readonly person: ListedPerson;
}

/** Gives and takes roles. */
export function RolesForm({ person, onDone, onClose }: OfPerson): ReactElement {
  const { id: actorId } = person.actor;
  const [roles, setRoles] = useState<readonly Role[]>(person.roles);
  const submit = async (): Promise<void> => {
    const { give, take } = roleChange(person.roles, roles);
    if (give.length + take.length === 0) throw new Error(words.people.unchanged);
    const body = { ...(give.length > 0 && { give }), ...(take.length > 0 && { take }) };
    await askApi('POST /v1/people/{actorId}/roles', { path: { actorId }, body });
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={words.people.changeTitle(actorId)}
      about={words.people.changeAbout}
      action={words.people.save}
      onClose={onClose}
      submit={submit}
    >
      <RolesField label={words.people.roles} chosen={roles} onChange={setRoles} />
    </FormDialog>
  );
}

const COUNTS = ['requestsPerMinute', 'bytesPerMinute', 'openRuns'] as const;

/** Says how much a system may take: what is left empty stays as it is. */
export function LimitsForm({ person, onDone, onClose }: OfPerson): ReactElement {
  const { id: actorId } = person.actor;
  const [typed, setTyped] = useState<Partial<Record<(typeof COUNTS)[number] | 'feed', string>>>({});
  const submit = async (): Promise<void> => {
    const given = limitsTyped(typed);
    if (Object.keys(given).length === 0) throw new Error(words.people.noLimits);
    await postJson(`/v1/people/${encodeURIComponent(actorId)}/limits`, { given }, newKey());
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={words.people.limitsTitle(actorId)}
      about={words.people.limitsAbout}
      action={words.people.save}
      onClose={onClose}
      submit={submit}
    >
      {COUNTS.map((name) => (
        <TextField
          key={name}
          label={words.people.limit[name]}
          type="number"
          min={1}
          value={typed[name] ?? ''}
          placeholder={person.limits?.[name]?.toString()}
          onChange={(value) => setTyped((before) => ({ ...before, [name]: value }))}
        />
      ))}
      <label className="field">
        <span>{words.people.limit.feed}</span>
        <select
          value={typed.feed ?? ''}
          onChange={({ target }) => setTyped((before) => ({ ...before, feed: target.value }))}
        >
          <option value="">{words.people.unsaid}</option>
          {FeedShare.options.map((one) => (
            <option key={one} value={one}>
              {words.people.feed[one]}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}

/** Binds a login of an identity provider. */
export function LoginForm({
  person,
  issuers,
  onDone,
  onClose,
}: OfPerson & { readonly issuers: readonly string[] }): ReactElement {
  const [issuer, setIssuer] = useState('');
  const [subject, setSubject] = useState('');
  const submit = async (): Promise<void> => {
    const body = { change: 'bind', issuer: issuer.trim(), subject: subject.trim() } as const;
    await askApi('POST /v1/people/{actorId}/logins', { path: { actorId: person.actor.id }, body });
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={words.people.bind}
      about={words.people.bindAbout}
      action={words.people.bind}
      onClose={onClose}
      submit={submit}
    >
      <TextField label={words.people.issuer} value={issuer} known={issuers} onChange={setIssuer} required />
      <TextField label={words.people.subject} value={subject} onChange={setSubject} required />
    </FormDialog>
  );
}

/** Binds a key of the bus. */
export function KeyForm({ person, onDone, onClose }: OfPerson): ReactElement {
  const [key, setKey] = useState('');
  const submit = async (): Promise<void> => {
    const body = { change: 'add', key: key.trim() } as const;
    await askApi('POST /v1/people/{actorId}/keys', { path: { actorId: person.actor.id }, body });
    onDone();
    onClose();
  };
  return (
    <FormDialog
      title={words.people.addKey}
      about={words.people.addKeyAbout}
      action={words.people.addKey}
      onClose={onClose}
      submit={submit}
    >
      <TextField label={words.people.key} value={key} onChange={setKey} required />
    </FormDialog>
  );
}
