/** What the services of the running system work by: policy, prompts, models. Nothing is changed here. */
export * from './settings.command.js';
