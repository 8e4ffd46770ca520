import { createHash } from 'node:crypto';
import type { ConsoleCaller } from '../callers/index.js';

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}' +
  'label,input,button{font:inherit}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;margin:.25rem 0 1rem}' +
  'button,.button{padding:.5rem 1rem;border:2px solid #1a4f8b;background:#1a4f8b;color:#fff;text-decoration:none;display:inline-block}' +
  ':focus-visible{outline:3px solid #b35900;outline-offset:2px}pre{background:#f2f2f2;padding:.75rem;overflow:auto}';

/** Puts the code of the address into the form, and out of the address and the history of the browser. Who is logged in already is asked first. */
const SCRIPT =
  "const f=document.getElementById('log-in'),c=location.hash.slice(1);history.replaceState(null,'',location.pathname);" +
  "if(c===''){f.hidden=true;document.getElementById('none').hidden=false}" +
  "else{f.elements.code.value=c;if(f.dataset.asks==='no')f.submit()}";

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const POLICY = [
  "default-src 'none'",
  `style-src ${sourceOf(STYLE)}`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
];

/** What these pages may do: show text in one style, and send their forms here. No scripts, nothing from elsewhere. */
export const PAGE_POLICY = POLICY.join('; ');
/** The same, with the one script of the page that takes a code. */
export const CODE_PAGE_POLICY = [...POLICY, `script-src ${sourceOf(SCRIPT)}`].join('; ');

interface LoginPage {
  /** Of the identity provider; undefined when there is none. */
  readonly provider: string | undefined;
  /** Why it did not work. */
  readonly problem?: string | undefined;
}

/** Where people log in. */
export function loginPage({ provider, problem }: LoginPage): string {
  const said = problem === undefined ? '' : `<p role="alert"><strong>${text(problem)}</strong></p>`;
  const button =
    provider === undefined ? '' : `<p><a class="button" href="/login/start">Log in at ${text(provider)}</a></p>`;
  return page(
    'Log in',
    `${said}${button}
<form method="post" action="/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" required maxlength="512" aria-describedby="hint">
<p id="hint">From <code>orrery tokens issue</code>, or the admin token of the first start. With a terminal you need none:
<code>orrery console</code> prints a link that logs you in.</p>
<button type="submit">Log in with a token</button>
</form>`,
  );
}

/** Where the link of `orrery console` leads. The code stands behind the `#`, which no browser sends: a script here brings it in the body of a request. */
export function codePage(caller: ConsoleCaller | undefined): string {
  const asks =
    caller === undefined
      ? '<p>You are being logged in.</p>'
      : `<p>You are logged in as <strong>${text(caller.actor.id)}</strong>. This link logs you in anew, maybe as somebody else.</p>`;
  return page(
    'Log in by link',
    `<form id="log-in" method="post" action="/login/code" data-asks="${caller === undefined ? 'no' : 'yes'}">
${asks}
<input type="hidden" name="code">
<button type="submit">Log in</button>
</form>
<p id="none" role="alert" hidden><strong>There is no code in this link.</strong> Make another one: <code>orrery console</code></p>
<noscript><p role="alert">This page needs JavaScript to take the code out of its address. <a href="/login">Log in otherwise</a></p></noscript>
<script>${SCRIPT}</script>`,
  );
}

/** Who is logged in, and how that ends. */
export function sessionPage({ actor, roles, issuer, subject }: ConsoleCaller, csrf: string): string {
  return page(
    'Logged in',
    `<p>You are <strong>${text(actor.id)}</strong> (${text(roles.join(', ') || 'no role')}), logged in as
<code>${text(subject)}</code> at <code>${text(issuer)}</code>.</p>
<p><a class="button" href="/">Open the console</a></p>
<form method="post" action="/logout">
<input type="hidden" name="csrf" value="${text(csrf)}">
<button type="submit">Log out</button>
</form>`,
  );
}

/** For somebody who is who he says, and of whom nobody here has heard. */
export function strangerPage(issuer: string, subject: string): string {
  return page(
    'Not known here',
    `<p>Your login is good, and it belongs to nobody here. An administrator can let you in with this, with your name in the place of <code>anna</code>:</p>
<pre>${text(`orrery people add anna --login ${shellWord(issuer)} ${shellWord(subject)}`)}</pre>
<p><a href="/login">Log in otherwise</a></p>`,
  );
}

export function loggedOutPage(): string {
  return page(
    'Logged out',
    '<p>Your session here is over. At your identity provider you may still be logged in.</p><p><a href="/login">Log in</a></p>',
  );
}

/** What may stand in HTML where text stands, and in an attribute between quotes. */
function text(value: string): string {
  const names: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": '#39' };
  return value.replaceAll(/[&<>"']/gu, (character) => `&${names[character] ?? ''};`);
}

/** As a shell reads it, whatever a provider calls somebody. */
function shellWord(word: string): string {
  const plain = word.replaceAll(/\p{Cc}/gu, '?');
  return /^[\w./:@%+=-]+$/u.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Orrery</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}
