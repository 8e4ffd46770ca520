import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { OutputMessage, type OutputCursor } from '#proto';
import { defineAdoptedStyle } from '../../../parts/index.js';
import { Icon } from '../../../parts/index.js';
import { live } from '../../../wire/index.js';
import { words } from '../../../words/index.js';
import { TerminalFeed } from './terminal-feed.js';
import { WholeSearch } from './whole-search.js';

defineAdoptedStyle();

interface OutputProps {
  readonly runId: string;
  readonly taskId: string;
  readonly attempt: number;
}

const ROWS_KEPT = 20_000;
const THEME = {
  background: '#0a0f1f',
  foreground: '#d7def5',
  cursor: '#0a0f1f',
  selectionBackground: '#3a4a7f',
} as const;

/**
 * What the commands of an attempt write, as a terminal shows it. Offsets count bytes: after a reconnect it goes on exactly where it was. A
 * device can make a terminal blink and no more: nothing that it writes is answered.
 */
export function OutputPane({ runId, taskId, attempt }: OutputProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const search = useRef<SearchAddon>(undefined);
  const [wanted, setWanted] = useState('');
  const [state, setState] = useState<string>(words.output.coming);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const terminal = new Terminal({
      convertEol: true,
      disableStdin: true,
      scrollback: ROWS_KEPT,
      fontSize: 12.5,
      fontFamily: 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace',
      theme: THEME,
      screenReaderMode: true,
      // Bytes that are no text are nothing to be told about, each of them.
      logLevel: 'off',
      linkHandler: { activate: () => undefined },
    });
    const fit = new FitAddon();
    search.current = new SearchAddon();
    terminal.loadAddon(fit);
    terminal.loadAddon(search.current);
    // Titles and clipboards are not for devices to set.
    for (const code of [0, 1, 2, 8, 52]) terminal.parser.registerOscHandler(code, () => true);
    terminal.open(current);
    const seen = new ResizeObserver(() => fit.fit());
    seen.observe(current);
    const feed = new TerminalFeed(
      (text, done) => terminal.write(text, done),
      `\u001b[0;2m${words.output.leftOut}\u001b[0m\r\n`,
    );
    const known = new Map<string, OutputCursor>();
    let last: string | undefined;
    let wrote = false;
    const end = live.follow({
      topic: () => ({
        kind: 'output',
        run: runId,
        task: taskId,
        attempt,
        ...(known.size > 0 && { after: [...known.values()] }),
      }),
      reads: OutputMessage,
      hear: (message) => {
        if (message.kind === 'bytes') {
          const { command, stream, device, text } = message;
          const key = `${command} ${stream}`;
          const before = known.get(key)?.offset ?? 0;
          const bytes = new TextEncoder().encode(text).length;
          if (message.offset + bytes <= before) return;
          known.set(key, { command, stream, offset: message.offset + bytes });
          if (key !== last) {
            feed.push(
              `${wrote ? '\r\n' : ''}\u001b[0;2m${words.output.from(command.split('.').slice(-2).join('.'), device, stream)}\u001b[0m\r\n`,
            );
            last = key;
          }
          if (message.offset > before && before > 0) feed.push(`\r\n\u001b[2m${words.output.missing}\u001b[0m\r\n`);
          wrote = true;
          feed.push(stream === 'stderr' ? `\u001b[31m${text}\u001b[39m` : text);
          setState('');
        } else if (message.kind === 'note') feed.push(`\r\n\u001b[2m${safe(message.text)}\u001b[0m\r\n`);
        else if (message.kind === 'error') setState(message.message);
        else if (message.kind === 'end' && !wrote) setState(words.output.none);
        else if (message.kind === 'live' && !wrote) setState(words.output.waiting);
      },
    });
    return () => {
      end();
      seen.disconnect();
      terminal.dispose();
    };
  }, [runId, taskId, attempt]);
  const address = `/v1/runs/${runId}/output?format=text&task=${encodeURIComponent(taskId)}&attempt=${attempt}`;
  return (
    <div className="output">
      <div className="row wrap">
        <label className="search small">
          <Icon name="search" />
          <span className="unseen">{words.output.search}</span>
          <input
            type="search"
            placeholder={words.output.search}
            value={wanted}
            onChange={({ target }) => {
              setWanted(target.value);
              search.current?.findNext(target.value, { incremental: true });
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              if (event.shiftKey) search.current?.findPrevious(wanted);
              else search.current?.findNext(wanted);
            }}
          />
        </label>
        <WholeSearch address={address} wanted={wanted} />
        <a className="button small" href={address} download={`${taskId}-${attempt}.txt`}>
          {words.output.download}
        </a>
        <span className="faint" role="status">
          {state}
        </span>
      </div>
      <div className="output-box" ref={box} />
    </div>
  );
}

/** What is said about an output may have words of a device in it: none of them is obeyed. */
const safe = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');
