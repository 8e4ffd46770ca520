import type { ActionName, RunView, TaskView } from '#proto';
import type { ToConfirm } from '../../../parts/index.js';
import { newKey, sayVerb } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

export interface RunAction {
  readonly name: string;
  /** A button of its own; the others are in a menu. */
  readonly first: boolean;
  readonly confirmation: ToConfirm;
}

type May = (action: ActionName, owner?: string) => boolean;

interface Inquiry {
  readonly view: RunView;
  readonly isNow: boolean;
  /** Of the moment that is looked at. */
  readonly sequence: number;
  readonly may: May;
  readonly onFork: (runId: string) => void;
}

/** What who looks may do to a run as it is. The server decides, this only asks. */
export function runActions({ view, isNow, sequence, may, onFork }: Inquiry): RunAction[] {
  const { runId, requestedBy: owner, endedAt, status } = view;
  const at = `/v1/runs/${runId}`;
  const open = endedAt === null && isNow;
  const waits = status === 'PAUSED' || status === 'WAITING';
  const reason = { label: words.action.reason };
  const said = (text: string): object => (text === '' ? {} : { reason: text });
  const done = async (answer: Promise<unknown>): Promise<void> => void (await answer);
  const actions: (RunAction | false)[] = [
    open &&
      waits &&
      may('RESUME', owner) && {
        name: words.action.resume,
        first: true,
        confirmation: {
          title: words.action.resumeTitle,
          about: words.action.resumeAbout,
          action: words.action.resume,
          act: once((key) => done(sayVerb(`${at}/resume`, undefined, key))),
        },
      },
    open &&
      !waits &&
      may('PAUSE', owner) && {
        name: words.action.pause,
        first: true,
        confirmation: {
          title: words.action.pauseTitle,
          about: words.action.pauseAbout,
          action: words.action.pause,
          text: reason,
          act: once((key, text) => done(sayVerb(`${at}/pause`, said(text), key))),
        },
      },
    open &&
      may('CANCEL', owner) && {
        name: words.action.cancel,
        first: true,
        confirmation: {
          title: words.action.cancelTitle,
          about: words.action.cancelAbout,
          action: words.action.cancel,
          danger: true,
          text: reason,
          act: once((key, text) => done(sayVerb(`${at}/cancel`, said(text), key))),
        },
      },
    may('FORK') && {
      name: words.action.fork,
      first: !isNow,
      confirmation: {
        title: words.action.forkTitle(sequence),
        about: words.action.forkAbout,
        action: words.action.fork,
        act: once(async (key) => {
          const { runId: forked } = await sayVerb(`${at}/fork`, { at: sequence }, key);
          if (forked !== undefined) onFork(forked);
        }),
      },
    },
    may('ANNOTATE', owner) && {
      name: words.action.annotate,
      first: false,
      confirmation: {
        title: words.action.annotateTitle,
        about: words.action.annotateAbout,
        action: words.action.annotate,
        text: { label: words.action.note, required: true },
        act: once((key, text) => done(sayVerb(`${at}/notes`, { text }, key))),
      },
    },
  ];
  return actions.filter((action) => action !== false);
}

/** A new attempt of one task. */
export function retryOf(view: RunView, task: TaskView, may: May): RunAction | undefined {
  if (task.status === 'PENDING' || task.status === 'SKIPPED' || task.status === 'COMPLETED' || !may('RETRY'))
    return undefined;
  return {
    name: words.action.retry,
    first: true,
    confirmation: {
      title: words.action.retryTitle(task.id),
      about: task.status === 'RUNNING' ? words.action.retryRunning : words.action.retryAbout,
      action: words.action.retry,
      act: once(async (key) => {
        await sayVerb(`/v1/runs/${view.runId}/tasks/${encodeURIComponent(task.id)}/retry`, undefined, key);
      }),
    },
  };
}

/** However often it is pressed, it is one intent. */
function once(act: (key: string, text: string) => Promise<void>): (text: string) => Promise<void> {
  const key = newKey();
  let before: string | undefined;
  let used = key;
  return (text) => {
    if (before !== undefined && before !== text) used = newKey();
    before = text;
    return act(used, text);
  };
}
