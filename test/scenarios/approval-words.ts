import type { Actor, Ask } from '#proto';
import type { PersonsWord } from '#libs/constellation';
import { commandAsk, questionAsk } from '../../libs/constellation/testing/given.js';
import { words } from './plan-words.js';

const MINUTE = 60_000;

/** `ask A 2 rm -r /srv/old`, the second step of A's last attempt; `ask A 2 once sudo reboot` for one that is never granted; `question A 1 Which one?`. */
export function askOf(text: string, attempt: number, { now, deviceId }: { now: number; deviceId: string }): Ask {
  const [kind, taskId = '', step = '1', ...rest] = words(text);
  const approvalId = `run-1.${taskId}.${attempt}.${step}.0`;
  const at = { deviceId, step: Number(step), expiresAt: new Date(now + 15 * MINUTE).toISOString() };
  if (kind === 'question') return { ...questionAsk(approvalId, rest.join(' ')), ...at };
  const grantable = rest[0] !== 'once';
  const command = (grantable ? rest : rest.slice(1)).join(' ');
  return commandAsk(approvalId, { ...at, grantable, command: { tool: 'EXEC_CLI', arguments: { command } } });
}

/** `approve A.1.2 grant=60000 by=bob`, `approve A.1.2 as rm /srv/old/app.log`, `reject A.1.2`, `answer A.1.2 the second one`. */
export function wordOf(text: string): { readonly action: PersonsWord; readonly by: Actor } {
  const [verb = '', about = '', ...rest] = words(text);
  const approvalId = `run-1.${about}.0`;
  const option = (name: string) => rest.find((word) => word.startsWith(`${name}=`))?.split('=')[1];
  const by: Actor = { kind: option('kind') === 'external' ? 'external' : 'person', id: option('by') ?? 'alice' };
  const said = rest.filter((word) => !word.includes('='));
  if (verb === 'reject') return { by, action: { verb: 'REJECT', approvalId } };
  if (verb === 'answer') return { by, action: { verb: 'ANSWER', approvalId, text: said.join(' ') } };
  const grant = option('grant');
  const command = { tool: 'EXEC_CLI', arguments: { command: said.slice(1).join(' ') } };
  return {
    by,
    action: {
      verb: 'APPROVE',
      approvalId,
      ...(grant === undefined ? {} : { grantMs: Number(grant) }),
      ...(said[0] === 'as' ? { command } : {}),
    },
  };
}
