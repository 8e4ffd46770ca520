import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { ToolResult, type HostedTool } from '#libs/mcp';
import { SecretRef } from '#proto';
import { SETTLE_MS, type Acted, type Acting, type DeskState } from '../desk/index.js';
import type { DesktopWindow } from '../display/index.js';
import type { Launcher } from '../launch/index.js';
import { ActedShape, Id, Name, RectShape, secretOf, seenOnDesk, TextShape, toolOf } from './tool.js';

const TEXT_CHARS_MAX = 20_000;
const WAIT_SECONDS_MAX = 300;
const NOTCHES_MAX = 50;
const DRAG_SECONDS_MAX = 10;

/** Beside the answer of what acts: how many milliseconds of it were waiting until the window rests. The answer itself has no times. */
const SETTLING_META = 'orrery/settling-ms';

/** With Alt a drag moves windows: that one is not held. */
const HELD = { ctrl: 'Control', shift: 'Shift' } as const;
const Button = z.enum(['left', 'right', 'middle', 'x']).default('left');
const Fraction = z.number();

const WindowInfo = z.object({
  annotation_id: z.null(),
  name: z.string(),
  title: z.string(),
  handle: z.int(),
  class_name: z.string(),
  rectangle: z.object({ x: z.int(), y: z.int(), width: z.int(), height: z.int() }),
  control_type: z.string(),
  process_id: z.int(),
  is_visible: z.boolean(),
  is_minimized: z.boolean(),
  is_maximized: z.boolean(),
  is_active: z.boolean(),
});
const Selected = z.object({ root_name: z.string(), window_info: WindowInfo, rect: RectShape });

/** The tools that act, each of them in what was listed and nowhere else. */
export function desktopActingTools(desk: DeskState, acting: Acting, launcher: Launcher): HostedTool[] {
  return [
    ...hostTools(acting, launcher),
    ...mouseTools(acting),
    ...keyboardTools(acting),
    ...waitingTools(desk, acting),
  ];
}

function hostTools(acting: Acting, launcher: Launcher): HostedTool[] {
  return [
    toolOf({
      name: 'select_application_window',
      title: 'Choose a window',
      description: 'Brings a listed window to the front; what is done from then on is done there.',
      input: z.object({ id: Id, name: Name }),
      output: Selected,
      readOnly: false,
      run: async (target) => selectedOf(await acting.select(target)),
    }),
    toolOf({
      name: 'launch_application',
      title: 'Start a program',
      description:
        'Starts a program of the list of this device, with files that it may be given, and chooses its window.',
      input: z.object({ name: z.string().max(64), arguments: z.array(z.string().max(4_096)).default([]) }),
      output: Selected,
      readOnly: false,
      run: async ({ name, arguments: given }) => selectedOf(await launcher.launch(name, given)),
    }),
  ];
}

function mouseTools(acting: Acting): HostedTool[] {
  return [
    toolOf({
      name: 'click_input',
      title: 'Click',
      description: 'Clicks on a listed control with the mouse.',
      input: z.object({ id: Id, name: Name, button: Button, double: z.boolean().default(false) }),
      output: ActedShape,
      readOnly: false,
      run: ({ id, name, button, double }, _, caller) =>
        acted(acting.click({ id, name, on: seenOnDesk(caller) }, button, double)),
    }),
    toolOf({
      name: 'click_on_coordinates',
      title: 'Click at a place',
      description: 'Clicks at a place of the window, in fractions of its sides from 0 to 1.',
      input: z.object({ x: Fraction, y: Fraction, button: Button, double: z.boolean().default(false) }),
      output: ActedShape,
      readOnly: false,
      run: ({ x, y, button, double }, _, caller) => acted(acting.clickAt([x, y], button, double, seenOnDesk(caller))),
    }),
    toolOf({
      name: 'drag_on_coordinates',
      title: 'Drag',
      description:
        'Drags from one place of the window to another, in fractions of its sides from 0 to 1; with key_hold that key is held down until the button is let go.',
      input: z.object({
        start_x: Fraction,
        start_y: Fraction,
        end_x: Fraction,
        end_y: Fraction,
        button: Button,
        duration: z.number().min(0).max(DRAG_SECONDS_MAX).default(1),
        key_hold: z.enum(['ctrl', 'shift']).nullable().default(null),
      }),
      output: ActedShape,
      readOnly: false,
      run: ({ start_x, start_y, end_x, end_y, button, duration, key_hold: hold }, _, caller) =>
        acted(
          acting.drag(
            [
              [start_x, start_y],
              [end_x, end_y],
            ],
            { button, durationMs: duration * 1_000, ...(hold !== null && { held: HELD[hold] }) },
            seenOnDesk(caller),
          ),
        ),
    }),
    toolOf({
      name: 'wheel_mouse_input',
      title: 'Turn the wheel',
      description: 'Turns the wheel over a listed control by so many notches; positive is up.',
      input: z.object({ id: Id, name: Name, wheel_dist: z.int().min(-NOTCHES_MAX).max(NOTCHES_MAX).default(0) }),
      output: ActedShape,
      readOnly: false,
      run: ({ id, name, wheel_dist: notches }, _, caller) =>
        acted(acting.scroll({ id, name, on: seenOnDesk(caller) }, notches)),
    }),
  ];
}

