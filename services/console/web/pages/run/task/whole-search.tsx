import { useEffect, useState, type ReactElement } from 'react';
import { Foreign, Problem } from '../../../parts/index.js';
import { getLines, type FirstLines } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

const LINES_MAX = 200;
/** What the server takes. */
const WORDS_CHARS_MAX = 250;

interface WholeSearchProps {
  /** Of what is kept of an output, as lines. */
  readonly address: string;
  readonly wanted: string;
}

/** Looks through all that is kept of an output, where it is kept: a terminal has the last rows only. */
export function WholeSearch({ address, wanted }: WholeSearchProps): ReactElement | null {
  /** Another object each time that somebody asks. */
  const [asked, setAsked] = useState<{ readonly text: string }>();
  const [found, setFound] = useState<FirstLines | { readonly problem: string }>();
  useEffect(() => {
    if (asked === undefined) return undefined;
    const stopped = new AbortController();
    const path = `${address}&grep=${encodeURIComponent(asked.text)}&fixed=true&ignoreCase=true`;
    getLines(path, LINES_MAX, stopped.signal).then(setFound, (error: unknown) => {
      if (!stopped.signal.aborted) setFound({ problem: error instanceof Error ? error.message : String(error) });
    });
    return () => stopped.abort();
  }, [address, asked]);
  const text = wanted.trim().slice(0, WORDS_CHARS_MAX);
  const search = (): void => {
    setFound(undefined);
    setAsked({ text });
  };
  return (
    <>
      <button type="button" className="button small" disabled={text === ''} onClick={search}>
        {words.output.whole}
      </button>
      <div className="whole-found" role="status">
        {asked !== undefined && found === undefined ? words.output.looking : null}
        {found === undefined ? null : <Found of={found} />}
      </div>
    </>
  );
}

function Found({ of }: { readonly of: FirstLines | { readonly problem: string } }): ReactElement {
  if ('problem' in of) return <Problem text={of.problem} />;
  if (of.lines.length === 0) return <>{words.output.wholeNone}</>;
  return (
    <>
      {of.isMore ? <p className="faint">{words.output.wholeFirst(of.lines.length)}</p> : null}
      <pre className="foreign" tabIndex={0} role="group" aria-label={words.output.wholeFound}>
        <Foreign text={of.lines.join('\n')} />
      </pre>
    </>
  );
}
