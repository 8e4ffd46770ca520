import { expect, it } from '@jest/globals';
import { RecordedAttemptEvent } from '#proto';
import { stepPlanned } from './step-events.js';

const REPLY = { observation: '', thought: 't', plan: [], comment: '', notes: [], action: { status: 'CONTINUE' } };
const CALL = {
  model: 'm',
  endpoint: 'main' as const,
  promptHash: 'a'.repeat(64),
  parameters: {},
  reply: '{}',
  problems: [],
  error: null,
  tokens: { prompt: 1, completion: 1 },
  costUsd: null,
  startedAt: '2026-11-20T10:00:00.000Z',
  durationMs: 1,
};

it('what a model was told of its last turn is a fact of the step, as far as it has room', () => {
  const place = { step: 2, agent: 'LinuxAgent', told: Array.from({ length: 30 }, () => 'x'.repeat(3_000)) };
  const { data } = stepPlanned(place, { messages: [], templates: [] }, [CALL], REPLY);
  const stored = RecordedAttemptEvent.parse({ id: 'e', sequence: 1, schemaVersion: 1, type: 'STEP_PLANNED', data });
  expect(stored.data).toHaveProperty(
    'told',
    Array.from({ length: 20 }, () => 'x'.repeat(2_000)),
  );
  const silent = stepPlanned({ ...place, told: [] }, { messages: [], templates: [] }, [CALL], REPLY);
  expect(silent.data).not.toHaveProperty('told');
});
