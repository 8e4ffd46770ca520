import { useId, type InputHTMLAttributes, type ReactElement, type ReactNode, type TextareaHTMLAttributes } from 'react';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly small?: boolean;
  /** What is said below it. */
  readonly note?: ReactNode;
}
type Native<T> = Omit<T, keyof FieldProps | 'className'>;

interface TextProps extends FieldProps, Native<InputHTMLAttributes<HTMLInputElement>> {
  /** What is known: offered while one types; something else may be said all the same. */
  readonly known?: readonly string[];
}

/** One line of text. */
export function TextField({ label, onChange, small = false, note, known = [], ...rest }: TextProps): ReactElement {
  const list = useId();
  return (
    <label className={small ? 'field small' : 'field'}>
      <span>{label}</span>
      <input
        autoComplete="off"
        spellCheck={false}
        list={known.length === 0 ? undefined : list}
        {...rest}
        onChange={({ target }) => onChange(target.value)}
      />
      <Known id={list} of={known} />
      {note}
    </label>
  );
}

/** What a field offers while one types. */
export function Known({ id, of }: { readonly id: string; readonly of: readonly string[] }): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <datalist id={id}>
      {of.map((one) => (
        <option key={one} value={one} />
      ))}
    </datalist>
  );
}

interface AreaProps extends FieldProps, Native<TextareaHTMLAttributes<HTMLTextAreaElement>> {
  /** Not words, but what a machine reads. */
  readonly code?: boolean;
}

/** Lines of text. */
export function AreaField({ label, onChange, small = false, note, code = false, ...rest }: AreaProps): ReactElement {
  return (
    <label className={small ? 'field small' : 'field'}>
      <span>{label}</span>
      <textarea
        {...(code && { className: 'code', spellCheck: false })}
        {...rest}
        onChange={({ target }) => onChange(target.value)}
      />
      {note}
    </label>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly note?: ReactNode;
}

export function CheckField({ label, checked, onChange, note }: CheckProps): ReactElement {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      <span>{label}</span>
      {note}
    </label>
  );
}
