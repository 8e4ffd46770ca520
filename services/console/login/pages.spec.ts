import { expect, it } from '@jest/globals';
import { loginPage, PAGE_POLICY, sessionPage, strangerPage } from './pages.js';

const HOSTILE = `"><script>alert('1')</script>&`;

it('shows whatever a provider calls somebody as text', () => {
  const caller = {
    actor: { kind: 'person' as const, id: 'anna' },
    roles: [],
    namespace: 'anna',
    issuer: HOSTILE,
    subject: HOSTILE,
    session: 's',
  };
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
