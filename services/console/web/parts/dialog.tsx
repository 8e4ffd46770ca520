import * as Primitive from '@radix-ui/react-dialog';
import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react';
import { words } from '../words/index.js';
import { Icon } from './icon.js';

interface DialogProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** At the side, over the whole height. */
  readonly side?: boolean;
}

export function Dialog({ title, about, open, onClose, children, side = false }: DialogProps): ReactElement {
  return (
    <Primitive.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Primitive.Portal>
        <Primitive.Overlay className={side ? 'overlay light' : 'overlay'} />
        <Primitive.Content
          className={side ? 'dialog side' : 'dialog'}
          {...(about === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="dialog-head">
            <Primitive.Title className="dialog-title">{title}</Primitive.Title>
            <Primitive.Close className="button quiet" aria-label={words.close}>
              <Icon name="close" />
            </Primitive.Close>
          </header>
          {about === undefined ? null : (
            <Primitive.Description asChild>
              <div className="dialog-about">{about}</div>
            </Primitive.Description>
          )}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
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

/** Asks once more before something is done; what refuses it says so here. */
export function Confirm({
  of: { title, about, action, danger = false, text, act },
  onClose,
}: {
  readonly of: ToConfirm;
  readonly onClose: () => void;
}): ReactElement {
  const [said, setSaid] = useState(text?.initial ?? '');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    act(said.trim()).then(onClose, (error: unknown) => {
      setBusy(false);
      setProblem(error instanceof Error ? error.message : String(error));
    });
  };
  return (
    <Dialog title={title} about={about} open onClose={onClose}>
      <form onSubmit={submit} className="stack">
        {text === undefined ? null : (
          <label className="field">
            <span>{text.label}</span>
            <textarea
              rows={text.lines ?? 2}
              value={said}
              required={text.required === true}
              onChange={({ target }) => setSaid(target.value)}
            />
          </label>
        )}
        {text?.preview?.(said.trim())}
        {problem === undefined ? null : (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {words.keep}
          </button>
          <button type="submit" className={danger ? 'button danger' : 'button primary'} disabled={busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
