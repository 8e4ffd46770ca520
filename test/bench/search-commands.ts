/** A command as the bench of searches makes it up: every tenth word in many of them, some in few, one in one. */
export interface Told {
  readonly number: number;
  readonly runId: string;
  readonly commandId: string;
  readonly device: string;
  readonly line: string;
  readonly stdout: string;
  readonly exitCode: number;
  readonly rule: string;
}

export const RUNS = Array.from({ length: 100 }, (_, number) => `run-${number}`);

let made = 0;

/** The `number`th of those that are inserted at once: about 700 characters, every fiftieth 4,000. */
export function outputOf(number: number): Told {
  const unique = ++made;
  const runId = RUNS[number % RUNS.length] ?? '';
  const app = `app${number % 1_000}`;
  const lines = Array.from(
    { length: number % 50 === 0 ? 60 : 10 },
    (_, line) =>
      `host ${line} unit${(number * 7 + line) % 5_000} ${line % 3 === 0 ? 'active running' : 'idle'} pid ${unique + line} ok, status`,
  );
  return {
    number: unique,
    runId,
    commandId: `${runId}.t${unique}.1.1.0`,
    device: `host-${number % 200}`,
    line: `systemctl status ${app} && cat /etc/${app}/${app}.conf`,
    stdout: [
      ...lines,
      number % 2 === 0 ? 'alpha' : 'beta',
      ...(number % 100 === 0 ? ['/dev/sda1: disk full'] : []),
      ...(unique === 5 ? ['needle1'] : []),
    ].join('\n'),
    exitCode: number === 77 ? 137 : number % 10 === 0 ? 1 : 0,
    rule: number % 97 === 0 ? 'program.rm' : 'program.systemctl',
  };
}
