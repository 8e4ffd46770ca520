import { z } from 'zod';
import { ToolResult, type HostedTool } from '#libs/mcp';
import type { PhonePicture } from '../phone/index.js';
import { phoneTool, type PhoneSetting } from './tool.js';

const Rect = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const Control = z.object({
  kind: z.literal('control'),
  id: z.string(),
  name: z.string(),
  type: z.string(),
  rect: Rect,
  state: z.array(z.string()),
  value: z.string().optional(),
});
const Controls = z.object({
  result: z.array(Control),
  listing: z.string(),
  window: z.object({ application: z.string(), window: z.string() }),
  listed: z.boolean(),
  more: z.number(),
});
const Application = z.object({
  kind: z.literal('third_party_agent'),
  id: z.string(),
  name: z.string(),
  type: z.string(),
  listed: z.boolean(),
});
const Pictures = z.object({
  pictures: z.array(z.object({ of: z.enum(['screen', 'marked']), rect: Rect, width: z.number(), height: z.number() })),
});
const About = z.object({ model: z.string(), release: z.string(), size: z.string() });

/** What reads and changes nothing. */
export function lookingTools({ desk, phone, turns, applications }: PhoneSetting): HostedTool[] {
  const controls = phoneTool({
    name: 'get_app_window_controls_target_info',
    title: 'Controls on the screen',
    description:
      'Lists what is on the screen of the phone: id, name, type, place, state and value. The ids belong to this listing, and an action ends it.',
    input: z.object({ force_refresh: z.boolean().default(true) }),
    output: Controls,
    readOnly: true,
    run: (_, signal) =>
      turns.take(async () => {
        const { screen, listing } = await desk.list(signal);
        const { application } = screen;
        const all = screen.controls.map(({ id, name, type, rect, state, value }): z.infer<typeof Control> => {
          const [left, top, right, bottom] = rect;
          const shown = value === undefined ? {} : { value: value.slice(0, VALUE_CHARS_MAX).toWellFormed() };
          return { kind: 'control', id, name, type, rect: [left, top, right, bottom], state: [...state], ...shown };
        });
        const result = all.slice(0, fitting(all));
        const more = screen.more + all.length - result.length;
        const window = { application, window: application };
        return { result, listing, window, listed: applications.has(application), more };
      }),
  });
  const apps = phoneTool({
    name: 'get_mobile_app_target_info',
    title: 'Applications of the phone',
    description: 'Lists the applications that are installed on the phone, by the names of their packages.',
    input: z.object({
      filter: z.string().max(255).default('').describe('Only packages whose name contains this.'),
      include_system_apps: z.boolean().default(false).describe('Also those that came with the phone.'),
      force_refresh: z.boolean().default(true),
    }),
    output: z.object({ result: z.array(Application) }),
    readOnly: true,
    run: async ({ filter, include_system_apps: withSystem }, signal) => {
      const names = await phone.packages(withSystem, signal);
      const wanted = names.filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
      const result = wanted.map((name, index) => ({
        kind: 'third_party_agent' as const,
        id: `${index + 1}`,
        name,
        type: name,
        listed: applications.has(name),
      }));
      return { result };
    },
  });
  const picture = phoneTool({
    name: 'capture_screenshot',
    title: 'Picture of the screen',
    description: 'Takes a picture of the screen of the phone.',
    input: z.object({
      annotated: z
        .boolean()
        .default(false)
        .describe('A second picture beside it has the ids of the newest listing on it.'),
    }),
    output: Pictures,
    readOnly: true,
    run: ({ annotated }, signal) =>
      turns.take(async () => {
        if (!annotated) return picturesOf(await phone.picture(signal));
        const { clean, bytes } = await desk.marked(signal);
        return picturesOf(clean, bytes);
      }),
  });
  const about = phoneTool({
    name: 'get_device_info',
    title: 'The phone',
    description: 'Tells the model of the phone, the release of its Android and the size of its screen.',
    input: z.object({}),
    output: About,
    readOnly: true,
    run: (_, signal) => phone.about(signal),
  });
  return [controls, apps, picture, about];
}

/** The pictures of one moment, in the order of their files. */
function picturesOf({ bytes, width, height }: PhonePicture, marked?: Buffer): ToolResult<z.infer<typeof Pictures>> {
  const taken = [
    { of: 'screen' as const, bytes },
    ...(marked === undefined ? [] : [{ of: 'marked' as const, bytes: marked }]),
  ];
  const rect: [number, number, number, number] = [0, 0, width, height];
  const files = taken.map((one) => ({ name: `${one.of}.png`, mediaType: 'image/png', bytes: one.bytes }));
  return new ToolResult({ pictures: taken.map(({ of }) => ({ of, rect, width, height })) }, {}, files);
}

/** Of what is in a field; a picture shows the rest. */
const VALUE_CHARS_MAX = 500;
/** A longer answer would be cut where it is recorded, and nobody could read the rest of it as a list. */
const LISTED_BYTES_MAX = 14_000;

/** How many of them stay below that. */
function fitting(controls: readonly object[]): number {
  let bytes = 0;
  const beyond = controls.findIndex((one) => (bytes += Buffer.byteLength(JSON.stringify(one)) + 1) > LISTED_BYTES_MAX);
  return beyond < 0 ? controls.length : beyond;
}
