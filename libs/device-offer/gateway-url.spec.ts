import { describe, expect, it } from '@jest/globals';
import { GatewayUrl, isOpen } from './gateway-url.js';

describe('the address of a gateway', () => {
  it.each([
    ['ws://10.0.0.5:5000/ws', 'ws://10.0.0.5:5000/ws'],
    ['wss://orrery.example.org/ws', 'wss://orrery.example.org/ws'],
    ['wss://ORRERY.example.org', 'wss://orrery.example.org/'],
  ])('%s', (text, url) => expect(GatewayUrl.parse(text)).toBe(url));

  it.each(['', 'orrery.example.org', 'http://orrery.example.org/ws', 'file:///etc/passwd'])('is not %j', (text) =>
    expect(() => GatewayUrl.parse(text)).toThrow(/must be a ws:\/\/ or wss:\/\/ address/u),
  );

  it.each(['ws://a:b@host/ws', 'ws://host/ws?token=secret', 'ws://host/ws#x'])('carries no secret: %s', (text) =>
    expect(() => GatewayUrl.parse(text)).toThrow(/must be an address only/u),
  );
});

it.each([
  ['ws://10.0.0.5:5000/ws', true],
  ['ws://127.0.0.1.example.org/ws', true],
  ['ws://127.0.0.1:5000/ws', false],
  ['ws://[::1]:5000/ws', false],
  ['ws://localhost/ws', false],
  ['wss://10.0.0.5/ws', false],
])('others can read what is said at %s: %s', (url, open) => expect(isOpen(url)).toBe(open));
