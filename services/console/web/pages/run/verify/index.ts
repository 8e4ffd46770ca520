export { VerifyDialog } from './verify-dialog.js';
