import { useState, type ReactElement } from 'react';
import { AreaField, dateTimeText, Dialog, Foreign, FormDialog, Icon, TextField } from '../../parts/index.js';
import type { ApiSchemas } from '../../api/index.js';
import { askApi } from '../../wire/index.js';
import { words } from '../../words/index.js';

type Enrolment = ApiSchemas['PastedEnrolment'];

interface EnrollDialogProps {
  /** Where devices reach the gateway, as somebody has said; null: nobody has. */
  readonly url: string | null;
  readonly onClose: () => void;
}

const FIELDS = ['id', 'tags', 'capabilities', 'url'] as const;
const MORE = ['dir', 'agent', 'ca'] as const;
type Field = (typeof FIELDS)[number] | (typeof MORE)[number];

const LABELS: Readonly<Record<Field, string>> = {
  id: words.fleet.enrollId,
  tags: words.fleet.enrollTags,
  capabilities: words.fleet.enrollCapabilities,
  url: words.fleet.enrollUrl,
  dir: words.fleet.enrollDir,
  agent: words.fleet.enrollAgent,
  ca: words.fleet.enrollCa,
};

/** Enrols a machine, and shows what to paste there: once. */
export function EnrollDialog({ url, onClose }: EnrollDialogProps): ReactElement {
  const [typed, setTyped] = useState<Partial<Record<Field, string>>>({ url: url ?? '' });
  const [enrolled, setEnrolled] = useState<Enrolment>();
  if (enrolled !== undefined) return <Enrolled of={enrolled} onClose={onClose} />;
  const field = (name: Field): ReactElement => {
    const said = {
      label: LABELS[name],
      value: typed[name] ?? '',
      onChange: (text: string) => setTyped({ ...typed, [name]: text }),
    };
    if (name === 'ca') return <AreaField key={name} {...said} code rows={3} />;
    const isUrl = name === 'url';
    const note = isUrl && url === null ? <span className="faint">{words.fleet.enrollUrlUnsaid}</span> : null;
    const example = isUrl ? words.fleet.enrollUrlExample : undefined;
    return <TextField key={name} {...said} required={isUrl} placeholder={example} note={note} />;
  };
  return (
    <FormDialog
      title={words.fleet.enroll}
      about={words.fleet.enrollAbout}
      action={words.fleet.enroll}
      onClose={onClose}
      submit={async () => setEnrolled(await askApi('POST /v1/enrolments', { body: bodyOf(typed) }))}
    >
      {FIELDS.map(field)}
      <details>
        <summary>{words.fleet.enrollMore}</summary>
        <div className="stack">{MORE.map(field)}</div>
      </details>
    </FormDialog>
  );
}

function bodyOf(typed: Partial<Record<Field, string>>): ApiSchemas['EnrolmentWord'] {
  const said = (name: Field): string => (typed[name] ?? '').trim();
  const list = (name: Field): string[] =>
    said(name)
      .split(',')
      .flatMap((word) => word.trim() || []);
  const [tags, capabilities] = [list('tags'), list('capabilities')];
  return {
    ...(said('id') !== '' && { deviceId: said('id') }),
    // What is not given again stays as it was.
    ...(tags.length + capabilities.length > 0 && { admin: { tags, capabilities } }),
    ...(said('agent') !== '' && { manifest: { agent: said('agent') } }),
    ...(said('url') !== '' && { url: said('url') }),
    ...(said('dir') !== '' && { dir: said('dir') }),
    ...(said('ca') !== '' && { ca: `${said('ca')}\n` }),
  };
}

interface EnrolledProps {
  readonly of: Enrolment;
  readonly onClose: () => void;
}

function Enrolled({ of, onClose }: EnrolledProps): ReactElement {
  const { deviceId, block, command, expiresAt, isOpen } = of;
  const [copied, setCopied] = useState(false);
  const lines = block ?? command;
  return (
    <Dialog
      open
      title={words.fleet.enrolledAs(deviceId)}
      about={block === null ? words.fleet.run : words.fleet.paste}
      onClose={onClose}
    >
      <div className="stack">
        <pre className="foreign" tabIndex={0} role="group" aria-label={words.fleet.enrolledAs(deviceId)}>
          <Foreign text={lines} />
        </pre>
        {expiresAt === undefined ? null : <p>{words.fleet.until(dateTimeText(expiresAt))}</p>}
        {isOpen ? <p className="note">{words.fleet.open}</p> : null}
        <div className="row end">
          <button
            type="button"
            className="button primary"
            onClick={() => void navigator.clipboard.writeText(lines).then(() => setCopied(true))}
          >
            <Icon name="copy" />
            {copied ? words.fleet.copied : words.fleet.copy}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {words.fleet.done}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
