import { describe, expect, it } from '@jest/globals';
import type { ArtifactRef, CommandCall } from '#proto';
import { emptyRecord, type CommandRecord } from './book.js';
import { picturesOf } from './pictures.js';

const pictureOf = (digit: string): ArtifactRef => ({ sha256: digit.repeat(64), bytes: 10 });
const [FIRST, SECOND, THIRD, SHOWN] = ['1', '2', '3', '4'].map(pictureOf) as [
  ArtifactRef,
  ArtifactRef,
  ArtifactRef,
  ArtifactRef,
];

/** A command of this step that has run. */
function ran(
  step: number,
  tool: string,
  judged: 'read' | 'write',
  pictures: readonly ArtifactRef[] = [],
): CommandRecord {
  const command: CommandCall = { tool, arguments: {} };
  const files = pictures.map((artifact) => ({ name: 'window.png', mediaType: 'image/png', artifact }));
  const record = { ...emptyRecord('c'), step, judged: [{ class: judged }], issued: { command } };
  return { ...record, finished: { result: { value: null, files } } } as unknown as CommandRecord;
}
const look = (step: number, ...pictures: ArtifactRef[]) => ran(step, 'capture_window_screenshot', 'read', pictures);
const lists = (step: number) => ran(step, 'get_app_window_controls_target_info', 'read');
const click = (step: number) => ran(step, 'click_input', 'write');
const asks = (step: number, picture?: ArtifactRef) =>
  ({
    ...emptyRecord('c'),
    step,
    judged: [{ class: 'destructive' }],
    ask: { kind: 'approval', ...(picture && { picture }) },
  }) as unknown as CommandRecord;

const of = (...records: readonly CommandRecord[]) =>
  picturesOf({ commands: new Map(records.map((record, index) => [`c${index}`, record])) });

describe('pictures of an attempt', () => {
  it('of acts are those of the last look before each', () => {
    const { ofActs, others } = of(look(1, FIRST), lists(1), look(2, SECOND), lists(2), click(2), look(3, THIRD));
    expect(ofActs).toEqual([SECOND]);
    expect(others).toEqual([FIRST, THIRD]);
  });

  it('of acts are all of that look, and stay for each act of the step', () => {
    const { ofActs, others } = of(look(1, FIRST), look(1, SECOND), click(1), click(1));
    expect([ofActs, others]).toEqual([[FIRST, SECOND], []]);
  });

  it('of questions are what was seen then, and what the person was shown', () => {
    const { ofActs, others } = of(look(1, FIRST), asks(1, SHOWN), look(2, SECOND));
    expect(ofActs).toEqual([FIRST, SHOWN]);
    expect(others).toEqual([SECOND]);
  });

  it('are not the files of other tools', () => {
    const { ofActs, others } = of(ran(1, 'make_chart', 'read', [FIRST]), click(1));
    expect([ofActs, others]).toEqual([[], []]);
  });

  it('are told once, as that of an act where one of them is', () => {
    const { ofActs, others } = of(look(1, FIRST), click(1), look(2, FIRST), look(3, FIRST));
    expect([ofActs, others]).toEqual([[FIRST], []]);
  });
});
