/** Tables that are as long as they like. */
export { Rows } from './rows.js';
