/** Bad input of a person: one clear sentence, exit code 3. */
export class InputError extends Error {}
