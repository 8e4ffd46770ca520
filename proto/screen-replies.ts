import { z } from 'zod';
import { Json } from './ids.js';
import { Note } from './model.js';

/*
 * What the models of agents of screens answer, with the field names of UFO's HostAgent and AppAgent; `notes`, which others of a
 * run read, is ours.
 */

const said = {
  observation: z.string().max(20_000).default(''),
  thought: z.string().max(20_000),
  /** What is still to be done, in order. */
  plan: z.array(z.string().max(2_000)).max(50).default([]),
  /** For people. */
  comment: z.string().max(4_000).default(''),
  notes: z.array(Note).max(20).default([]),
  /** What only a person can say; asked with PENDING. */
  questions: z.array(z.string().min(1).max(4_000)).max(4).default([]),
  /** The textual result; needed with FINISH and FAIL. */
  result: z.string().max(200_000).default(''),
} as const;

const call = {
  /** Name of a tool; empty for no call. */
  function: z.string().max(128).default(''),
  arguments: z.record(z.string(), Json).default({}),
} as const;

export const ScreenHostStatus = z.enum(['CONTINUE', 'ASSIGN', 'PENDING', 'FINISH', 'FAIL']);
export type ScreenHostStatus = z.infer<typeof ScreenHostStatus>;

/** What the model of a HostAgent answers in one step. */
export const ScreenHostReply = z
  .strictObject({
    ...said,
    ...call,
    status: ScreenHostStatus,
    /** What the AppAgent is to do, in full. */
    current_subtask: z.string().max(20_000).default(''),
    /** Tips for it. */
    message: z.array(z.string().max(2_000)).max(20).default([]),
  })
  .superRefine(({ status, function: name, current_subtask: subtask, questions, result }, context) => {
    const needs = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if ((status === 'CONTINUE' || status === 'ASSIGN') && name === '')
      needs('function', `${status} needs a function to call; use FINISH or FAIL when there is nothing left to do`);
    if (status === 'ASSIGN' && subtask === '') needs('current_subtask', 'ASSIGN needs a subtask');
    if (status === 'PENDING' && questions.length === 0) needs('questions', 'PENDING needs a question');
    if ((status === 'FINISH' || status === 'FAIL') && result === '') needs('result', `${status} needs a result`);
  });
export type ScreenHostReply = z.infer<typeof ScreenHostReply>;

export const ScreenAppStatus = z.enum(['CONTINUE', 'SCREENSHOT', 'PENDING', 'CONFIRM', 'FINISH', 'FAIL']);
export type ScreenAppStatus = z.infer<typeof ScreenAppStatus>;

export const AppAction = z.strictObject({ ...call, status: ScreenAppStatus });
export type AppAction = z.infer<typeof AppAction>;

const ACTIONS_MAX = 8;

/** What the model of an AppAgent answers in one step: one action, or several that are done one after the other. */
export const ScreenAppReply = z
  .strictObject({
    ...said,
    action: z.union([AppAction, z.array(AppAction).min(1).max(ACTIONS_MAX)]),
    /** Keeps the picture of the window where all agents of the attempt see it. */
    save_screenshot: z.strictObject({ save: z.boolean(), reason: z.string().max(500).default('') }).optional(),
  })
  .superRefine(({ action, questions, result }, context) => {
    const actions = [action].flat();
    const last = actions.at(-1)?.status ?? '';
    const needs = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    for (const { status, function: name } of actions)
      if ((status === 'CONTINUE' || status === 'CONFIRM') && name === '')
        needs('action', `${status} needs a function to call; use SCREENSHOT to look again, FINISH or FAIL to end`);
    if (actions.slice(0, -1).some(({ status }) => status !== 'CONTINUE' && status !== 'CONFIRM'))
      needs('action', 'only the last action of a list may have another status than CONTINUE or CONFIRM');
    if (last === 'PENDING' && questions.length === 0) needs('questions', 'PENDING needs a question');
    if ((last === 'FINISH' || last === 'FAIL') && result === '') needs('result', `${last} needs a result`);
  });
export type ScreenAppReply = z.infer<typeof ScreenAppReply>;
