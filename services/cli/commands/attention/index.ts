/** The inbox: what needs somebody, and taking it on. */
export * from './attention.command.js';
