import type { PolicyBody } from './policy-file.js';

/** What holds where no policy says otherwise. */
export const defaultPolicy = {
  defaults: { read: 'allow', write: 'log', network: 'approve', destructive: 'approve', privileged: 'approve' },
  rules: [],
  floor: [],
  sensitivePaths: [],
  writablePaths: ['/tmp/**', '/var/tmp/**', '/home/**', '/srv/**', '/data/**', '/mnt/**', '~/**'],
  programDirectories: ['/bin', '/usr/bin', '/sbin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin'],
  tools: { SYS_INFO: 'read', FILE_GET: 'read', FILE_PUT: 'write' },
} as const satisfies PolicyBody;
