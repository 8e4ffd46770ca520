import { BasePrompter } from './base-prompter.js';

/** Prompts of an agent that works in one application, or on one device. */
export class AppAgentPrompter extends BasePrompter {
  protected override readonly templateId: string = 'device-agent/app-agent';
  protected override readonly examplesId: string = 'examples/app-agent';
}
