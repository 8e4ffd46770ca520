import type { ReactElement } from 'react';
import { Role } from '#proto';

interface RolesFieldProps {
  readonly label: string;
  readonly chosen: readonly Role[];
  readonly onChange: (roles: readonly Role[]) => void;
  /** Those that can be chosen. */
  readonly among?: readonly Role[];
}

/** Some of the roles. */
export function RolesField({ label, chosen, onChange, among = Role.options }: RolesFieldProps): ReactElement {
  return (
    <fieldset className="roles">
      <legend className="faint">{label}</legend>
      {among.map((role) => (
        <label key={role} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(role)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, role] : chosen.filter((one) => one !== role))
            }
          />
          <span>{role}</span>
        </label>
      ))}
    </fieldset>
  );
}
