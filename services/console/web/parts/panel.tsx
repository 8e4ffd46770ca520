import { useLayoutEffect, useState, type ComponentType, type ReactElement, type ReactNode } from 'react';
import { sentenceOf, type Issue } from '#proto';
import { words } from '../words/index.js';
import { Foreign } from './text.js';

/** What is said where there is nothing to show. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }): ReactElement {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** While nothing has come yet: of the size of what comes, so that nothing jumps. */
export function Loading(): ReactElement {
  return (
    <p className="empty" role="status">
      {words.loading}
    </p>
  );
}

/** What is loaded when it is first shown. React's own waits 300 ms before it shows what came after something that stood in its place. */
export function late<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => ReactElement {
  let loaded: ComponentType<P> | undefined;
  return function Late(props) {
    const [isLoaded, setLoaded] = useState(loaded !== undefined);
    const [failed, setFailed] = useState<Error>();
    useLayoutEffect(() => {
      if (isLoaded) return;
      const loading = async (): Promise<void> => {
        loaded = await load();
        setLoaded(true);
      };
      loading().catch((error: unknown) => setFailed(error instanceof Error ? error : new Error(String(error))));
    }, [isLoaded]);
    if (failed !== undefined) throw failed;
    if (loaded === undefined) return <Loading />;
    const Loaded = loaded;
    return <Loaded {...props} />;
  };
}

export function Problem({ text }: { readonly text: string }): ReactElement {
  return (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}

/** What is wrong, field by field, as who decides says it. */
export function Issues({ of }: { readonly of: readonly Issue[] }): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <ul className="issues">
      {of.map(({ path, message }) => (
        <li key={`${path} ${message}`}>
          <code>{path}</code> <Foreign text={message} />
        </li>
      ))}
    </ul>
  );
}

/** A request that was refused: field by field where that is known, and nothing twice. */
export function Refused({
  message,
  issues,
}: {
  readonly message: string;
  readonly issues: readonly Issue[];
}): ReactElement {
  const isSaid = issues.some((issue) => sentenceOf(issue) === message);
  return (
    <div className="problem" role="alert">
      {isSaid ? null : <p>{message}</p>}
      <Issues of={issues} />
    </div>
  );
}

/** A name and what it is, one under the other. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }): ReactElement {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
