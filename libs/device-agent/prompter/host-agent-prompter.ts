import { BasePrompter } from './base-prompter.js';

/** Prompts of an agent that gives parts of its task to others. */
export class HostAgentPrompter extends BasePrompter {
  protected override readonly templateId: string = 'device-agent/host-agent';
  protected override readonly examplesId: string = 'examples/host-agent';
}
