import { useId, type ReactElement } from 'react';
import type { Issue, RunbookParameter } from '#proto';
import { Foreign } from '../../parts/index.js';
import { words } from '../../words/index.js';

interface ParameterFieldProps {
  readonly parameter: RunbookParameter;
  readonly value: string;
  readonly issues: readonly Issue[];
  /** Ids of the fleet, to choose from. */
  readonly devices: readonly string[];
  readonly onChange: (value: string) => void;
}

/** One parameter of a runbook: of its type, with what is wrong with it as the planner says it. */
export function ParameterField({ parameter, value, issues, devices, onChange }: ParameterFieldProps): ReactElement {
  const id = useId();
  const { name, description, required } = parameter;
  const isWrong = issues.length > 0;
  return (
    <div className="field parameter">
      <label htmlFor={id}>
        <code>{name}</code> {required ? <span className="tag">{words.runbooks.needed}</span> : null}
      </label>
      <Input
        parameter={parameter}
        devices={devices}
        common={{
          id,
          value,
          'aria-describedby': `${id}-about ${id}-wrong`,
          'aria-invalid': isWrong,
          'aria-required': required,
          onChange: ({ target }) => onChange(target.value),
        }}
      />
      <p id={`${id}-about`} className="faint">
        <Foreign text={description} /> (
        {parameter.enum === undefined ? words.runbooks.wants(parameter) : parameter.enum.join(', ')})
      </p>
      <div id={`${id}-wrong`} aria-live="polite">
        {issues.map(({ message }) => (
          <p key={message} className="wrong">
            <Foreign text={message} />
          </p>
        ))}
      </div>
    </div>
  );
}

interface Common {
  readonly id: string;
  readonly value: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-required': boolean;
  readonly onChange: (event: { readonly target: { readonly value: string } }) => void;
}

interface InputProps {
  readonly parameter: RunbookParameter;
  readonly devices: readonly string[];
  readonly common: Common;
}

function Input({ parameter, devices, common }: InputProps): ReactElement {
  const { type, enum: among, pattern } = parameter;
  if (type === 'boolean' || among !== undefined) {
    const options = among ?? ['true', 'false'];
    return (
      <select {...common}>
        {options.includes(common.value) ? null : <option value={common.value}>{words.runbooks.unsaid}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {type === 'boolean' ? (option === 'true' ? words.runbooks.yes : words.runbooks.no) : option}
          </option>
        ))}
      </select>
    );
  }
  if (type === 'device') {
    return (
      <>
        <input {...common} list={`${common.id}-devices`} autoComplete="off" spellCheck={false} />
        <datalist id={`${common.id}-devices`}>
          {devices.map((device) => (
            <option key={device} value={device} />
          ))}
        </datalist>
      </>
    );
  }
  if (type === 'string' && pattern === undefined) return <textarea {...common} rows={2} spellCheck={false} />;
  return <input {...common} inputMode={type === 'string' ? 'text' : 'decimal'} autoComplete="off" spellCheck={false} />;
}
