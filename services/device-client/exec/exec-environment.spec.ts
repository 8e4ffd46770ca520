import { describe, expect, it } from '@jest/globals';
import { minimalEnvironment } from './exec-cli.js';

describe('the search path of a command', () => {
  it.each([
    [':/usr/bin', '/usr/bin'],
    ['/usr/bin::/bin:.', '/usr/bin:/bin'],
    ['node_modules/.bin:/opt/x/bin', '/opt/x/bin'],
    ['.', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    [undefined, '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ])('%j holds no place that depends on where it starts', (own, path) =>
    expect(minimalEnvironment({ PATH: own })['PATH']).toBe(path),
  );
});
