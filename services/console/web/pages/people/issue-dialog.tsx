import { useState, type ReactElement } from 'react';
import { Role } from '#proto';
import { Dialog, Foreign, FormDialog, Icon, TextField } from '../../parts/index.js';
import { askApi, useNow } from '../../wire/index.js';
import { words } from '../../words/index.js';
import { madeToken } from './new-token.adapter.js';
import { endOfDays } from './people.js';
import { RolesField } from './roles.js';

interface IssueDialogProps {
  readonly actorId: string;
  /** Of the owner. */
  readonly roles: readonly Role[];
  readonly onIssued: () => void;
  readonly onClose: () => void;
}

const DAYS = '90';

/** Makes a token, and shows its secret once. */
export function IssueDialog({ actorId, roles, onIssued, onClose }: IssueDialogProps): ReactElement {
  const now = useNow();
  const [label, setLabel] = useState('');
  const [days, setDays] = useState(DAYS);
  const [scopes, setScopes] = useState<readonly Role[]>(roles);
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <Issued secret={secret} onClose={onClose} />;
  const submit = async (): Promise<void> => {
    const { tokenId, tokenHash, secret: made } = await madeToken();
    const body = {
      tokenId,
      tokenHash,
      label: label.trim(),
      scopes: Role.options.filter((role) => scopes.includes(role)),
      expiresAt: endOfDays(days, now),
    };
    await askApi('POST /v1/people/{actorId}/tokens', { path: { actorId }, body });
    setSecret(made);
    onIssued();
  };
  return (
    <FormDialog
      title={words.people.issueTitle(actorId)}
      about={words.people.issueAbout}
      action={words.people.issueAction}
      onClose={onClose}
      submit={submit}
    >
      <TextField label={words.people.issueLabel} value={label} onChange={setLabel} required />
      <TextField label={words.people.issueDays} value={days} onChange={setDays} type="number" />
      <RolesField label={words.people.issueScopes} chosen={scopes} onChange={setScopes} among={roles} />
    </FormDialog>
  );
}

function Issued({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactElement {
  const [copied, setCopied] = useState(false);
  return (
    <Dialog open title={words.people.issued} about={words.people.issuedAbout} onClose={onClose}>
      <div className="stack">
        <code className="block">
          <Foreign text={secret} />
        </code>
        <div className="row end">
          <button
            type="button"
            className="button primary"
            onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}
          >
            <Icon name="copy" />
            {copied ? words.people.copied : words.people.copy}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {words.people.done}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
