import { useState, type ReactElement } from 'react';
import { Confirm, dateTimeText, Dialog, Facts, Foreign, type ToConfirm } from '../../parts/index.js';
import { askApi, useMay } from '../../wire/index.js';
import { words } from '../../words/index.js';
import type { ListedPerson } from './people.js';
import { KeyForm, LimitsForm, LoginForm, RolesForm } from './person-forms.js';
import { TokensSection } from './tokens.js';

interface PersonDrawerProps {
  readonly person: ListedPerson;
  /** Identity providers that are known. */
  readonly issuers: readonly string[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

type Form = 'roles' | 'limits' | 'login' | 'key';
const FORMS = { roles: RolesForm, limits: LimitsForm, login: LoginForm, key: KeyForm } as const;

/** Everything about somebody: what he may do, and how he comes in. */
export function PersonDrawer({ person, issuers, onDone, onClose }: PersonDrawerProps): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const [form, setForm] = useState<Form>();
  const { actor, roles, namespace, limits, addedAt, revokedAt } = person;
  const isRevoked = revokedAt !== undefined;
  const OpenForm = form === undefined ? undefined : FORMS[form];
  const revoke: ToConfirm = {
    title: words.people.revokeTitle(actor.id),
    about: words.people.revokeAbout,
    action: words.people.revoke,
    danger: true,
    text: { label: words.action.reason, required: true },
    act: async (reason) => {
      await askApi('POST /v1/people/{actorId}/revoke', { path: { actorId: actor.id }, body: { reason } });
      onDone();
    },
  };
  return (
    <Dialog side open title={actor.id} onClose={onClose}>
      <div className="drawer">
        <div className="row wrap">
          <span className="tag">{words.people.kind[actor.kind]}</span>
          {isRevoked ? <span className="tag">{words.people.isRevoked}</span> : null}
          {may('registry.people-role') && !isRevoked ? (
            <button type="button" className="button small" onClick={() => setForm('roles')}>
              {words.people.change}
            </button>
          ) : null}
          {may('registry.people-limits') && !isRevoked && actor.kind === 'external' ? (
            <button type="button" className="button small" onClick={() => setForm('limits')}>
              {words.people.giveLimits}
            </button>
          ) : null}
          {may('registry.people-revoke') && !isRevoked ? (
            <button type="button" className="button small danger" onClick={() => setAsked(revoke)}>
              {words.people.revoke}
            </button>
          ) : null}
        </div>
        <Facts
          of={[
            [words.people.roles, roles.join(', ') || words.people.noRoles],
            [words.people.namespace, <Foreign text={namespace} />],
            [words.people.limits, limits === undefined ? null : words.people.given(limits)],
            [words.people.since, dateTimeText(addedAt)],
            [words.people.revoked, revokedAt === undefined ? null : dateTimeText(revokedAt)],
          ]}
        />
        <Logins person={person} onAsk={setAsked} onDone={onDone} onBind={() => setForm('login')} />
        <Keys person={person} onAsk={setAsked} onDone={onDone} onBind={() => setForm('key')} />
        {may('registry.tokens', actor.id) ? (
          <TokensSection actorId={actor.id} roles={roles} title={words.people.tokens} isRevoked={isRevoked} />
        ) : null}
      </div>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
      {OpenForm === undefined ? null : (
        <OpenForm person={person} issuers={issuers} onDone={onDone} onClose={() => setForm(undefined)} />
      )}
    </Dialog>
  );
}

interface WaysInProps {
  readonly person: ListedPerson;
  readonly onAsk: (asked: ToConfirm) => void;
  readonly onDone: () => void;
  readonly onBind: () => void;
}

function Logins({ person, onAsk, onDone, onBind }: WaysInProps): ReactElement {
  const { actor, logins, revokedAt } = person;
  const mayBind = useMay()('registry.people-login') && revokedAt === undefined;
  const unbind = (login: ListedPerson['logins'][number]): ToConfirm => ({
    title: words.people.unbindTitle(login.subject),
    about: words.people.unbindAbout,
    action: words.people.unbind,
    act: async () => {
      const body = { change: 'unbind', ...login } as const;
      await askApi('POST /v1/people/{actorId}/logins', { path: { actorId: actor.id }, body });
      onDone();
    },
  });
  return (
    <section aria-labelledby="logins">
      <div className="section-head">
        <h2 id="logins">{words.people.logins}</h2>
        {mayBind ? (
          <button type="button" className="button small" onClick={onBind}>
            {words.people.bind}
          </button>
        ) : null}
      </div>
      {logins.length === 0 ? <p className="faint">{words.people.noLogins}</p> : null}
      <ul className="ways">
        {logins.map((login) => (
          <li key={`${login.issuer} ${login.subject}`}>
            <span>
              <Foreign text={login.subject} />{' '}
              <span className="faint">
                <Foreign text={login.issuer} />
              </span>
            </span>
            {mayBind ? (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.people.unbindNamed(login.subject)}
                onClick={() => onAsk(unbind(login))}
              >
                {words.people.unbind}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Keys({ person, onAsk, onDone, onBind }: WaysInProps): ReactElement {
  const { actor, keys, revokedAt } = person;
  const mayBind = useMay()('registry.people-key') && revokedAt === undefined;
  const end = (key: string): ToConfirm => ({
    title: words.people.endKeyTitle,
    about: (
      <>
        <code className="block">{key}</code>
        {words.people.endKeyAbout}
      </>
    ),
    action: words.people.endKey,
    danger: true,
    text: { label: words.action.reason, required: true },
    act: async (reason) => {
      const body = { change: 'revoke', key, reason } as const;
      await askApi('POST /v1/people/{actorId}/keys', { path: { actorId: actor.id }, body });
      onDone();
    },
  });
  return (
    <section aria-labelledby="keys">
      <div className="section-head">
        <h2 id="keys">{words.people.keys}</h2>
        {mayBind ? (
          <button type="button" className="button small" onClick={onBind}>
            {words.people.addKey}
          </button>
        ) : null}
      </div>
      {keys.length === 0 ? <p className="faint">{words.people.noKeys}</p> : null}
      <ul className="ways">
        {keys.map(({ key, from, until }) => (
          <li key={key}>
            <span>
              <code>{key}</code>{' '}
              <span className="faint">
                {until === undefined
                  ? words.people.keySince(dateTimeText(from))
                  : words.people.keyUntil(dateTimeText(until))}
              </span>
            </span>
            {mayBind && until === undefined ? (
              <button
                type="button"
                className="button quiet small"
                aria-label={words.people.endKeyNamed(key)}
                onClick={() => onAsk(end(key))}
              >
                {words.people.endKey}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
