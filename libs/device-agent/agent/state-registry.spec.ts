import { describe, expect, it } from '@jest/globals';
import { StateRegistry } from './state-registry.js';
import { failState, finishState } from './states.js';

describe('the states of an agent', () => {
  const registry = new StateRegistry('LampAgent', [finishState(), failState()]);

  it('are found by name', () => {
    expect(registry.names).toEqual(['FINISH', 'FAIL']);
    expect(registry.get('FAIL').name).toBe('FAIL');
    expect([registry.has('FAIL'), registry.has('ASSIGN')]).toEqual([true, false]);
  });

  it('have one name each', () => {
    expect(() => new StateRegistry('LampAgent', [finishState(), failState(), finishState()])).toThrow(
      'LampAgent has two states with the name "FINISH"',
    );
  });

  it('know who is meant when one is not there', () => {
    expect(() => registry.get('ASSIGN')).toThrow('LampAgent has no state "ASSIGN"; it has FINISH, FAIL');
    expect(() => new StateRegistry('LampAgent', []).get('X')).toThrow('it has none');
  });

  it('do not take the name of the state of an agent that has not begun', () => {
    expect(registry.none.name).toBe('NONE');
    expect(() => new StateRegistry('LampAgent', [{ ...finishState(), name: 'NONE' }])).toThrow('"NONE" is no name');
    expect(() => new StateRegistry('LampAgent', [{ ...finishState(), name: '' }])).toThrow('"" is no name');
  });
});
