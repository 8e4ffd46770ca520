import './no-eval.js';
import './styles/index.js';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/index.js';
import { whoAmI } from './wire/index.js';
import { words } from './words/index.js';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');

whoAmI().then(
  () =>
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    ),
  // Who is not logged in is on his way to where he can by now.
  (error: unknown) => {
    root.textContent = `${words.cannotStart} ${error instanceof Error ? error.message : String(error)}`;
  },
);
