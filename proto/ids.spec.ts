import { describe, expect, it } from '@jest/globals';
import { attemptOfCommand, commandIdOf } from './ids.js';

describe('the id of a command', () => {
  const attempt = { runId: 'r-1', taskId: 'a_b', attempt: 12 };

  it('names its attempt', () => {
    expect(attemptOfCommand(commandIdOf(attempt))).toEqual(attempt);
    expect(attemptOfCommand(commandIdOf(attempt, 3, 10))).toEqual(attempt);
  });

  it.each(['', '..', 'r.a.1', 'r.a.0.0.0', 'r.a.01.0.0', 'r.a.1.0.0.0', 'r.a.1.00.0', 'r a.1.0.0', '.a.1.0.0'])(
    'is nobody’s when nobody gives it: %p',
    (commandId) => expect(attemptOfCommand(commandId)).toBeUndefined(),
  );
});
