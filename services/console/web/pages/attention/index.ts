export { AttentionPage } from './attention-page.js';
