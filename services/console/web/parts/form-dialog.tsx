import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react';
import { words } from '../words/index.js';
import { Dialog } from './dialog.js';
import { Problem } from './panel.js';

interface FormDialogProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly action: string;
  readonly onClose: () => void;
  /** Throws with the sentence to be shown; whoever is done closes the dialog. */
  readonly submit: () => Promise<void>;
  readonly children: ReactNode;
}

/** Fields that are said together; what refuses them says so here. */
export function FormDialog({ title, about, action, onClose, submit, children }: FormDialogProps): ReactElement {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const hear = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    submit()
      .catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} about={about} open onClose={onClose}>
      <form className="stack" onSubmit={hear}>
        {children}
        {problem === undefined ? null : <Problem text={problem} />}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {words.keep}
          </button>
          <button type="submit" className="button primary" disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly required?: boolean;
  readonly type?: 'text' | 'number';
  readonly onChange: (value: string) => void;
}

export function TextField({ label, value, required = false, type = 'text', onChange }: TextFieldProps): ReactElement {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type={type}
        value={value}
        required={required}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
