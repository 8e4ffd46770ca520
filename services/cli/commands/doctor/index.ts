/** A whole installation on one page: what is well, what is not, what to do about it, and the part of that which is safe to do here. */
export * from './doctor.command.js';
