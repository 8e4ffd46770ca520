import { counted } from '#libs/constellation';
import type { ModelCall } from '#proto';
import { cleanLine, clipToWidth, durationText } from '../terminal/index.js';

const PROBLEM_CHARS_MAX = 2_000;

/** `gpt-x, 2 calls, 1,200 tokens, $0.0100, 3.1 s`. */
export function callsText(calls: readonly ModelCall[]): string {
  const sum = (of: (call: ModelCall) => number) => calls.reduce((total, call) => total + of(call), 0);
  const cost = sum(({ costUsd }) => costUsd ?? 0);
  const parts = [
    ...new Set(calls.map(({ model }) => cleanLine(model))),
    ...(calls.length > 1 ? [counted(calls.length, 'call')] : []),
    `${sum(({ tokens }) => tokens.prompt + tokens.completion).toLocaleString('en-US')} tokens`,
    ...(cost > 0 ? [`$${cost.toFixed(4)}`] : []),
    durationText(sum(({ durationMs }) => durationMs)),
  ];
  return parts.join(', ');
}

/** Why replies could not be used, and why there were none: a line each. */
export function problemLines(calls: readonly ModelCall[]): string[] {
  return calls.flatMap(({ problems, error }) => [
    ...problems.map((problem) => `reply refused: ${clipToWidth(cleanLine(problem), PROBLEM_CHARS_MAX)}`),
    ...(error === null
      ? []
      : [`call failed: ${cleanLine(error.code)} ${clipToWidth(cleanLine(error.message), PROBLEM_CHARS_MAX)}`]),
  ]);
}
