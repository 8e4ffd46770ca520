import type { ActionName, RunView, TaskView } from '#proto';
import type { ToConfirm } from '../../../parts/index.js';
import { askApi, newKey, postJson, sayVerb } from '../../../wire/index.js';
import { words } from '../../../words/index.js';

export interface RunAction {
  readonly name: string;
  /** A button of its own; the others are in a menu. */
  readonly first: boolean;
  readonly confirmation: ToConfirm;
  /** Why who may do such things may not do this one. */
  readonly whyNot?: string | undefined;
}

type May = (action: ActionName, owner?: string) => boolean;

interface Inquiry {
  readonly view: RunView;
  readonly isNow: boolean;
  /** Of the moment that is looked at. */
  readonly sequence: number;
  readonly may: May;
  /** The plan waits for the word of a person. */
  readonly isPlanOpen: boolean;
  /** Why the word of who looks is none for this run. */
  readonly barred: string | undefined;
  readonly onFork: (runId: string) => void;
}

/** What who looks may do to a run as it is. The server decides, this only asks. */
export function runActions({ view, isNow, sequence, may, isPlanOpen, barred, onFork }: Inquiry): RunAction[] {
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
        name: isPlanOpen ? words.action.accept : words.action.resume,
        first: true,
        whyNot: isPlanOpen && barred !== undefined ? words.action.ownPlan(barred) : undefined,
        confirmation: {
          title: isPlanOpen ? words.action.acceptTitle : words.action.resumeTitle,
          about: isPlanOpen ? words.action.acceptAbout : words.action.resumeAbout,
          action: isPlanOpen ? words.action.accept : words.action.resume,
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
  return [...actions.filter((action) => action !== false), ...plannerActions({ view, isNow, may })];
}

const NO_EDITS = JSON.stringify({ edits: [] }, null, 2);

/** What has to do with the plan and with what is learnt of it. */
function plannerActions({ view, isNow, may }: Pick<Inquiry, 'view' | 'isNow' | 'may'>): RunAction[] {
  const { runId, requestedBy: owner, endedAt, outcome } = view;
  const path = { id: runId };
  const ended = endedAt !== null && isNow;
  const actions: (RunAction | false)[] = [
    isNow &&
      endedAt === null &&
      may('PROPOSE', owner) && {
        name: words.action.propose,
        first: false,
        confirmation: {
          title: words.action.proposeTitle,
          about: words.action.proposeAbout,
          action: words.action.propose,
          text: { label: words.action.edits, required: true, initial: NO_EDITS, lines: 12 },
          act: once(async (key, text) => void (await postJson(`/v1/runs/${runId}/edits`, jsonIn(text), key))),
        },
      },
    ended &&
      may('planner.evaluate') && {
        name: words.action.judge,
        first: false,
        confirmation: {
          title: words.action.judgeTitle,
          about: words.action.judgeAbout,
          action: words.action.judge,
          act: async () => void (await askApi('POST /v1/runs/{id}/evaluate', { path })),
        },
      },
    ended &&
      outcome === 'succeeded' &&
      may('planner.learn') && {
        name: words.action.learn,
        first: false,
        confirmation: {
          title: words.action.learnTitle,
          about: words.action.learnAbout,
          action: words.action.learn,
          act: async () => void (await askApi('POST /v1/runs/{id}/learn', { path })),
        },
      },
  ];
  return actions.filter((action) => action !== false);
}

/** Throws with the sentence to be shown. */
function jsonIn(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch (error) {
    throw new Error(words.request.notJson(error instanceof Error ? error.message : String(error)), { cause: error });
  }
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
