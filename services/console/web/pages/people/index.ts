export { PeoplePage } from './people-page.js';
export { OwnTokens } from './tokens.js';
