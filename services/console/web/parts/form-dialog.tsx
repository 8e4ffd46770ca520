import { useState, type ReactElement, type ReactNode } from 'react';
import { words } from '../words/index.js';
import { Dialog } from './dialog.js';
import { AreaField } from './fields.js';
import { Problem } from './panel.js';
import { useForm, type FormState } from './use-form.js';

interface FormDialogProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly action: string;
  readonly danger?: boolean;
  readonly onClose: () => void;
  /** Throws with the sentence to be shown; whoever is done closes the dialog. */
  readonly submit: () => Promise<unknown>;
  readonly children?: ReactNode;
}

/** Fields that are said together; what refuses them says so here. */
export function FormDialog({ submit, ...rest }: FormDialogProps): ReactElement {
  return <DialogOfForm {...rest} form={useForm(submit)} />;
}

/** The same of a form that its page has. */
export function DialogOfForm(props: Omit<FormDialogProps, 'submit'> & { readonly form: FormState }): ReactElement {
  const { title, about, action, danger = false, onClose, form, children } = props;
  return (
    <Dialog title={title} about={about} open onClose={onClose}>
      <form className="stack" onSubmit={form.submit}>
        {children}
        {form.problem === undefined ? null : <Problem text={form.problem} />}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {words.keep}
          </button>
          <button type="submit" className={danger ? 'button danger' : 'button primary'} disabled={form.busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export interface ToConfirm {
  readonly title: string;
  readonly about: ReactNode;
  readonly action: string;
  readonly danger?: boolean;
  /** A text that goes with it. */
  readonly text?: {
    readonly label: string;
    readonly required?: boolean;
    readonly initial?: string;
    readonly lines?: number;
    /** What the text comes to, below it. */
    readonly preview?: (said: string) => ReactNode;
  };
  /** Throws with the sentence to be shown. */
  readonly act: (text: string) => Promise<void>;
}

interface ConfirmProps {
  readonly of: ToConfirm;
  readonly onClose: () => void;
}

/** Asks once more before something is done. */
export function Confirm({ of: { text, act, ...rest }, onClose }: ConfirmProps): ReactElement {
  const [said, setSaid] = useState(text?.initial ?? '');
  return (
    <FormDialog {...rest} onClose={onClose} submit={async () => act(said.trim()).then(onClose)}>
      {text === undefined ? null : (
        <AreaField
          label={text.label}
          rows={text.lines ?? 2}
          value={said}
          required={text.required === true}
          onChange={setSaid}
        />
      )}
      {text?.preview?.(said.trim())}
    </FormDialog>
  );
}
