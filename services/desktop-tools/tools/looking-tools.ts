import { z } from 'zod';
import { ToolResult, type Caller, type HostedFile, type HostedTool } from '#libs/mcp';
import type { DeskState, ListedControl, ListedWindow, Looking, TakenPicture } from '../desk/index.js';
import {
  FieldList,
  Id,
  InfoShape,
  ListShape,
  RectShape,
  runDirectoryOf,
  TargetShape,
  TextShape,
  Name,
  toolOf,
} from './tool.js';

const AppsInput = z.object({ remove_empty: z.boolean().default(true), refresh_app_windows: z.boolean().default(true) });
const FieldsInput = z.object({ field_list: FieldList });

const Pictures = z.object({
  pictures: z.array(
    z.object({
      of: z.enum(['window', 'desktop', 'marked', 'crop']),
      rect: RectShape,
      width: z.int(),
      height: z.int(),
    }),
  ),
  listing: z.string().optional(),
});
type Pictures = z.infer<typeof Pictures>;

/** The tools that only look. */
export function desktopLookingTools(desk: DeskState, looking: Looking): HostedTool[] {
  return [...windowTools(desk, looking), ...controlTools(looking), ...pictureTools(desk, looking)];
}

function windowTools(desk: DeskState, looking: Looking): HostedTool[] {
  const facts = ({ window }: ListedWindow) => ({
    application: window.application,
    listed: desk.isListed(window),
    terminal: desk.isTerminal(window, false),
  });
  return [
    toolOf({
      name: 'get_desktop_app_info',
      title: 'Windows',
      description:
        'Lists the windows of the desktop, the one in front first. Ids are valid until windows are listed again.',
      input: AppsInput,
      output: ListShape(InfoShape),
      readOnly: true,
      run: async ({ remove_empty: removeEmpty }) => {
        const { name, entries } = await looking.windows(!removeEmpty);
        return { result: entries.map((entry) => ({ ...infoOf(entry), ...facts(entry) })), listing: name };
      },
    }),
    toolOf({
      name: 'get_desktop_app_target_info',
      title: 'Windows as targets',
      description:
        'Lists the windows of the desktop as targets, the one in front first. Ids are valid until windows are listed again.',
      input: AppsInput,
      output: ListShape(TargetShape),
      readOnly: true,
      run: async ({ remove_empty: removeEmpty }) => {
        const { name, entries } = await looking.windows(!removeEmpty);
        const result = entries.map((entry) => ({ ...targetOf('window', entry), ...facts(entry) }));
        return { result, listing: name };
      },
    }),
    toolOf({
      name: 'get_app_window_info',
      title: 'The chosen window',
      description: 'Says what window is worked in: the chosen one, or a dialog of the same program in front of it.',
      input: FieldsInput,
      output: InfoShape,
      readOnly: true,
      run: async () => {
        const window = await desk.workedIn();
        return {
          label: '0',
          control_text: window.title,
          control_type: 'Window',
          control_rect: [...window.rect],
          application: window.application,
          listed: desk.isListed(window),
          terminal: desk.isTerminal(window, false),
        };
      },
    }),
  ];
}

function controlTools(looking: Looking): HostedTool[] {
  const list = async <T>(told: (control: ListedControl) => T, caller: Caller) => {
    const { name, entries, window, isCut, hasTree, runDirectory } = await looking.controls(runDirectoryOf(caller));
    return {
      result: entries.map(told),
      listing: name,
      window: {
        application: window.application,
        window: window.title,
        ...(runDirectory !== undefined && { run_directory: runDirectory }),
      },
      ...(isCut && { more: true }),
      ...(!hasTree && { pictures_only: true }),
    };
  };
  const facts = ({ state, value }: ListedControl) => ({
    ...(state.length > 0 && { state: [...state] }),
    ...(value !== undefined && { value }),
  });
  return [
    toolOf({
      name: 'get_app_window_controls_info',
      title: 'Controls',
      description: 'Lists the controls of the window that is worked in. Ids are valid until controls are listed again.',
      input: FieldsInput,
      output: ListShape(InfoShape),
      readOnly: true,
      run: (_, __, caller) => list((control) => ({ ...infoOf(control), ...facts(control) }), caller),
    }),
    toolOf({
      name: 'get_app_window_controls_target_info',
      title: 'Controls as targets',
      description:
        'Lists the controls of the window that is worked in as targets. Ids are valid until controls are listed again.',
      input: FieldsInput,
      output: ListShape(TargetShape),
      readOnly: true,
      run: (_, __, caller) => list((control) => ({ ...targetOf('control', control), ...facts(control) }), caller),
    }),
    toolOf({
      name: 'get_ui_tree',
      title: 'Tree of the window',
      description: 'The accessibility tree of the window that is worked in.',
      input: z.object({}),
      output: z.looseObject({ id: z.string(), name: z.string(), control_type: z.string() }),
      readOnly: true,
      run: async () => ({ ...(await looking.tree()) }),
    }),
    toolOf({
      name: 'texts',
      title: 'Text of a control',
      description: 'The text in a control. What is in a password field is not told.',
      input: z.object({ id: Id, name: Name }),
      output: TextShape,
      readOnly: true,
      run: async (target) => ({ result: await looking.text(target) }),
    }),
  ];
}

function pictureTools(desk: DeskState, looking: Looking): HostedTool[] {
  return [
    toolOf({
      name: 'capture_window_screenshot',
      title: 'Picture of the window',
      description:
        'A picture of the window that is worked in; with annotated also one with the ids of the newest listing on it, with crop also one of that control.',
      input: z.object({ annotated: z.boolean().default(false), crop: Id.optional() }),
      output: Pictures,
      readOnly: true,
      run: async ({ annotated, crop }) => {
        const taken = await looking.window({ annotated, crop });
        const listing = annotated || crop !== undefined ? desk.controls?.name : undefined;
        return withFiles(taken, listing === undefined ? {} : { listing });
      },
    }),
    toolOf({
      name: 'capture_desktop_screenshot',
      title: 'Picture of the desktop',
      description: 'A picture of the whole screen.',
      input: z.object({ all_screens: z.boolean().default(true) }),
      output: Pictures,
      readOnly: true,
      run: async () => withFiles([await looking.desktop()], {}),
    }),
  ];
}

function withFiles(taken: readonly TakenPicture[], more: Pick<Pictures, 'listing'>): ToolResult<Pictures> {
  const pictures = taken.map(({ of, rect }) => ({
    of,
    rect: [...rect],
    width: rect[2] - rect[0],
    height: rect[3] - rect[1],
  }));
  const files: HostedFile[] = taken.map(({ of, png }) => ({ name: `${of}.png`, mediaType: 'image/png', bytes: png }));
  return new ToolResult({ pictures, ...more }, {}, files);
}

type Shown = Pick<ListedControl, 'id' | 'name' | 'type' | 'rect'>;

const targetOf = (kind: TargetShape['kind'], { id, name, type, rect }: Shown): TargetShape => ({
  kind,
  name,
  id,
  type,
  rect: [...rect],
});

const infoOf = ({ id, name, type, rect }: Shown): InfoShape => ({
  label: id,
  control_text: name,
  control_type: type,
  control_rect: [...rect],
});
