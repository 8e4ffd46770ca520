import type { Issue, RunbookParameter } from '#proto';

/** What stands in the fields of a runbook's form, by the name of the parameter. */
export type TypedParameters = Readonly<Record<string, string>>;

/** As the form is before anybody has typed: with the defaults. */
export function typedAtFirst(parameters: readonly RunbookParameter[]): TypedParameters {
  return Object.fromEntries(
    parameters.map(({ name, default: value }) => [name, value === undefined ? '' : String(value)]),
  );
}

/**
 * What is said with a form as it stands: types are made by who checks them. A field that is empty says nothing, but for a text that
 * would have another one by default.
 */
export function saidIn(
  parameters: readonly RunbookParameter[],
  typed: TypedParameters,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    parameters.flatMap(({ name, type, default: value }) => {
      const text = typed[name] ?? '';
      const isSaid = text !== '' || (type === 'string' && value !== undefined && value !== '');
      return isSaid ? [[name, text] as const] : [];
    }),
  );
}

/** The goal that means this runbook with these parameters, as a person would type it. */
export function goalOfRunbook(name: string, said: Readonly<Record<string, string>>): string {
  const words = Object.entries(said).map(([key, value]) => `${key}=${quoted(value)}`);
  return [name, ...words].join(' ');
}

const quoted = (text: string): string =>
  /^[\w./:@,+-]+$/u.test(text) ? text : `"${text.replaceAll(/["\\]/gu, '\\$&')}"`;

/** What is wrong, each where it belongs: at a parameter, or at none of them. */
export function issuesByParameter(
  parameters: readonly RunbookParameter[],
  issues: readonly Issue[],
): { readonly at: ReadonlyMap<string, readonly Issue[]>; readonly others: readonly Issue[] } {
  const nameOf = ({ path }: Issue): string | undefined =>
    parameters.find(({ name }) => path === `parameters.${name}` || path === name)?.name;
  const at = new Map<string, readonly Issue[]>();
  for (const issue of issues) {
    const name = nameOf(issue);
    if (name !== undefined) at.set(name, [...(at.get(name) ?? []), issue]);
  }
  return { at, others: issues.filter((issue) => nameOf(issue) === undefined) };
}

/** `team=db ticket=OPS-1`, also with commas between them; what is no label is said as it is, for who checks it. */
export function labelsTyped(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(/[\s,]+/u).filter((word) => word !== '');
  return Object.fromEntries(
    pairs.map((word) => {
      const at = word.indexOf('=');
      return at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}
