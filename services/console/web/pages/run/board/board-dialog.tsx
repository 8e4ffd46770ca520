import { useState, type ReactElement } from 'react';
import { ShownEntry } from '#proto';
import { asTyped, kindOfValue, valueTyped } from '../../../model/index.js';
import { AreaField, CheckField, DialogOfForm, TextField, useForm } from '../../../parts/index.js';
import { ApiError, askApi } from '../../../wire/index.js';
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
  const value = valueTyped(typed, isText);
  const form = useForm(async (key) => {
    const said = { path: { id: runId, name }, key };
    try {
      if (kind === 'take')
        await askApi('POST /v1/runs/{id}/board/{name}/delete', { ...said, body: { name, revision: seen } });
      else await askApi('POST /v1/runs/{id}/board/{name}', { ...said, body: { name, value, revision: seen } });
      onClose();
    } catch (error) {
      if (error instanceof ApiError && error.refusal?.code === 'CONFLICT') {
        const now = await whatStandsThere(runId, name).catch(() => undefined);
        if (now !== undefined) {
          setFound(now);
          form.changed(() => setSeen(now.entry?.revision ?? 0));
        }
      }
      throw error;
    }
  });
  return (
    <DialogOfForm
      {...titleOf(intent)}
      action={actionOf(kind, found)}
      danger={kind === 'take'}
      form={form}
      onClose={onClose}
    >
      {kind === 'take' ? null : (
        <>
          <TextField
            label={words.board.name}
            required
            readOnly={entry !== undefined}
            value={name}
            pattern="[A-Za-z][A-Za-z0-9_]{0,63}"
            title={words.board.nameHint}
            placeholder={words.board.nameHint}
            onChange={(text) => form.changed(() => setName(text))}
          />
          <AreaField
            label={words.board.value}
            code
            required
            rows={6}
            placeholder={words.board.valueHint}
            value={typed}
            onChange={(text) => form.changed(() => setTyped(text))}
          />
          <CheckField
            label={words.board.asText}
            checked={isText}
            onChange={(checked) => form.changed(() => setIsText(checked))}
            note={<span className="faint">{typed === '' ? '' : words.board.willBe[kindOfValue(value)]}</span>}
          />
        </>
      )}
      {found === undefined ? null : <StandsThere found={found} />}
    </DialogOfForm>
  );
}

function actionOf(kind: BoardIntent['kind'], found: Found | undefined): string {
  if (kind === 'take') return found === undefined ? words.board.takeIt : words.board.takeStill;
  return (found?.entry ?? null) === null ? words.board.put : words.board.putOver;
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
