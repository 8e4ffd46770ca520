import { expect, it } from '@jest/globals';
import { isLoopback } from './loopback.js';

it.each(['127.0.0.1', '127.8.0.1', 'localhost', 'LOCALHOST', '::1', '[::1]', '::ffff:127.0.0.1'])(
  '%s is here',
  (host) => expect(isLoopback(host)).toBe(true),
);

it.each(['', '0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'localhost.evil.example', '::ffff:10.0.0.1', '[]'])(
  '%s is elsewhere',
  (host) => expect(isLoopback(host)).toBe(false),
);
