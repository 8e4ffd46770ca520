import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { HostedTool } from '#libs/mcp';
import { PhoneFault } from '../faults/index.js';
import { phoneTool, PhoneSaid, seenBy, type PhoneSetting } from './tool.js';

const pixel = z.number().int().min(0).max(100_000);
const controlId = z.string().min(1).max(32).describe('Id of the control in the newest listing.');
const controlName = z.string().max(1_024).describe('Name of the control in that listing.');
const WAIT_SECONDS_MAX = 60;

/** What does something on the phone. */
export function actingTools(setting: PhoneSetting): HostedTool[] {
  return [...pointing(setting), ...writing(setting), ...keys(setting), waiting()];
}

function pointing({ desk, turns }: PhoneSetting): HostedTool[] {
  const click = phoneTool({
    name: 'click_control',
    title: 'Tap a control',
    description: 'Taps the middle of a control. List the controls again afterwards.',
    input: z.object({ control_id: controlId, control_name: controlName }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ control_id: id, control_name: name }, signal, { meta }) =>
      turns.take(async () => {
        const { type } = await desk.click({ id, name, seen: seenBy(meta) }, signal);
        return { result: `Tapped ${type} ${JSON.stringify(name)}.` };
      }),
  });
  const tap = phoneTool({
    name: 'tap',
    title: 'Tap a place',
    description:
      'Taps a place on the screen, in pixels from its top left. For what is no control: otherwise use click_control.',
    input: z.object({ x: pixel, y: pixel }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ x, y }, signal, { meta }) =>
      turns.take(async () => {
        await desk.tap([x, y], seenBy(meta), signal);
        return { result: `Tapped ${x},${y}.` };
      }),
  });
  const swipe = phoneTool({
    name: 'swipe',
    title: 'Swipe',
    description:
      'Moves a finger over the screen, to scroll or to turn pages. Places are pixels, the duration milliseconds.',
    input: z.object({
      start_x: pixel,
      start_y: pixel,
      end_x: pixel,
      end_y: pixel,
      duration: z.number().int().min(1).max(10_000).default(300),
    }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ start_x: x, start_y: y, end_x: toX, end_y: toY, duration: ms }, signal, { meta }) =>
      turns.take(async () => {
        await desk.swipe({ from: [x, y], to: [toX, toY], ms }, seenBy(meta), signal);
        return { result: `Swiped from ${x},${y} to ${toX},${toY}.` };
      }),
  });
  return [click, tap, swipe];
}

function writing({ desk, turns }: PhoneSetting): HostedTool[] {
  const type = phoneTool({
    name: 'type_text',
    title: 'Type into a field',
    description:
      'Taps a field and types a text into it. The text arrives as it is, or nothing is typed: a line break is the Enter key, and what is beyond ASCII needs an input method that takes any text.',
    input: z.object({
      text: z.string().max(20_000),
      control_id: controlId,
      control_name: controlName,
      clear_current_text: z.boolean().default(false).describe('Deletes what the field holds first.'),
    }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ text, control_id: id, control_name: name, clear_current_text: clear }, signal, { meta }) =>
      turns.take(async () => {
        const field = await desk.type({ text, id, name, clear, seen: seenBy(meta) }, signal);
        return { result: `Typed ${Array.from(text).length} characters into ${field.type} ${JSON.stringify(name)}.` };
      }),
  });
  return [type];
}

function keys({ desk, phone, turns }: PhoneSetting): HostedTool[] {
  const press = phoneTool({
    name: 'press_key',
    title: 'Press a key',
    description: 'Presses one key by the name that Android gives it: KEYCODE_BACK, KEYCODE_HOME, KEYCODE_ENTER, ...',
    input: z.object({ key_code: z.string().max(64) }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ key_code: key }, signal, { meta }) =>
      turns.take(async () => {
        if (!/^KEYCODE_[A-Z0-9_]{1,48}$/.test(key)) {
          throw new PhoneFault(
            'KEYS',
            `${JSON.stringify(key)} is no key: name it as Android does, such as KEYCODE_BACK`,
          );
        }
        await desk.press(key, seenBy(meta), signal);
        return { result: `Pressed ${key}.` };
      }),
  });
  const back = phoneTool({
    name: 'back',
    title: 'Go back',
    description: 'Goes back to the screen before, as the key KEYCODE_BACK does.',
    input: z.object({}),
    output: PhoneSaid,
    readOnly: false,
    run: (_, signal, { meta }) =>
      turns.take(async () => {
        await desk.press('KEYCODE_BACK', seenBy(meta), signal);
        return { result: 'Went back.' };
      }),
  });
  const launch = phoneTool({
    name: 'launch_app',
    title: 'Start an application',
    description: 'Starts an application by the name of its package, or brings it to the front.',
    input: z.object({ package_name: z.string().min(1).max(255), id: z.string().max(32).nullable().default(null) }),
    output: PhoneSaid,
    readOnly: false,
    run: ({ package_name: name }, signal) =>
      turns.take(async () => {
        if (!/^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(name)) {
          throw new PhoneFault('APPLICATION', `${JSON.stringify(name)} is no package, such as "com.example.notes"`);
        }
        if (!(await phone.packages(true, signal)).includes(name)) {
          throw new PhoneFault('APPLICATION', `${name} is not installed`);
        }
        await desk.launch(name, signal);
        return { result: `Started ${name}.` };
      }),
  });
  return [press, back, launch];
}

/** Harms nobody, and takes no turn: others may look meanwhile. */
const waiting = (): HostedTool =>
  phoneTool({
    name: 'wait',
    title: 'Wait',
    description: 'Waits, for what takes its time on the screen.',
    input: z.object({ seconds: z.number().min(0).max(WAIT_SECONDS_MAX).default(1) }),
    output: PhoneSaid,
    readOnly: true,
    run: async ({ seconds }, signal) => {
      await sleep(seconds * 1_000, undefined, { signal });
      return { result: `Waited ${seconds} s.` };
    },
  });
