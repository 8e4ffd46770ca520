import { AppAgentPrompter } from './app-agent-prompter.js';

/** Prompts of an agent that works on a phone. */
export class MobileAgentPrompter extends AppAgentPrompter {
  protected override readonly templateId: string = 'device-agent/mobile-agent';
  protected override readonly examplesId: string = 'examples/mobile-agent';
}
