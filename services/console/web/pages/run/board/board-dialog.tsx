import { useRef, useState, type FormEvent, type ReactElement } from 'react';
import { ShownEntry } from '#proto';
import { asTyped, kindOfValue, valueTyped } from '../../../model/index.js';
import { Dialog, Problem } from '../../../parts/index.js';
import { ApiError, askApi, newKey } from '../../../wire/index.js';
import { words } from '../../../words/index.js';
import { EntryValue, WrittenBy } from './entry.js';

/** What somebody is about to do to the board; of an entry: as he sees it. */
export type BoardIntent =
  { readonly kind: 'write'; readonly entry?: ShownEntry } | { readonly kind: 'take'; readonly entry: ShownEntry };

interface BoardDialogProps {
  readonly runId: string;
  readonly intent: BoardIntent;
  readonly onClose: () => void;
}

/** Something else stands there than was seen. */
interface Found {
  readonly entry: ShownEntry | null;
}

/** Writes or takes off what is seen there, and nothing that somebody has written since: that is shown first. */
export function BoardDialog({ runId, intent, onClose }: BoardDialogProps): ReactElement {
  const { kind, entry } = intent;
  const [name, setName] = useState(entry?.name ?? '');
  const [typed, setTyped] = useState(entry === undefined ? '' : asTyped(entry.value));
  const [isText, setIsText] = useState(false);
  const [seen, setSeen] = useState(entry?.revision ?? 0);
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  /** Other words are another intent. */
  const changed = (set: () => void): void => {
    key.current = newKey();
    set();
  };
  const value = valueTyped(typed, isText);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    const said = { path: { id: runId, name }, key: key.current };
    const answer =
      kind === 'take'
        ? askApi('POST /v1/runs/{id}/board/{name}/delete', { ...said, body: { name, revision: seen } })
        : askApi('POST /v1/runs/{id}/board/{name}', { ...said, body: { name, value, revision: seen } });
    answer.then(onClose, async (error: unknown) => {
      setProblem(error instanceof Error ? error.message : String(error));
      if (error instanceof ApiError && error.refusal?.code === 'CONFLICT') {
        const now = await whatStandsThere(runId, name).catch(() => undefined);
        if (now !== undefined) {
          setFound(now);
          changed(() => setSeen(now.entry?.revision ?? 0));
        }
      }
      setBusy(false);
    });
  };
  return (
    <Dialog {...titleOf(intent)} open onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        {kind === 'take' ? null : (
          <>
            <label className="field">
              <span>{words.board.name}</span>
              <input
                required
                readOnly={entry !== undefined}
                value={name}
                pattern="[A-Za-z][A-Za-z0-9_]{0,63}"
                title={words.board.nameHint}
                placeholder={words.board.nameHint}
                onChange={({ target }) => changed(() => setName(target.value))}
              />
            </label>
            <label className="field">
              <span>{words.board.value}</span>
              <textarea
                className="code"
                required
                rows={6}
                spellCheck={false}
                placeholder={words.board.valueHint}
                value={typed}
                onChange={({ target }) => changed(() => setTyped(target.value))}
              />
            </label>
            <label className="check">
              <input
                type="checkbox"
                checked={isText}
                onChange={({ target }) => changed(() => setIsText(target.checked))}
              />
              <span>{words.board.asText}</span>
              <span className="faint">{typed === '' ? '' : words.board.willBe[kindOfValue(value)]}</span>
            </label>
          </>
        )}
        {problem === undefined ? null : <Problem text={problem} />}
        {found === undefined ? null : <StandsThere found={found} />}
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {words.keep}
          </button>
          <button type="submit" className={kind === 'take' ? 'button danger' : 'button primary'} disabled={busy}>
            {kind === 'take'
              ? found === undefined
                ? words.board.takeIt
                : words.board.takeStill
              : (found?.entry ?? null) === null
                ? words.board.put
                : words.board.putOver}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function StandsThere({ found: { entry } }: { readonly found: Found }): ReactElement {
  if (entry === null) return <p className="note">{words.board.nowNothing}</p>;
  return (
    <section className="note stack">
      <p>
        <strong>{words.board.now}</strong> <WrittenBy entry={entry} />
      </p>
      <EntryValue entry={entry} />
    </section>
  );
}

function titleOf(intent: BoardIntent): { readonly title: string; readonly about: string } {
  if (intent.kind === 'take') return { title: words.board.takeTitle(intent.entry.name), about: words.board.takeAbout };
  const title = intent.entry === undefined ? words.board.writeTitle : words.board.changeTitle(intent.entry.name);
  return { title, about: words.board.writeAbout };
}

/** As the log has it. Throws where nobody can say. */
async function whatStandsThere(runId: string, name: string): Promise<Found> {
  try {
    const answer = await askApi('GET /v1/runs/{id}/board/{name}', { path: { id: runId, name } });
    return { entry: ShownEntry.parse(answer) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { entry: null };
    throw error;
  }
}
