import { createHash } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { CODE_PAGE_POLICY, codePage, loginPage, PAGE_POLICY, sessionPage, strangerPage } from './pages.js';

const HOSTILE = `"><script>alert('1')</script>&`;

const caller = {
  actor: { kind: 'person' as const, id: 'anna' },
  roles: [],
  namespace: 'anna',
  issuer: HOSTILE,
  subject: HOSTILE,
  session: 's',
};

it('shows whatever a provider calls somebody as text', () => {
  const pages = [
    strangerPage(HOSTILE, HOSTILE),
    sessionPage(caller, HOSTILE),
    loginPage({ provider: HOSTILE, problem: HOSTILE }),
  ];
  for (const page of pages) expect(page).not.toMatch(/<script|"">|alert\('/u);
});

it('says what an administrator has to type, so that a shell reads it as it is', () => {
  expect(strangerPage('https://id.example/', 'anna-1')).toContain(
    'orrery people add anna --login https://id.example/ anna-1',
  );
  expect(strangerPage('https://id.example', "$(x)\u0007 'y'")).toContain(
    String.raw`https://id.example &#39;$(x)? &#39;\&#39;&#39;y&#39;\&#39;&#39;&#39;`,
  );
});

it('allows no scripts and nothing from elsewhere', () => {
  expect(PAGE_POLICY).toContain("default-src 'none'");
  expect(PAGE_POLICY).not.toContain('script-src');
  expect(PAGE_POLICY).not.toContain('unsafe');
});

it('can be read aloud: a language, a title, one heading, a label for the field', () => {
  const page = loginPage({ provider: undefined });
  for (const part of ['<html lang="en">', '<title>Log in', '<label for="token">', 'id="token"']) {
    expect(page).toContain(part);
  }
  expect(page.match(/<h1>/gu)).toHaveLength(1);
  expect(page).not.toContain('/login/start');
});

describe('the page that takes a code', () => {
  const script = (page: string): string => /<script>(.*)<\/script>/u.exec(page)?.[1] ?? '';
  /** What becomes of it in a browser that comes to this address. */
  function opened(page: string, hash: string) {
    const form = {
      hidden: false,
      elements: { code: { value: '' } },
      dataset: { asks: /data-asks="(\w+)"/u.exec(page)?.[1] },
      sent: false,
      submit: () => (form.sent = true),
    };
    const none = { hidden: true };
    const history: unknown[] = [];
    const place = {
      location: { hash, pathname: '/login/code' },
      history: { replaceState: (...said: unknown[]) => history.push(said) },
      document: { getElementById: (id: string) => (id === 'none' ? none : form) },
    };
    runInNewContext(script(page), place);
    return { code: form.elements.code.value, sent: form.sent, isEmpty: !none.hidden && form.hidden, history };
  }
  const away = [[null, '', '/login/code']];

  it('sends it at once, and takes it out of the address', () =>
    expect(opened(codePage(undefined), '#abc')).toEqual({ code: 'abc', sent: true, isEmpty: false, history: away }));

  it('asks who is logged in already: a link of somebody else must not turn him into that one', () =>
    expect(opened(codePage(caller), '#abc')).toEqual({ code: 'abc', sent: false, isEmpty: false, history: away }));

  it('says that there is none', () =>
    expect(opened(codePage(undefined), '')).toEqual({ code: '', sent: false, isEmpty: true, history: away }));

  it('runs this script and no other one', () => {
    const hash = createHash('sha256')
      .update(script(codePage(caller)))
      .digest('base64');
    expect(CODE_PAGE_POLICY).toContain(`script-src 'sha256-${hash}'`);
    expect(CODE_PAGE_POLICY).not.toContain('unsafe');
  });
});
