/** A plan that a new fleet can carry out: somebody who has never written one changes this one. */
export const PLAN_EXAMPLE = JSON.stringify(
  {
    name: 'look at the disks',
    tasks: [
      {
        id: 'disks',
        name: 'free space',
        target: { os: 'linux' },
        command: { tool: 'EXEC_CLI', arguments: { command: 'df -h' } },
      },
      {
        id: 'largest',
        name: 'largest folders',
        target: { os: 'linux' },
        command: { tool: 'EXEC_CLI', arguments: { command: 'du -sh /var/* | sort -h | tail -n 5' } },
      },
    ],
    lines: [{ id: 'after', from: 'disks', to: 'largest' }],
  },
  null,
  2,
);
