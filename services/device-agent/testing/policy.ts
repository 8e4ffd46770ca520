import type { PolicyVerdict } from '#proto';
import type { CommandPolicy } from '#libs/command-policy';

const WORDS: Record<string, Partial<PolicyVerdict>> = {
  rm: { class: 'destructive', decision: 'approve', rule: 'program.rm', reasons: ['it deletes'] },
  mkfs: { class: 'destructive', decision: 'deny', rule: 'floor.disk', reasons: ['it formats a disk'] },
  tee: { class: 'write', decision: 'log', rule: 'program.tee', reasons: ['it writes'] },
};

/** Knows a few words, for tests: what begins with another one is read and allowed. */
export function testPolicy(judged: string[] = []): CommandPolicy {
  return {
    wall: () => ({ kind: 'none', views: [] }),
    hash: 'a'.repeat(64),
    judge: ({ arguments: { command } }) => {
      const text = typeof command === 'string' ? command : '';
      judged.push(text);
      const known = WORDS[text.split(' ')[0] ?? ''] ?? {};
      return { class: 'read', decision: 'allow', rule: 'program.read', reasons: [], grantable: true, ...known };
    },
  };
}