function keyboardTools(acting: Acting): HostedTool[] {
  return [
    toolOf({
      name: 'set_edit_text',
      title: 'Set a text',
      description:
        'Puts a text into a listed field, behind what is in it or in its place. Into a password field goes only a secret of the device, by its name, such as {"secret": "db-password"}, in the place of what is in it; its value is never shown.',
      input: z.object({
        id: Id,
        name: Name,
        text: z.union([z.string().max(TEXT_CHARS_MAX), SecretRef]),
        clear_current_text: z.boolean().default(false),
      }),
      output: ActedShape,
      readOnly: false,
      run: ({ id, name, text, clear_current_text: instead }, _, caller) => {
        const target = { id, name, on: seenOnDesk(caller) };
        return acted(
          typeof text === 'string'
            ? acting.setText(target, text, instead)
            : acting.putSecret(target, { name: text.secret, value: secretOf(caller) }),
        );
      },
    }),
    toolOf({
      name: 'keyboard_input',
      title: 'Press keys',
      description:
        'Presses keys: signs are typed, {ENTER}, {TAB 2} and {VK_DOWN} are keys, {VK_CONTROL}c holds one while the next is pressed. Without control_focus they go to whatever has the focus in the window.',
      input: z.object({
        id: Id.default(''),
        name: Name.default(''),
        keys: z.string().max(TEXT_CHARS_MAX),
        control_focus: z.boolean().default(true),
      }),
      output: ActedShape,
      readOnly: false,
      run: ({ id, name, keys, control_focus: focus }, _, caller) =>
        acted(acting.keys({ id, name, on: seenOnDesk(caller) }, keys, focus)),
    }),
  ];
}

function waitingTools(desk: DeskState, acting: Acting): HostedTool[] {
  return [
    toolOf({
      name: 'wait',
      title: 'Wait',
      description: 'Waits for so many seconds.',
      input: z.object({ seconds: z.number().min(0).max(WAIT_SECONDS_MAX) }),
      output: TextShape,
      readOnly: true,
      run: async ({ seconds }, signal) => {
        await wait(seconds * 1_000, undefined, { signal }).catch(() => undefined);
        return { result: `Waited for ${seconds} s.` };
      },
    }),
    toolOf({
      name: 'wait_until_settled',
      title: 'Wait until the window rests',
      description: 'Waits until the window that is worked in does not change any more, at most for so many seconds.',
      input: z.object({
        seconds: z
          .number()
          .min(0)
          .max(60)
          .default(SETTLE_MS / 1_000),
      }),
      output: ActedShape,
      readOnly: true,
      run: async ({ seconds }) => {
        const listed = desk.controls?.window.handle;
        const isSettled = await acting.rest(seconds * 1_000);
        const { handle } = await desk.workedIn();
        const result = isSettled ? 'The window rests.' : 'The window still changes.';
        return { result, settled: isSettled, changed: listed !== undefined && listed !== handle };
      },
    }),
    toolOf({
      name: 'summary',
      title: 'Keep a summary',
      description: 'Keeps what was said of the window as the result of this step.',
      input: z.object({ text: z.string().max(TEXT_CHARS_MAX) }),
      output: TextShape,
      readOnly: true,
      run: ({ text }) => Promise.resolve({ result: text }),
    }),
  ];
}

async function acted(act: Promise<Acted>): Promise<ToolResult<z.infer<typeof ActedShape>>> {
  const { settlingMs, ...answer } = await act;
  return new ToolResult(answer, { [SETTLING_META]: Math.round(settlingMs) });
}

function selectedOf(window: DesktopWindow): z.infer<typeof Selected> {
  const [left, top, right, bottom] = window.rect;
  return {
    root_name: window.application,
    rect: [...window.rect],
    window_info: {
      annotation_id: null,
      name: window.title,
      title: window.title,
      handle: window.handle,
      class_name: window.classes[1] ?? window.classes[0] ?? '',
      rectangle: { x: left, y: top, width: right - left, height: bottom - top },
      control_type: 'Window',
      process_id: window.process,
      is_visible: !window.isMinimized,
      is_minimized: window.isMinimized,
      is_maximized: window.isMaximized,
      is_active: window.isActive,
    },
  };
}
