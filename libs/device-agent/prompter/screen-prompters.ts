import { BasePrompter } from './base-prompter.js';

/** Prompts of the agent that looks at a desktop and chooses the window for each part of its task. */
export class ScreenHostPrompter extends BasePrompter {
  protected override readonly templateId: string = 'device-agent/screen-host';
  protected override readonly examplesId: string = 'examples/screen-host';
}

/** Prompts of the agent that works in one window. */
export class ScreenAppPrompter extends BasePrompter {
  protected override readonly templateId: string = 'device-agent/screen-app';
  protected override readonly examplesId: string = 'examples/screen-app';
}
