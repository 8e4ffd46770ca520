/*
 * The tools of screens, by the names that UFO's clients know them by and tool sets of ours answer to as well: what looks, what
 * chooses a window, what acts in one, and what the programs of an office have of their own.
 */

import type { CommandCall } from './constellation.js';
import { PAGE_TOOLS } from './screen-pages.js';

/** They look and change nothing. Clients of UFO never list them. */
export const COLLECTOR_TOOLS = [
  'get_desktop_app_info',
  'get_desktop_app_target_info',
  'get_app_window_info',
  'get_app_window_controls_info',
  'get_app_window_controls_target_info',
  'capture_window_screenshot',
  'capture_desktop_screenshot',
  'get_ui_tree',
  'add_control_list',
] as const;

/** They choose or start what is worked in. */
export const WINDOW_TOOLS = ['select_application_window', 'launch_application', 'run_shell'] as const;

/** They act in the window that was chosen. */
export const CONTROL_TOOLS = [
  'click_input',
  'click_on_coordinates',
  'drag_on_coordinates',
  'set_edit_text',
  'keyboard_input',
  'wheel_mouse_input',
] as const;

/** They only read in it, wait, or keep a text of their caller. */
export const QUIET_TOOLS = ['texts', 'wait', 'wait_until_settled', 'summary'] as const;

/** Programs that have the tools of a spreadsheet: that of UFO's clients, and that of a Linux desktop. */
const SHEETS = ['EXCEL.EXE', 'soffice.bin'] as const;

/** Tools of office programs: what each takes, what it does at the worst, and in which programs it is there. */
export const OFFICE_TOOLS: Readonly<
  Record<string, { readonly takes: string; readonly does: 'read' | 'write' | 'save'; readonly in: readonly string[] }>
> = {
  insert_table: { takes: 'Arguments: rows, columns.', does: 'write', in: ['WINWORD.EXE'] },
  select_text: { takes: 'Arguments: text.', does: 'read', in: ['WINWORD.EXE'] },
  select_table: { takes: 'Arguments: number, from 1.', does: 'read', in: ['WINWORD.EXE'] },
  select_paragraph: {
    takes: 'Arguments: start_index, end_index, non_empty (true).',
    does: 'read',
    in: ['WINWORD.EXE'],
  },
  set_font: { takes: 'Arguments: font_name, font_size; null leaves one as it is.', does: 'write', in: ['WINWORD.EXE'] },
  save_as: {
    takes: 'Arguments: file_dir, file_name, file_ext; in PowerPoint also current_slide_only (false).',
    does: 'save',
    in: ['WINWORD.EXE', 'POWERPNT.EXE', ...SHEETS],
  },
  table2markdown: { takes: 'Arguments: sheet_name.', does: 'read', in: SHEETS },
  insert_excel_table: {
    takes: 'Arguments: table (a list of rows), sheet_name, start_row, start_col, from 1.',
    does: 'write',
    in: SHEETS,
  },
  select_table_range: {
    takes: 'Arguments: sheet_name, start_row, start_col, end_row, end_col, from 1; -1 is the end.',
    does: 'read',
    in: SHEETS,
  },
  reorder_columns: {
    takes: 'Arguments: sheet_name, desired_order (a list of names).',
    does: 'write',
    in: SHEETS,
  },
  get_range_values: {
    takes: 'Arguments: sheet_name, start_row, start_col, end_row, end_col, from 1; -1 is the end.',
    does: 'read',
    in: SHEETS,
  },
  set_background_color: {
    takes: 'Arguments: color (hexadecimal), slide_index (a list of numbers, or null).',
    does: 'write',
    in: ['POWERPNT.EXE'],
  },
  extract_pdf_text: { takes: 'Arguments: pdf_path, simulate_human (true).', does: 'save', in: ['explorer.exe'] },
  list_pdfs_in_directory: { takes: 'Arguments: directory_path.', does: 'save', in: ['explorer.exe'] },
  extract_all_pdfs_text: {
    takes: 'Arguments: directory_path, simulate_human (true).',
    does: 'save',
    in: ['explorer.exe'],
  },
};

const NAMES: ReadonlySet<string> = new Set([
  ...COLLECTOR_TOOLS,
  ...WINDOW_TOOLS,
  ...CONTROL_TOOLS,
  ...QUIET_TOOLS,
  ...Object.keys(OFFICE_TOOLS),
  ...PAGE_TOOLS,
]);

/** Whether a tool of this name looks at a screen, or acts on one. */
export const isScreenTool = (name: string): boolean => NAMES.has(name);

/** Whether it only looks at one. */
export const isCollectorTool = (name: string): boolean => (COLLECTOR_TOOLS as readonly string[]).includes(name);

const PICTURE_TOOLS = ['capture_window_screenshot', 'capture_desktop_screenshot', 'capture_screenshot'];

/** Whether what it answers with are pictures of a screen. */
export const takesPicture = (name: string): boolean => PICTURE_TOOLS.includes(name);

/** What acts on a phone, and what moves mouse and keys, or a finger, from outside: by the names of UFO's servers and ours. */
const PHONE_HANDS = ['click_control', 'type_text', 'tap', 'swipe', 'press_key', 'launch_app'];
const HARDWARE_HANDS = [
  'press_key_sequence',
  'press_hotkey',
  'move_mouse',
  'click_mouse',
  'double_click_mouse',
  'drag_mouse',
  'scroll_mouse',
  'touch_screen',
  'tap_screen',
  'swipe_screen',
  'draw_on_screen',
];

const HANDS: ReadonlySet<string> = new Set([
  ...CONTROL_TOOLS,
  'select_application_window',
  ...PHONE_HANDS,
  ...HARDWARE_HANDS,
]);

/** Whether a tool of this name is of the hands that a desktop or a phone has once. */
export const usesScreen = (name: string): boolean => HANDS.has(name);

/** Whether a command is one for the screen: by its tool, or because its agent says where on one it acts. */
export const isForScreen = ({ tool, on }: Pick<CommandCall, 'tool' | 'on'>): boolean =>
  isScreenTool(tool) || on !== undefined;
