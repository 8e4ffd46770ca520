import { describe, expect, it } from '@jest/globals';
import { PAGE_TOOLS, type CommandCall, type Json } from '#proto';
import { answered, callsOf, drive, scripted, type Said } from '../testing/drive.js';
import {
  answerOfEditor,
  appEnds,
  appSays,
  control,
  hostAssigns,
  hostSays,
  screenTask,
  spiedScreen,
  window,
} from '../testing/screen.js';

const PLACE = { application: 'chromium', window: 'Shop - Chromium' };
const REF = { sha256: 'a'.repeat(64), bytes: 10 };
const frame = [0, 0, 400, 300];

/** A browser whose window has been listed, and whose page is read under a name of its own. */
function answerOfBrowser({ tool }: CommandCall) {
  switch (tool) {
    case 'get_desktop_app_target_info':
      return answered([window('1', PLACE.window)]);
    case 'select_application_window':
      return answered({ root_name: PLACE.application, window_info: { title: PLACE.window } });
    case 'get_app_window_controls_target_info': {
      const seen = { ...(control('51', 'Send') as object), rect: [100, 50, 160, 70] } as unknown as Json;
      return answered({ result: [seen, control('3', 'Reload')], listing: 'w.1', window: PLACE });
    }
    case 'read_page': {
      const send = { ...(control('3', 'Send') as object), rect: [101, 51, 159, 69] } as unknown as Json;
      return answered({ result: [control('2', 'Details', 'Hyperlink'), send], listing: 'p.7', window: PLACE });
    }
    case 'capture_window_screenshot':
      return {
        kind: 'finished' as const,
        state: 'COMPLETED' as const,
        result: {
          value: { pictures: [{ of: 'window', rect: frame, width: 400, height: 300 }] },
          files: [{ name: 'window.png', mediaType: 'image/png', artifact: REF }],
        },
        message: null,
      };
    default:
      return answerOfEditor(tool);
  }
}

function run(replies: readonly Said[], application = PLACE.application) {
  const task = screenTask();
  const tools = [...task.device.tools, ...PAGE_TOOLS.map((name) => ({ name, description: '', readOnly: false }))];
  const { kind, app } = spiedScreen();
  const chosen = { ...PLACE, application };
  const calls = (call: CommandCall) =>
    call.tool === 'select_application_window'
      ? answered({ root_name: application, window_info: { title: chosen.window } })
      : answerOfBrowser(call);
  const all = [
    hostAssigns('buy', '1', PLACE.window),
    ...replies,
    appEnds('FINISH', 'done'),
    hostSays({ status: 'FINISH', result: 'done' }),
  ];
  const driven = drive(kind, { ...task, device: { ...task.device, tools } }, scripted({ replies: all, calls }));
  return { ...driven, app };
}

describe('the page of a browser', () => {
  it('is acted on by what was read of it, and not by what was listed of its window since', () => {
    const driven = run([
      appSays([['read_page', {}]]),
      appSays([['click_on_page', { id: '3', name: 'Send' }, 'CONFIRM']]),
    ]);
    expect(callsOf(driven).find(({ tool }) => tool === 'click_on_page')?.on).toEqual({
      agent: 'AppAgent',
      ...PLACE,
      control: { id: '3', type: 'Button', name: 'Send' },
      snapshot: 'p.7',
    });
    // Who confirms it is shown the control that the look at the window has shown.
    const effect = driven.effects.find((one) => one.kind === 'call-tool' && one.command.tool === 'click_on_page');
    expect(effect).toMatchObject({ shows: { picture: REF, box: [100, 50, 160, 70] } });
  });

  it.each([
    ['before it was read', [appSays([['click_on_page', { id: '3', name: 'Reload' }]])]],
    [
      'by another name than was read',
      [appSays([['read_page', {}]]), appSays([['click_on_page', { id: '3', name: 'Reload' }]])],
    ],
  ])('is not acted on %s', (_, replies) => {
    expect(callsOf(run(replies)).map(({ tool }) => tool)).not.toContain('click_on_page');
  });

  it('is offered to who works in a browser, and to nobody else', () => {
    const offered = (application: string) => {
      const driven = run([appSays([['read_page', {}]])], application);
      return callsOf(driven)
        .map(({ tool }) => tool)
        .includes('read_page');
    };
    expect([offered('chromium'), offered('mousepad')]).toEqual([true, false]);
  });
});
