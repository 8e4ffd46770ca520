export { words } from './english.js';
