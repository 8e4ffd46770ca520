import { useId, type ReactElement } from 'react';
import { Known } from './fields.js';
import { Icon } from './icon.js';

interface WordsFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What is known: offered while one types. */
  readonly known?: readonly string[];
}

/** Words that narrow what is shown. */
export function WordsField({ label, value, onChange, known = [] }: WordsFieldProps): ReactElement {
  const list = useId();
  return (
    <label className="search">
      <Icon name="search" />
      <span className="unseen">{label}</span>
      <input
        type="search"
        value={value}
        placeholder={label}
        list={known.length === 0 ? undefined : list}
        onChange={({ target }) => onChange(target.value)}
      />
      <Known id={list} of={known} />
    </label>
  );
}
