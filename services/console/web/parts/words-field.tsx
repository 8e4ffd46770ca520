import type { ReactElement } from 'react';
import { Icon } from './icon.js';

interface WordsFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Words that narrow what is shown. */
export function WordsField({ label, value, onChange }: WordsFieldProps): ReactElement {
  return (
    <label className="search">
      <Icon name="search" />
      <span className="unseen">{label}</span>
      <input type="search" value={value} placeholder={label} onChange={({ target }) => onChange(target.value)} />
    </label>
  );
}
