import { POLICY_MISMATCH, type AttemptCommit, type DeadLetter, type Instant } from '#proto';
import { attention, type Attention } from './attention.js';

/** Commands that did what their judgement did not say: nothing ends that but a person who looked. */
export function attentionOfAttempt({ runId, taskId, at, events }: AttemptCommit): Attention[] {
  return events.flatMap((event) => {
    if (event.type !== 'COMMAND_FINISHED' || event.data.error?.code !== POLICY_MISMATCH) return [];
    const { commandId, deviceId, error } = event.data;
    const what = `a command of ${taskId} on ${deviceId} did what its judgement did not say: ${error.message}`;
    const key = `mismatch ${commandId}`;
    const next = `orrery steps ${runId} ${taskId}`;
    return [attention({ kind: 'mismatch', key, runId, taskId, deviceId, what, next, since: at })];
  });
}

/** A dead letter: of a message that several could not handle there is one each, and all of them are one entry. `letter`: its place in DLQ. */
export function attentionOfLetter(
  about: Pick<DeadLetter, 'service' | 'stream' | 'sequence' | 'subject' | 'reason' | 'at'>,
  letter: number,
): Attention {
  const { service, stream, sequence, subject, reason, at: since } = about;
  const isOfStream = stream !== null && sequence !== null;
  const what = isOfStream
    ? `message ${sequence} of ${stream}, on ${subject}, could not be handled: ${reason}`
    : `${service} could not handle a message on ${subject}: ${reason}`;
  const key = isOfStream ? `dead-letter ${stream} ${sequence}` : `dead-letter ${letter} ${since}`;
  return attention({ kind: 'dead-letter', key, what, next: `orrery dlq show ${letter}`, since });
}

/** What is wrong with the system itself and stands in no log: `name` says with what, `since` when it was first seen. */
export function attentionOfSystem(
  kind: 'drift' | 'disk',
  { name, problem, since }: { readonly name: string; readonly problem: string; readonly since: Instant },
): Attention {
  const next = kind === 'drift' ? 'orrery doctor --repair' : 'orrery doctor';
  return attention({ kind, key: `${kind} ${name} ${since}`, what: problem, next, since });
}
