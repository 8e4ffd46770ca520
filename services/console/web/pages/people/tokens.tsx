import { useState, type ReactElement } from 'react';
import { Role, TokensAnswer } from '#proto';
import { Ago, Confirm, dateTimeText, Empty, Foreign, Loading, Problem, type ToConfirm } from '../../parts/index.js';
import { askApi, useAsked, useMay, useMe } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { IssueDialog } from './issue-dialog.js';
import type { KnownToken } from './people.js';

interface TokensSectionProps {
  /** Whose they are. */
  readonly actorId: string;
  /** The roles of the owner; a token gives no more. */
  readonly roles: readonly Role[];
  readonly title: string;
  readonly isRevoked: boolean;
}

/** The tokens of one, and how one more is made or one ends. */
export function TokensSection({ actorId, roles, title, isRevoked }: TokensSectionProps): ReactElement {
  const may = useMay();
  const [asked, setAsked] = useState<ToConfirm>();
  const [issuing, setIssuing] = useState(false);
  const { value, problem, again } = useAsked(`/v1/tokens?actorId=${encodeURIComponent(actorId)}`, (json) =>
    TokensAnswer.parse(json),
  );
  const end = ({ tokenId }: KnownToken): ToConfirm => ({
    title: words.people.endTitle,
    about: words.people.endAbout,
    action: words.people.end,
    danger: true,
    act: async () => {
      await askApi('POST /v1/tokens/{tokenId}/revoke', { path: { tokenId } });
      again();
    },
  });
  return (
    <section aria-labelledby="tokens">
      <div className="section-head">
        <h2 id="tokens">{title}</h2>
        {may('registry.token-issue') && !isRevoked ? (
          <button type="button" className="button small" onClick={() => setIssuing(true)}>
            {words.people.issue}
          </button>
        ) : null}
      </div>
      {problem === undefined ? null : <Problem text={problem} />}
      {value === undefined && problem === undefined ? <Loading /> : null}
      {value !== undefined && value.tokens.length === 0 ? (
        <Empty title={words.people.noTokens}>
          <p>{words.people.tokensAbout}</p>
        </Empty>
      ) : null}
      <ul className="cards">
        {(value?.tokens ?? []).map((token) => (
          <TokenCard
            key={token.tokenId}
            token={token}
            onEnd={
              token.revokedAt === null && may('registry.token-revoke', token.actorId)
                ? () => setAsked(end(token))
                : undefined
            }
          />
        ))}
      </ul>
      {asked === undefined ? null : <Confirm of={asked} onClose={() => setAsked(undefined)} />}
      {issuing ? (
        <IssueDialog actorId={actorId} roles={roles} onIssued={again} onClose={() => setIssuing(false)} />
      ) : null}
    </section>
  );
}

interface TokenCardProps {
  readonly token: KnownToken;
  readonly onEnd: (() => void) | undefined;
}

function TokenCard({ token, onEnd }: TokenCardProps): ReactElement {
  const { tokenId, label, scopes, expiresAt, revokedAt, lastUsedAt } = token;
  const name = label === '' ? tokenId : label;
  return (
    <li className="card token">
      <p className="card-head">
        <strong>
          <Foreign text={name} />
        </strong>
        {revokedAt === null ? null : <span className="tag">{words.people.isRevoked}</span>}
        <code>{tokenId}</code>
        {onEnd === undefined ? null : (
          <button type="button" className="button quiet small" aria-label={words.people.endNamed(name)} onClick={onEnd}>
            {words.people.end}
          </button>
        )}
      </p>
      <p className="faint">
        {words.people.scopes}: {scopes.length === Role.options.length ? words.people.all : scopes.join(', ')} ·{' '}
        {words.people.expires}: {expiresAt === null ? words.people.never : dateTimeText(expiresAt)} ·{' '}
        {words.people.used}: {lastUsedAt === null ? words.people.notUsed : <Ago at={lastUsedAt} />}
      </p>
    </li>
  );
}

/** Of who looks. */
export function OwnTokens(): ReactElement | null {
  const me = useMe();
  if (me === undefined) return null;
  return <TokensSection actorId={me.actor.id} roles={me.roles} title={words.people.ownTokens} isRevoked={false} />;
}
